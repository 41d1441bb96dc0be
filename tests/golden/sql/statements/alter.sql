-- a watermark more
ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
=>
ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
;
-- in parentheses
ALTER TABLE t ADD (WATERMARK FOR a.b AS a.b)
=>
ALTER TABLE t ADD WATERMARK FOR a.b AS a.b
;
-- another one
ALTER TABLE IF EXISTS shop.t MODIFY WATERMARK FOR ts AS ts - '1' MINUTE
=>
ALTER TABLE IF EXISTS shop.t MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
hint: line 1, column 62: INTERVAL was added before the string; write it, as Spark does
;
-- another one, in parentheses
ALTER TABLE t MODIFY (WATERMARK FOR ts AS ts)
=>
ALTER TABLE t MODIFY WATERMARK FOR ts AS ts
;
-- none
ALTER TABLE t DROP WATERMARK
=>
ALTER TABLE t DROP WATERMARK
;
-- one of several
ALTER TABLE t DROP WATERMARK FOR a.b
=>
ALTER TABLE t DROP WATERMARK FOR a.b
;
-- a new name
ALTER TABLE t RENAME TO shop.u
=>
ALTER TABLE t RENAME TO shop.u
;
-- options
ALTER TABLE t SET ('topic' = 'a', 'scan.watermark.idle-timeout' = '1 min')
=>
ALTER TABLE t SET (
  'topic' = 'a',
  'scan.watermark.idle-timeout' = '1 min'
)
;
-- fewer options
ALTER TABLE t RESET ('topic', 'scan.watermark.idle-timeout')
=>
ALTER TABLE t RESET ('topic', 'scan.watermark.idle-timeout')
;
-- a column
ALTER TABLE t ADD a INT NOT NULL COMMENT 'the a'
=>
ALTER TABLE t ADD a INT NOT NULL COMMENT 'the a'
;
-- a computed column
ALTER TABLE t ADD b AS a + 1
=>
ALTER TABLE t ADD b AS a + 1
;
-- columns, as Spark says it
ALTER TABLE t ADD COLUMNS (a INT, b STRING METADATA FROM 'topic')
=>
ALTER TABLE t ADD (a INT, b STRING METADATA FROM 'topic')
;
-- a column, as Spark says it
ALTER TABLE t ADD COLUMN a INT
=>
ALTER TABLE t ADD a INT
;
-- a column called watermark
ALTER TABLE t ADD watermark TIMESTAMP(3)
=>
ALTER TABLE t ADD `watermark` TIMESTAMP(3)
;
-- DROP COLUMN is not DROP WATERMARK
ALTER TABLE t DROP COLUMN watermark
=>
ALTER TABLE t DROP `watermark`
;
-- actions of Spark's tables
ALTER TABLE t ADD PARTITION (a = 1)
=>
ALTER TABLE t [Spark's] ADD PARTITION (a = 1)
;
-- a column of a type that only Spark has
ALTER TABLE t ADD COLUMNS (a VARIANT)
=>
ALTER TABLE t [Spark's] ADD COLUMNS (a VARIANT) [if the table is ours: line 1, column 30: VARIANT is not a type of Tidemark's tables: there is no such type; declare it as STRING.]
;
-- a column after another one, as Spark says it
ALTER TABLE t ADD COLUMN a INT AFTER b
=>
ALTER TABLE t ADD a INT AFTER b
;
-- properties
ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')
=>
ALTER TABLE t [Spark's] SET TBLPROPERTIES ('a' = 'b')
;
-- a column's new name, as Spark says it
ALTER TABLE t RENAME COLUMN a TO b
=>
ALTER TABLE t RENAME a TO b
;
-- a view is Spark's
ALTER VIEW v AS SELECT 1
=>
[Spark's] ALTER VIEW v AS SELECT 1
;
-- WATERMARKS
ALTER TABLE t DROP WATERMARKS
=>
error: line 1, column 20: expected WATERMARK, found 'WATERMARKS'. Write DROP WATERMARK FOR column; DROP WATERMARK drops the only one.
  ALTER TABLE t DROP WATERMARKS
                     ^^^^^^^^^^
;
-- ON instead of FOR
ALTER TABLE t ADD WATERMARK ON ts AS ts
=>
error: line 1, column 29: expected FOR, found 'ON'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  ALTER TABLE t ADD WATERMARK ON ts AS ts
                              ^^
;
-- AS left out
ALTER TABLE t MODIFY WATERMARK FOR ts
=>
error: line 1, column 38: expected AS, found the end of the statement. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  ALTER TABLE t MODIFY WATERMARK FOR ts
                                       ^
;
-- two things at once, as in Flink
ALTER TABLE t ADD (a INT, WATERMARK FOR ts AS ts)
=>
ALTER TABLE t ADD (a INT, WATERMARK FOR ts AS ts)
;
-- a column that is the key
ALTER TABLE t ADD (a INT PRIMARY KEY NOT ENFORCED)
=>
ALTER TABLE t ADD (a INT, PRIMARY KEY (a) NOT ENFORCED)
;
-- nothing to set
ALTER TABLE t SET ()
=>
error: line 1, column 19: no option is set. Name one.
  ALTER TABLE t SET ()
                    ^^
;
-- a value left out
ALTER TABLE t SET ('topic')
=>
error: line 1, column 27: expected '=' after the key 'topic', found ')'. Write 'topic' = 'value'.
  ALTER TABLE t SET ('topic')
                            ^
;
-- text after it
ALTER TABLE t DROP WATERMARK FOR ts CASCADE
=>
error: line 1, column 37: expected the end of the statement, found 'CASCADE'. One action is done by one statement.
  ALTER TABLE t DROP WATERMARK FOR ts CASCADE
                                      ^^^^^^^
;
-- no action
ALTER TABLE t
=>
error: line 1, column 14: expected ADD, MODIFY, DROP, RENAME TO, SET or RESET, found the end of the statement.
  ALTER TABLE t
               ^
;
-- no table
ALTER TABLE ADD WATERMARK FOR ts AS ts
=>
error: line 1, column 13: expected the name of the table, found 'ADD'.
  ALTER TABLE ADD WATERMARK FOR ts AS ts
              ^^^
;
-- another type for a column
ALTER TABLE t MODIFY a INT
=>
ALTER TABLE t MODIFY a INT
;
-- elements of all kinds at once
ALTER TABLE t ADD (ts TIMESTAMP(3), category STRING COMMENT 'c' AFTER product, n AS a + 1 FIRST, PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
=>
ALTER TABLE t ADD (ts TIMESTAMP(3), category STRING COMMENT 'c' AFTER product, n AS a + 1 FIRST, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR, PRIMARY KEY (a) NOT ENFORCED)
;
-- a first column
ALTER TABLE t ADD `order` INT COMMENT 'order identifier' FIRST
=>
ALTER TABLE t ADD order INT COMMENT 'order identifier' FIRST
;
-- a key
ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a, b) NOT ENFORCED
=>
ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a, b) NOT ENFORCED
;
-- changes of all kinds at once
ALTER TABLE t MODIFY (amount DOUBLE NOT NULL, category STRING AFTER a, PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts)
=>
ALTER TABLE t MODIFY (amount DOUBLE NOT NULL, category STRING AFTER a, WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED)
;
-- columns that go
ALTER TABLE t DROP (amount, ts, category)
=>
ALTER TABLE t DROP (amount, ts, category)
;
-- a column that goes
ALTER TABLE t DROP a
=>
ALTER TABLE t DROP a
;
-- a column of Spark's, in a struct
ALTER TABLE t DROP COLUMN a.b
=>
ALTER TABLE t [Spark's] DROP COLUMN a.b [if the table is ours: line 1, column 28: expected the end of the statement, found '.'. One action is done by one statement.]
;
-- as only Spark says it
ALTER TABLE t DROP COLUMN IF EXISTS a
=>
ALTER TABLE t [Spark's] DROP COLUMN IF EXISTS a [if the table is ours: line 1, column 30: expected the end of the statement, found 'EXISTS'. One action is done by one statement.]
;
-- a column that is named twice
ALTER TABLE t DROP (a, A)
=>
ALTER TABLE t [Spark's] DROP (a, A) [if the table is ours: line 1, column 24: 'A' is named twice. Leave one out.]
;
-- a key that goes
ALTER TABLE t DROP PRIMARY KEY
=>
ALTER TABLE t DROP PRIMARY KEY
;
-- a key that goes, by its name
ALTER TABLE t DROP CONSTRAINT pk
=>
ALTER TABLE t DROP CONSTRAINT pk
;
-- a partition of Spark's
ALTER TABLE t DROP PARTITION (a = 1)
=>
ALTER TABLE t [Spark's] DROP PARTITION (a = 1)
;
-- a column's new name, as Flink says it
ALTER TABLE t RENAME `order` TO order_id
=>
ALTER TABLE t RENAME order TO order_id
;
-- a column called to
ALTER TABLE t RENAME to TO b
=>
ALTER TABLE t RENAME to TO b
;
-- a partition's new name
ALTER TABLE t RENAME PARTITION (a = 1) TO PARTITION (a = 2)
=>
ALTER TABLE t [Spark's] RENAME PARTITION (a = 1) TO PARTITION (a = 2)
;
-- a position without a column
ALTER TABLE t ADD a INT AFTER
=>
ALTER TABLE t [Spark's] ADD a INT AFTER [if the table is ours: line 1, column 30: expected the column before it, found the end of the statement.]
;
-- several columns without parentheses, as only Spark says it
ALTER TABLE t ADD COLUMNS a INT, b INT
=>
ALTER TABLE t [Spark's] ADD COLUMNS a INT, b INT [if the table is ours: line 1, column 32: expected the end of the statement, found ','. One action is done by one statement.]
;
