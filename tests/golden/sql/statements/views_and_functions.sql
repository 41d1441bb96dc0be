-- a view
CREATE VIEW v AS SELECT a, b FROM t
=>
CREATE VIEW v AS SELECT a, b FROM t
;
-- everything at once
CREATE OR REPLACE TEMPORARY VIEW shop.v (x, `y z`) COMMENT 'it''s' AS
SELECT a, b
FROM t /*+ OPTIONS('k'='v') */;
=>
CREATE OR REPLACE TEMPORARY VIEW shop.v (x, `y z`) COMMENT 'it''s' AS SELECT a, b
FROM t /*+ OPTIONS('k'='v') */
;
-- only if it is missing
CREATE VIEW IF NOT EXISTS v AS WITH q AS (SELECT 1) SELECT * FROM q
=>
CREATE VIEW IF NOT EXISTS v AS WITH q AS (SELECT 1) SELECT * FROM q
;
-- a query in parentheses
CREATE VIEW v AS (SELECT 1)
=>
CREATE VIEW v AS (SELECT 1)
;
-- comments of columns are Spark's
CREATE VIEW v (a COMMENT 'the a') AS SELECT 1
=>
[Spark's] CREATE VIEW v (a COMMENT 'the a') AS SELECT 1
;
-- properties are Spark's
CREATE VIEW v TBLPROPERTIES ('a' = 'b') AS SELECT 1
=>
[Spark's] CREATE VIEW v TBLPROPERTIES ('a' = 'b') AS SELECT 1
;
-- a global temporary view is Spark's
CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1
=>
[Spark's] CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1
;
-- a view of a format is Spark's
CREATE TEMPORARY VIEW v USING parquet OPTIONS (path '/tmp/x')
=>
[Spark's] CREATE TEMPORARY VIEW v USING parquet OPTIONS (path '/tmp/x')
;
-- AS left out
CREATE VIEW v SELECT 1
=>
error: line 1, column 15: expected AS, found 'SELECT'. Write CREATE VIEW name AS SELECT ...
  CREATE VIEW v SELECT 1
                ^^^^^^
;
-- the query left out
CREATE VIEW v AS
=>
error: line 1, column 17: expected a query (SELECT, WITH, VALUES or '('), found the end of the statement.
  CREATE VIEW v AS
                  ^
;
-- no query
CREATE VIEW v AS t
=>
error: line 1, column 18: expected a query (SELECT, WITH, VALUES or '('), found 't'.
  CREATE VIEW v AS t
                   ^
;
-- a column twice
CREATE VIEW v (a, A) AS SELECT 1, 2
=>
error: line 1, column 19: 'A' is named twice. Leave one out.
  CREATE VIEW v (a, A) AS SELECT 1, 2
                    ^
;
-- a bracket that is not closed
CREATE VIEW v AS SELECT (1
=>
error: line 1, column 25: this '(' is not closed. Add ')'.
  CREATE VIEW v AS SELECT (1
                          ^
;
-- a bracket that closes nothing
CREATE VIEW v AS SELECT 1)
=>
error: line 1, column 26: this ')' closes nothing. Remove it, or open the bracket.
  CREATE VIEW v AS SELECT 1)
                           ^
;
-- two statements
CREATE VIEW v AS SELECT 1; SELECT 2
=>
error: line 1, column 26: a statement ends here, and text follows. Run one statement at a time.
  CREATE VIEW v AS SELECT 1; SELECT 2
                           ^
;
-- a function in Python
CREATE FUNCTION f AS 'shop.functions.flag' LANGUAGE PYTHON
=>
CREATE FUNCTION f AS 'shop.functions.flag' LANGUAGE PYTHON
;
-- everything at once
CREATE OR REPLACE TEMPORARY FUNCTION IF NOT EXISTS f AS 'shop.flag' LANGUAGE PYTHON
=>
CREATE OR REPLACE TEMPORARY FUNCTION IF NOT EXISTS f AS 'shop.flag' LANGUAGE PYTHON
;
-- Flink's SYSTEM says nothing here
CREATE TEMPORARY SYSTEM FUNCTION f AS 'shop.flag' LANGUAGE PYTHON
=>
CREATE TEMPORARY FUNCTION f AS 'shop.flag' LANGUAGE PYTHON
;
-- a class is Spark's
CREATE FUNCTION f AS 'com.example.Flag'
=>
[Spark's] CREATE FUNCTION f AS 'com.example.Flag'
;
-- a class with its jar is Spark's
CREATE FUNCTION f AS 'com.example.Flag' USING JAR '/tmp/flag.jar'
=>
[Spark's] CREATE FUNCTION f AS 'com.example.Flag' USING JAR '/tmp/flag.jar'
;
-- an expression is Spark's
CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1
=>
[Spark's] CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1
;
-- a path that leads nowhere
CREATE FUNCTION f AS 'flag' LANGUAGE PYTHON
=>
error: line 1, column 22: 'flag' does not lead to an object in a module. Write 'package.module.attribute'.
  CREATE FUNCTION f AS 'flag' LANGUAGE PYTHON
                       ^^^^^^
;
-- a path with a slash
CREATE FUNCTION f AS 'shop/functions.py' LANGUAGE PYTHON
=>
error: line 1, column 22: 'shop/functions.py' does not lead to an object in a module. Write 'package.module.attribute'.
  CREATE FUNCTION f AS 'shop/functions.py' LANGUAGE PYTHON
                       ^^^^^^^^^^^^^^^^^^^
;
-- text after it
CREATE FUNCTION f AS 'shop.flag' LANGUAGE PYTHON USING JAR 'x'
=>
error: line 1, column 50: expected the end of the statement, found 'USING'.
  CREATE FUNCTION f AS 'shop.flag' LANGUAGE PYTHON USING JAR 'x'
                                                   ^^^^^
;
