-- columns may be called like words of the grammar
CREATE TABLE t (current_time TIMESTAMP(3), watermark TIMESTAMP(3), metadata STRING, comment STRING, type INT, `data` STRING, primary INT, constraint INT, key INT, system STRING, like INT, with INT) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  current_time TIMESTAMP(3),
  `watermark` TIMESTAMP(3),
  metadata STRING,
  comment STRING,
  type INT,
  data STRING,
  `primary` INT,
  `constraint` INT,
  key INT,
  system STRING,
  `like` INT,
  `with` INT
) WITH (
  'connector' = 'kafka'
)
;
-- computed columns end at a comma outside of brackets
CREATE TABLE t (a INT, b AS a + 1, c AS concat(a, ',', b), d AS CAST(a AS MAP<STRING, INT>)['x'], e AS CASE WHEN a > 1 THEN 2 ELSE 3 END COMMENT 'chosen') WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT,
  b AS a + 1,
  c AS concat(a, ',', b),
  d AS CAST(a AS MAP<STRING, INT>)['x'],
  e AS CASE WHEN a > 1 THEN 2 ELSE 3 END COMMENT 'chosen'
) WITH (
  'connector' = 'kafka'
)
;
-- a computed column may name a column that is called comment
CREATE TABLE t (comment STRING, c AS comment, d AS upper(comment) COMMENT 'COMMENT') WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  comment STRING,
  c AS comment,
  d AS upper(comment) COMMENT 'COMMENT'
) WITH (
  'connector' = 'kafka'
)
;
-- comments inside an expression stay, those around it go
CREATE TABLE t (a INT, b AS /* before */ a -- the a
 + 1 /* after */, c INT) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT,
  b AS a -- the a
 + 1,
  c INT
) WITH (
  'connector' = 'kafka'
)
;
-- the last column is a computed one
CREATE TABLE t (a AS x) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a AS x
) WITH (
  'connector' = 'kafka'
)
;
-- processing time
CREATE TABLE t (a INT, pt AS PROCTIME(), st AS SYSTEM_PROCTIME()) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT,
  pt AS PROCTIME(),
  st AS SYSTEM_PROCTIME()
) WITH (
  'connector' = 'kafka'
)
;
-- metadata: the key is the name, or is named; virtual; commented
CREATE TABLE t (topic STRING METADATA, o BIGINT NOT NULL METADATA FROM 'offset' VIRTUAL, p INT METADATA VIRTUAL COMMENT 'the partition', ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp') WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  topic STRING METADATA,
  o BIGINT NOT NULL METADATA FROM 'offset' VIRTUAL,
  p INT METADATA VIRTUAL COMMENT 'the partition',
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
) WITH (
  'connector' = 'kafka'
)
;
-- a key of metadata with a quote in it
CREATE TABLE t (a STRING METADATA FROM 'it''s') WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a STRING METADATA FROM 'it''s'
) WITH (
  'connector' = 'kafka'
)
;
-- comments of columns
CREATE TABLE t (a INT COMMENT 'it''s', b INT NOT NULL COMMENT 'two
lines') WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT COMMENT 'it''s',
  b INT NOT NULL COMMENT 'two
lines'
) WITH (
  'connector' = 'kafka'
)
;
-- a primary key at a column, before or after the comment
CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY NOT ENFORCED COMMENT 'x', a INT) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  id BIGINT NOT NULL COMMENT 'x',
  a INT,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka'
)
;
-- a primary key in the list, of several columns
CREATE TABLE t (a INT, b INT, CONSTRAINT pk PRIMARY KEY (b, a) NOT ENFORCED) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT,
  b INT,
  CONSTRAINT pk PRIMARY KEY (b, a) NOT ENFORCED
) WITH (
  'connector' = 'kafka'
)
;
-- names that need backquotes
CREATE TABLE t (`order-id` INT, `a``b` INT, `ü` INT, `1st` INT, `a.b` INT) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  `order-id` INT,
  `a``b` INT,
  `ü` INT,
  `1st` INT,
  `a.b` INT
) WITH (
  'connector' = 'kafka'
)
;
-- a comma after the last column is passed over
CREATE TABLE t (a INT, b INT,) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT,
  b INT
) WITH (
  'connector' = 'kafka'
)
hint: line 1, column 29: the comma after the last column is passed over
;
-- an interval without the word, as older documents have it
CREATE TABLE t (a TIMESTAMP(3), b AS coalesce(a - '5' SECOND, a + '1' DAY)) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a TIMESTAMP(3),
  b AS coalesce(a - INTERVAL '5' SECOND, a + INTERVAL '1' DAY)
) WITH (
  'connector' = 'kafka'
)
hint: line 1, column 51: INTERVAL was added before the string; write it, as Spark does
hint: line 1, column 67: INTERVAL was added before the string; write it, as Spark does
;
-- a name twice, whatever its case
CREATE TABLE t (
  id INT,
  ID STRING
) WITH ('connector' = 'kafka')
=>
error: line 3, column 3: the column 'ID' is there already (line 2, column 3). Rename one of the two; upper and lower case are not distinguished.
    ID STRING
    ^^
;
-- a missing comma
CREATE TABLE t (a INT b INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected ',' or ')' after the column 'a', found 'b'. If 'b' is the next column, a comma is missing before it.
  CREATE TABLE t (a INT b INT) WITH ('connector' = 'kafka')
                        ^
;
-- two commas
CREATE TABLE t (a INT,, b INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected the name of a column, found ','.
  CREATE TABLE t (a INT,, b INT) WITH ('connector' = 'kafka')
                        ^
;
-- no columns between the parentheses
CREATE TABLE t () WITH ('connector' = 'kafka')
=>
error: line 1, column 16: the list of columns is empty. Name a column.
  CREATE TABLE t () WITH ('connector' = 'kafka')
                 ^^
;
-- a name in double quotes
CREATE TABLE t ("data" STRING) WITH ('connector' = 'kafka')
=>
error: line 1, column 17: expected the name of a column, found the string "data". Names stand in backquotes or without quotes: `data`.
  CREATE TABLE t ("data" STRING) WITH ('connector' = 'kafka')
                  ^^^^^^
;
-- a name in single quotes
CREATE TABLE t ('data' STRING) WITH ('connector' = 'kafka')
=>
error: line 1, column 17: expected the name of a column, found the string 'data'. Names stand in backquotes or without quotes: `data`.
  CREATE TABLE t ('data' STRING) WITH ('connector' = 'kafka')
                  ^^^^^^
;
-- a name with a dot
CREATE TABLE t (event.ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
=>
error: line 1, column 17: a column of a table has a plain name. Put a name with a dot in backquotes; fields of a column stand in its type: ROW<...>.
  CREATE TABLE t (event.ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
                  ^^^^^^^^
;
-- a name with a minus
CREATE TABLE t (order-id INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 22: the character '-' cannot stand in a plain name. Put the whole name in backquotes.
  CREATE TABLE t (order-id INT) WITH ('connector' = 'kafka')
                       ^
;
-- an empty name
CREATE TABLE t (`` INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 17: a name is empty. Write the name of a column between the backquotes.
  CREATE TABLE t (`` INT) WITH ('connector' = 'kafka')
                  ^^
;
-- a column without a type
CREATE TABLE t (a, b INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 18: expected the type of 'a' or AS, found ','.
  CREATE TABLE t (a, b INT) WITH ('connector' = 'kafka')
                   ^
;
-- a computed column with a type
CREATE TABLE t (a INT, b INT AS a + 1) WITH ('connector' = 'kafka')
=>
error: line 1, column 30: expected ',' or ')' after the column 'b', found 'AS'. A computed column has no type: write name AS CAST(expression AS type).
  CREATE TABLE t (a INT, b INT AS a + 1) WITH ('connector' = 'kafka')
                               ^^
;
-- a computed column without an expression
CREATE TABLE t (a INT, b AS) WITH ('connector' = 'kafka')
=>
error: line 1, column 28: expected the expression of 'b', found ')'.
  CREATE TABLE t (a INT, b AS) WITH ('connector' = 'kafka')
                             ^
;
-- a computed column as Spark writes it
CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1)) WITH ('connector' = 'kafka')
=>
error: line 1, column 30: expected ',' or ')' after the column 'b', found 'GENERATED'. Write a computed column as: name AS expression.
  CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a + 1)) WITH ('connector' = 'kafka')
                               ^^^^^^^^^
;
-- a default
CREATE TABLE t (a INT DEFAULT 0) WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected ',' or ')' after the column 'a', found 'DEFAULT'. Columns of Tidemark's tables have no default; use COALESCE in a query.
  CREATE TABLE t (a INT DEFAULT 0) WITH ('connector' = 'kafka')
                        ^^^^^^^
;
-- a comment without the word
CREATE TABLE t (a INT 'the a') WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected ',' or ')' after the column 'a', found the string 'the a'. A comment is written COMMENT 'the a'.
  CREATE TABLE t (a INT 'the a') WITH ('connector' = 'kafka')
                        ^^^^^^^
;
-- a misspelt word
CREATE TABLE t (a INT COMENT 'the a') WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected ',' or ')' after the column 'a', found 'COMENT'. Did you mean COMMENT?
  CREATE TABLE t (a INT COMENT 'the a') WITH ('connector' = 'kafka')
                        ^^^^^^
;
-- METADATAS
CREATE TABLE t (a INT METADATAS FROM 'partition') WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected METADATA, ',' or ')', found 'METADATAS'. Did you mean METADATA?
  CREATE TABLE t (a INT METADATAS FROM 'partition') WITH ('connector' = 'kafka')
                        ^^^^^^^^^
;
-- METADATA without FROM
CREATE TABLE t (a INT METADATA 'partition') WITH ('connector' = 'kafka')
=>
error: line 1, column 32: expected FROM, found the string 'partition'. Write METADATA FROM 'partition'.
  CREATE TABLE t (a INT METADATA 'partition') WITH ('connector' = 'kafka')
                                 ^^^^^^^^^^^
;
-- VIRTUAL before METADATA
CREATE TABLE t (a INT VIRTUAL METADATA) WITH ('connector' = 'kafka')
=>
error: line 1, column 23: expected METADATA before VIRTUAL, found 'VIRTUAL'. VIRTUAL stands at the end: name TYPE METADATA FROM 'key' VIRTUAL.
  CREATE TABLE t (a INT VIRTUAL METADATA) WITH ('connector' = 'kafka')
                        ^^^^^^^
;
-- VIRTUAL before FROM
CREATE TABLE t (a INT METADATA VIRTUAL FROM 'partition') WITH ('connector' = 'kafka')
=>
error: line 1, column 40: expected the end of the column, found 'FROM'. VIRTUAL stands at the end: METADATA FROM 'key' VIRTUAL.
  CREATE TABLE t (a INT METADATA VIRTUAL FROM 'partition') WITH ('connector' = 'kafka')
                                         ^^^^
;
-- a key of metadata without quotes
CREATE TABLE t (a INT METADATA FROM partition) WITH ('connector' = 'kafka')
=>
error: line 1, column 37: expected the key of the metadata in single quotes, found 'partition'.
  CREATE TABLE t (a INT METADATA FROM partition) WITH ('connector' = 'kafka')
                                      ^^^^^^^^^
;
-- a key that would be enforced
CREATE TABLE t (a INT PRIMARY KEY) WITH ('connector' = 'kafka')
=>
error: line 1, column 34: expected NOT ENFORCED, found ')'. Write NOT ENFORCED: the rows come from outside, so the key is not checked.
  CREATE TABLE t (a INT PRIMARY KEY) WITH ('connector' = 'kafka')
                                   ^
;
-- ENFORCED
CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED) WITH ('connector' = 'kafka')
=>
error: line 1, column 40: a primary key cannot be enforced. Write NOT ENFORCED: the rows come from outside, so the key is not checked.
  CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED) WITH ('connector' = 'kafka')
                                         ^^^^^^^^
;
-- two keys
CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, b INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'kafka')
=>
error: line 1, column 56: the table has a primary key already. Write one: PRIMARY KEY (a, b) NOT ENFORCED.
  CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, b INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'kafka')
                                                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a column twice in a key
CREATE TABLE t (a INT, PRIMARY KEY (a, A) NOT ENFORCED) WITH ('connector' = 'kafka')
=>
error: line 1, column 40: 'A' is named twice. Leave one out.
  CREATE TABLE t (a INT, PRIMARY KEY (a, A) NOT ENFORCED) WITH ('connector' = 'kafka')
                                         ^
;
-- another constraint
CREATE TABLE t (a INT, UNIQUE (a)) WITH ('connector' = 'kafka')
=>
error: line 1, column 24: UNIQUE does not exist here. Only PRIMARY KEY (...) NOT ENFORCED does.
  CREATE TABLE t (a INT, UNIQUE (a)) WITH ('connector' = 'kafka')
                         ^^^^^^
;
-- a bracket that is not closed
CREATE TABLE t (a INT, b AS (a + 1, c INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 16: the list of columns is not closed. Add ')'.
  CREATE TABLE t (a INT, b AS (a + 1, c INT) WITH ('connector' = 'kafka')
                 ^
;
-- a bracket that closes another one
CREATE TABLE t (a INT, b AS c[(a + 1]) WITH ('connector' = 'kafka')
=>
error: line 1, column 37: ']' cannot close the '(' of line 1, column 31.
  CREATE TABLE t (a INT, b AS c[(a + 1]) WITH ('connector' = 'kafka')
                                      ^
;
-- a bracket that closes nothing
CREATE TABLE t (a INT, b AS a]) WITH ('connector' = 'kafka')
=>
error: line 1, column 30: this ']' closes nothing. Remove it, or open the bracket.
  CREATE TABLE t (a INT, b AS a]) WITH ('connector' = 'kafka')
                               ^
;
-- something left out, as in a document
CREATE TABLE t (
  ...
  ts TIMESTAMP(3)
) WITH ('connector' = 'kafka')
=>
error: line 2, column 3: '...' stands for something that was left out. Write it out.
    ...
    ^^^
;
-- typographic quotes
CREATE TABLE t (a INT, b AS concat(‘x’, a)) WITH ('connector' = 'kafka')
=>
error: line 1, column 36: ‘ is a typographic quote, as word processors make them. Use straight quotes: 'text' for a string, `name` for a name.
  CREATE TABLE t (a INT, b AS concat(‘x’, a)) WITH ('connector' = 'kafka')
                                     ^
;
-- a primary key after the comment
CREATE TABLE t (id BIGINT COMMENT 'x' CONSTRAINT pk PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  id BIGINT COMMENT 'x',
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka'
)
;
-- NOT ENFORCED without its key
CREATE TABLE t (id BIGINT ENFORCED) WITH ('connector' = 'kafka')
=>
error: line 1, column 27: expected ',' or ')' after the column 'id', found 'ENFORCED'. Write PRIMARY KEY NOT ENFORCED.
  CREATE TABLE t (id BIGINT ENFORCED) WITH ('connector' = 'kafka')
                            ^^^^^^^^
;
-- a symbol where a comma should be
CREATE TABLE t (a INT; b INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 22: expected ',' or ')', found ';'.
  CREATE TABLE t (a INT; b INT) WITH ('connector' = 'kafka')
                       ^
;
