-- everything at once
CREATE TEMPORARY TABLE IF NOT EXISTS shop.orders (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'orders' WITH ('connector' = 'kafka', 'topic' = 'orders')
=>
CREATE TEMPORARY TABLE IF NOT EXISTS shop.orders (
  id BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'orders' WITH (
  'connector' = 'kafka',
  'topic' = 'orders'
)
;
-- no WITH: the session will miss the connector
CREATE TABLE t (a INT)
=>
CREATE TABLE t (
  a INT
)
;
-- values are kept as written; a quote is doubled, a backslash escapes
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'a' = 'it''s', 'b' = 'a\\d', 'c' = r'a\d', 'd' = '', 'e' = '${env:X}', 'f' = 'a;b', 'g' = '"q"')
=>
CREATE TABLE t (
  a INT
) WITH (
  'connector' = 'kafka',
  'a' = 'it''s',
  'b' = 'a\\d',
  'c' = 'a\\d',
  'd' = '',
  'e' = '${env:X}',
  'f' = 'a;b',
  'g' = '"q"'
)
;
-- a comma after the last option is passed over
CREATE TABLE t (a INT) WITH ('connector' = 'kafka',)
=>
CREATE TABLE t (
  a INT
) WITH (
  'connector' = 'kafka'
)
hint: line 1, column 51: the comma after the last option of WITH is passed over
;
-- a copy
CREATE TABLE a LIKE b
=>
CREATE TABLE a LIKE b
;
-- a copy with other options and rules
CREATE TABLE a (x INT) WITH ('topic' = 'a') LIKE shop.b (INCLUDING ALL EXCLUDING WATERMARKS OVERWRITING OPTIONS)
=>
CREATE TABLE a (
  x INT
) WITH (
  'topic' = 'a'
) LIKE shop.b (INCLUDING ALL EXCLUDING WATERMARKS OVERWRITING OPTIONS)
;
-- clauses in another order
CREATE TABLE a WITH ('topic' = 'a') COMMENT 'x'
=>
CREATE TABLE a COMMENT 'x' WITH (
  'topic' = 'a'
)
;
-- a semicolon and comments around it
/* the table */ CREATE TABLE t (a INT) /* no options */ ; -- done
=>
CREATE TABLE t (
  a INT
)
;
-- USING makes it Spark's
CREATE TABLE t (a INT) USING parquet
=>
[Spark's] CREATE TABLE t (a INT) USING parquet
;
-- a query makes it Spark's
CREATE TABLE t AS SELECT 1 AS a
=>
[Spark's] CREATE TABLE t AS SELECT 1 AS a
;
-- a query with a WITH clause is no option
CREATE TABLE t AS WITH q AS (SELECT 1 AS a) SELECT * FROM q
=>
[Spark's] CREATE TABLE t AS WITH q AS (SELECT 1 AS a) SELECT * FROM q
;
-- other words that only Spark has
CREATE TABLE t (a INT) PARTITIONED BY (a) STORED AS PARQUET
=>
[Spark's] CREATE TABLE t (a INT) PARTITIONED BY (a) STORED AS PARQUET
;
-- CREATE EXTERNAL TABLE is Spark's
CREATE EXTERNAL TABLE t (a INT) LOCATION '/tmp/t'
=>
[Spark's] CREATE EXTERNAL TABLE t (a INT) LOCATION '/tmp/t'
;
-- CREATE DATABASE is Spark's
CREATE DATABASE shop
=>
[Spark's] CREATE DATABASE shop
;
-- a column may be called using
CREATE TABLE t (using INT, location STRING) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  using INT,
  location STRING
) WITH (
  'connector' = 'kafka'
)
;
-- a watermark in a table of Spark's
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) USING parquet
=>
error: line 1, column 58: USING makes this a table of Spark's, which has no WATERMARK. Write WITH ('connector' = 'the format') instead of USING.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) USING parquet
                                                           ^^^^^
;
-- options beside USING
CREATE TABLE t (a INT) USING kafka WITH ('connector' = 'kafka')
=>
error: line 1, column 24: USING makes this a table of Spark's, which has no WITH. Write WITH ('connector' = 'the format') instead of USING.
  CREATE TABLE t (a INT) USING kafka WITH ('connector' = 'kafka')
                         ^^^^^
;
-- a table of ours that is created from a query
CREATE TABLE t WITH ('connector' = 'kafka') AS SELECT 1 AS a
=>
CREATE TABLE t WITH (
  'connector' = 'kafka'
) AS SELECT 1 AS a
;
-- OR REPLACE
CREATE OR REPLACE TABLE t (a INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 1: a table of Tidemark's cannot be replaced. Write DROP TABLE IF EXISTS name first, then CREATE TABLE.
  CREATE OR REPLACE TABLE t (a INT) WITH ('connector' = 'kafka')
  ^^^^^^^^^^^^^^^^^^^^^^^
;
-- the name left out
CREATE TABLE (a INT)
=>
error: line 1, column 14: expected the name of the table, found '('.
  CREATE TABLE (a INT)
               ^
;
-- the parenthesis left out
CREATE TABLE t (a INT WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected ',' or ')' after the column 'a', found 'WITH'. The list of columns is not closed: add ')' before WITH.
  CREATE TABLE t (a INT WITH ('connector' = 'kafka')
                        ^^^^
;
-- one parenthesis too many
CREATE TABLE t (a INT)) WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected COMMENT, PARTITIONED BY, WITH, LIKE, AS or the end of the statement, found ')'. It closes nothing; remove it.
  CREATE TABLE t (a INT)) WITH ('connector' = 'kafka')
                        ^
;
-- two lists
CREATE TABLE t (a INT) (b INT)
=>
error: line 1, column 24: expected COMMENT, PARTITIONED BY, WITH, LIKE, AS or the end of the statement, found '('. A table has one list of columns; options stand in WITH (...).
  CREATE TABLE t (a INT) (b INT)
                         ^
;
-- WITH twice
CREATE TABLE t (a INT) WITH ('a' = 'b') WITH ('c' = 'd')
=>
error: line 1, column 41: WITH is there already. Make one clause of the two.
  CREATE TABLE t (a INT) WITH ('a' = 'b') WITH ('c' = 'd')
                                          ^^^^
;
-- BY left out
CREATE TABLE t (a INT) PARTITIONED (a) WITH ('connector' = 'kafka')
=>
error: line 1, column 36: expected BY, found '('. Write PARTITIONED BY (column, ...).
  CREATE TABLE t (a INT) PARTITIONED (a) WITH ('connector' = 'kafka')
                                     ^
;
-- a word that is not known
CREATE TABLE t (a INT) WIHT ('connector' = 'kafka')
=>
error: line 1, column 24: expected COMMENT, PARTITIONED BY, WITH, LIKE, AS or the end of the statement, found 'WIHT'. Options stand in WITH ('key' = 'value', ...).
  CREATE TABLE t (a INT) WIHT ('connector' = 'kafka')
                         ^^^^
;
-- options without parentheses
CREATE TABLE t (a INT) WITH 'connector' = 'kafka'
=>
error: line 1, column 29: expected '(', found the string 'connector'. Write WITH ('key' = 'value', ...).
  CREATE TABLE t (a INT) WITH 'connector' = 'kafka'
                              ^^^^^^^^^^^
;
-- a key without quotes
CREATE TABLE t (a INT) WITH (scan.startup.mode = 'earliest-offset')
=>
error: line 1, column 30: the key of an option has no quotes. Put it in single quotes: 'scan.startup.mode'.
  CREATE TABLE t (a INT) WITH (scan.startup.mode = 'earliest-offset')
                               ^^^^
;
-- a value without quotes
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'scan.parallelism' = 4)
=>
error: line 1, column 74: the value of 'scan.parallelism' has no quotes. Put it in single quotes: 'value'.
  CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'scan.parallelism' = 4)
                                                                           ^
;
-- a key in double quotes
CREATE TABLE t (a INT) WITH ("connector" = 'kafka')
=>
error: line 1, column 30: the key of an option stands in double quotes. Use single quotes: 'connector'.
  CREATE TABLE t (a INT) WITH ("connector" = 'kafka')
                               ^^^^^^^^^^^
;
-- a value in double quotes
CREATE TABLE t (a INT) WITH ('connector' = "kafka")
=>
error: line 1, column 44: the value of 'connector' stands in double quotes. Use single quotes: 'value'.
  CREATE TABLE t (a INT) WITH ('connector' = "kafka")
                                             ^^^^^^^
;
-- a key in backquotes
CREATE TABLE t (a INT) WITH (`connector` = 'kafka')
=>
error: line 1, column 30: the key of an option stands in backquotes. Use single quotes: 'connector'.
  CREATE TABLE t (a INT) WITH (`connector` = 'kafka')
                               ^^^^^^^^^^^
;
-- typographic quotes
CREATE TABLE t (a INT) WITH (‘connector’ = 'kafka')
=>
error: line 1, column 30: ‘ is a typographic quote, as word processors make them. Use straight quotes: 'text' for a string, `name` for a name.
  CREATE TABLE t (a INT) WITH (‘connector’ = 'kafka')
                               ^
;
-- the sign left out
CREATE TABLE t (a INT) WITH ('connector' 'kafka')
=>
error: line 1, column 42: '=' is missing after the key 'connector'. Write 'connector' = 'value'.
  CREATE TABLE t (a INT) WITH ('connector' 'kafka')
                                           ^^^^^^^
;
-- another sign
CREATE TABLE t (a INT) WITH ('connector' : 'kafka')
=>
error: line 1, column 42: expected '=' after the key 'connector', found ':'. Write 'key' = 'value', both in single quotes, with commas between the pairs.
  CREATE TABLE t (a INT) WITH ('connector' : 'kafka')
                                           ^
;
-- a comma left out, as in seed 001
CREATE TABLE t (a INT) WITH (
  'scan.watermark.emit.strategy'='on-event'
  'topic' = 'x'
)
=>
error: line 3, column 3: a comma is missing before this string. Write 'key' = 'value', both in single quotes, with commas between the pairs.
    'topic' = 'x'
    ^^^^^^^
;
-- something left out, as in seed 001
CREATE TABLE t (a INT) WITH (
  'scan.watermark.emit.strategy'='on-event',
  ...
)
=>
error: line 3, column 3: '...' stands for something that was left out. Write it out.
    ...
    ^^^
;
-- the value left out
CREATE TABLE t (a INT) WITH ('connector' = )
=>
error: line 1, column 44: expected the value of 'connector' in single quotes, found ')'. Write 'key' = 'value', both in single quotes, with commas between the pairs.
  CREATE TABLE t (a INT) WITH ('connector' = )
                                             ^
;
-- a key twice
CREATE TABLE t (a INT) WITH ('topic' = 'a', 'topic' = 'b')
=>
error: line 1, column 45: the option 'topic' is there already (line 1, column 30). Leave one of the two out.
  CREATE TABLE t (a INT) WITH ('topic' = 'a', 'topic' = 'b')
                                              ^^^^^^^
;
-- an empty key
CREATE TABLE t (a INT) WITH ('' = 'a')
=>
error: line 1, column 30: the key of an option is empty. Write 'key' = 'value', both in single quotes, with commas between the pairs.
  CREATE TABLE t (a INT) WITH ('' = 'a')
                               ^^
;
-- a quote that mixes with another
CREATE TABLE t (a INT) WITH ('connector = 'kafka')
=>
error: line 1, column 49: this string is not closed. End it, or look for a quote that is missing before it; a quote inside a string is written twice: ''.
  CREATE TABLE t (a INT) WITH ('connector = 'kafka')
                                                  ^
;
-- a string that is not closed
CREATE TABLE t (a INT) WITH ('connector' = 'kafka)
=>
error: line 1, column 44: this string is not closed. End it, or look for a quote that is missing before it; a quote inside a string is written twice: ''.
  CREATE TABLE t (a INT) WITH ('connector' = 'kafka)
                                             ^
;
-- an escape that would be lost
CREATE TABLE t (a INT) WITH ('topic-pattern' = 'orders-\d+')
=>
error: line 1, column 48: \d is no escape that SQL knows; it would be read as d. Write \\d for a backslash, or the whole string as r'...'.
  CREATE TABLE t (a INT) WITH ('topic-pattern' = 'orders-\d+')
                                                 ^^^^^^^^^^^^
;
-- a password is not shown
CREATE TABLE t (a INTT) WITH ('properties.sasl.password' = 'hunter2', 'topic' = 'x')
=>
error: line 1, column 19: expected the type of 'a' or AS, and there is no type 'INTT'. Did you mean INT?
  CREATE TABLE t (a INTT) WITH ('properties.sasl.password' = *********, 'topic' = 'x')
                    ^^^^
;
-- a rule of LIKE that does not exist
CREATE TABLE a LIKE b (WITHOUT WATERMARKS)
=>
error: line 1, column 24: expected INCLUDING, EXCLUDING, OVERWRITING or ')', found 'WITHOUT'.
  CREATE TABLE a LIKE b (WITHOUT WATERMARKS)
                         ^^^^^^^
;
-- a part of LIKE that does not exist
CREATE TABLE a LIKE b (EXCLUDING WATERMARK)
=>
error: line 1, column 34: expected ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS, WATERMARKS after EXCLUDING, found 'WATERMARK'. Did you mean WATERMARKS?
  CREATE TABLE a LIKE b (EXCLUDING WATERMARK)
                                   ^^^^^^^^^
;
-- a part that cannot be overwritten
CREATE TABLE a LIKE b (OVERWRITING CONSTRAINTS)
=>
error: line 1, column 36: expected GENERATED, METADATA, OPTIONS, WATERMARKS after OVERWRITING, found 'CONSTRAINTS'.
  CREATE TABLE a LIKE b (OVERWRITING CONSTRAINTS)
                                     ^^^^^^^^^^^
;
-- a part twice
CREATE TABLE a LIKE b (EXCLUDING OPTIONS INCLUDING OPTIONS)
=>
error: line 1, column 42: there is a rule for OPTIONS already. Leave one out.
  CREATE TABLE a LIKE b (EXCLUDING OPTIONS INCLUDING OPTIONS)
                                           ^^^^^^^^^^^^^^^^^
;
-- a comment that is not closed
CREATE TABLE t (a INT) /* WITH ('connector' = 'kafka')
=>
error: line 1, column 24: this comment is not closed. End it with */.
  CREATE TABLE t (a INT) /* WITH ('connector' = 'kafka')
                         ^^
;
-- another word with a table of Spark's
CREATE TABLE t (a INT) LOCATION '/tmp/t' WITH ('connector' = 'kafka')
=>
error: line 1, column 24: LOCATION makes this a table of Spark's, which has no WITH. Leave the clause out.
  CREATE TABLE t (a INT) LOCATION '/tmp/t' WITH ('connector' = 'kafka')
                         ^^^^^^^^
;
-- a word that nothing explains
CREATE TABLE t (a INT) QUICKLY
=>
error: line 1, column 24: expected COMMENT, PARTITIONED BY, WITH, LIKE, AS or the end of the statement, found 'QUICKLY'.
  CREATE TABLE t (a INT) QUICKLY
                         ^^^^^^^
;
-- partitions of a table of files
CREATE TABLE t (a INT, dt STRING, `h m` STRING) COMMENT 'log' PARTITIONED BY (dt, `h m`) WITH ('connector' = 'filesystem')
=>
CREATE TABLE t (
  a INT,
  dt STRING,
  `h m` STRING
) COMMENT 'log' PARTITIONED BY (dt, `h m`) WITH (
  'connector' = 'filesystem'
)
;
-- without WITH they are Spark's
CREATE TABLE t (a INT) PARTITIONED BY (a)
=>
[Spark's] CREATE TABLE t (a INT) PARTITIONED BY (a)
;
-- with USING they are Spark's
CREATE TABLE t (a INT) USING parquet PARTITIONED BY (a)
=>
[Spark's] CREATE TABLE t (a INT) USING parquet PARTITIONED BY (a)
;
-- with USING and WITH they are nobody's
CREATE TABLE t (a INT) PARTITIONED BY (a) USING parquet WITH ('connector' = 'filesystem')
=>
error: line 1, column 43: USING makes this a table of Spark's, which has no WITH. Write WITH ('connector' = 'the format') instead of USING.
  CREATE TABLE t (a INT) PARTITIONED BY (a) USING parquet WITH ('connector' = 'filesystem')
                                            ^^^^^
;
-- a watermark needs WITH
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) PARTITIONED BY (ts)
=>
error: line 1, column 58: PARTITIONED makes this a table of Spark's, which has no WATERMARK. Write WITH ('connector' = '...', ...) as well.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) PARTITIONED BY (ts)
                                                           ^^^^^^^^^^^
;
-- a type, as in Hive
CREATE TABLE t (a INT) PARTITIONED BY (dt STRING) WITH ('connector' = 'filesystem')
=>
error: line 1, column 43: a partition key has no type here. Declare it in the list of columns, and name it: PARTITIONED BY (column, ...).
  CREATE TABLE t (a INT) PARTITIONED BY (dt STRING) WITH ('connector' = 'filesystem')
                                            ^^^^^^
;
-- a partition key twice
CREATE TABLE t (a INT) PARTITIONED BY (a, A) WITH ('connector' = 'filesystem')
=>
error: line 1, column 43: 'A' is named twice. Leave one out.
  CREATE TABLE t (a INT) PARTITIONED BY (a, A) WITH ('connector' = 'filesystem')
                                            ^
;
-- partitions of a copy
CREATE TABLE t PARTITIONED BY (a) WITH ('path' = '/x') LIKE b (EXCLUDING PARTITIONS)
=>
CREATE TABLE t PARTITIONED BY (a) WITH (
  'path' = '/x'
) LIKE b (EXCLUDING PARTITIONS)
;
-- from a query, with a watermark and a key
CREATE TABLE IF NOT EXISTS t (WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka') AS WITH q AS (SELECT 1 AS id) SELECT * FROM q
=>
CREATE TABLE IF NOT EXISTS t (
  WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka'
) AS WITH q AS (SELECT 1 AS id) SELECT * FROM q
;
-- from a query, with the columns in another order
CREATE TABLE t (b, `a c`) WITH ('connector' = 'kafka') AS (SELECT 1 AS `a c`, 2 AS b)
=>
CREATE TABLE t (b, `a c`) WITH (
  'connector' = 'kafka'
) AS (SELECT 1 AS `a c`, 2 AS b)
;
-- from a query, with columns more
CREATE TABLE t (n INT, m AS n + 1) WITH ('connector' = 'kafka') AS SELECT 1 AS a
=>
CREATE TABLE t (
  n INT,
  m AS n + 1
) WITH (
  'connector' = 'kafka'
) AS SELECT 1 AS a
;
-- a watermark beside a query needs WITH
CREATE TABLE t (WATERMARK FOR ts AS ts) AS SELECT 1
=>
error: line 1, column 41: AS makes this a table of Spark's, which has no WATERMARK. Write WITH ('connector' = '...', ...) as well.
  CREATE TABLE t (WATERMARK FOR ts AS ts) AS SELECT 1
                                          ^^
;
-- a copy of a query
CREATE TABLE t WITH ('connector' = 'kafka') LIKE b AS SELECT 1
=>
error: line 1, column 52: LIKE and AS exclude each other. The columns are those of a table, or of a query.
  CREATE TABLE t WITH ('connector' = 'kafka') LIKE b AS SELECT 1
                                                     ^^
;
-- a query that is not one
CREATE TABLE t WITH ('connector' = 'kafka') AS INSERT INTO a SELECT 1
=>
error: line 1, column 48: expected a query (SELECT, WITH, VALUES or '('), found 'INSERT'.
  CREATE TABLE t WITH ('connector' = 'kafka') AS INSERT INTO a SELECT 1
                                                 ^^^^^^
;
-- OR REPLACE with a query
CREATE OR REPLACE TABLE t WITH ('connector' = 'kafka') AS SELECT 1 AS a
=>
error: line 1, column 1: a table of Tidemark's cannot be replaced. Write DROP TABLE IF EXISTS name first, then CREATE TABLE.
  CREATE OR REPLACE TABLE t WITH ('connector' = 'kafka') AS SELECT 1 AS a
  ^^^^^^^^^^^^^^^^^^^^^^^
;
