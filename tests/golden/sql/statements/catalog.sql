-- a table
DROP TABLE t
=>
DROP TABLE t
;
-- everything at once
DROP TEMPORARY VIEW IF EXISTS shop.v;
=>
DROP TEMPORARY VIEW IF EXISTS shop.v
;
-- a function
DROP TEMPORARY FUNCTION IF EXISTS f
=>
DROP TEMPORARY FUNCTION IF EXISTS f
;
-- a database is Spark's
DROP DATABASE shop CASCADE
=>
[Spark's] DROP DATABASE shop CASCADE
;
-- PURGE is Spark's
DROP TABLE t PURGE
=>
[Spark's] DROP TABLE t PURGE
;
-- the name left out
DROP TABLE IF EXISTS
=>
error: line 1, column 21: expected the name of the table, found the end of the statement.
  DROP TABLE IF EXISTS
                      ^
;
-- two names
DROP TABLE a, b
=>
error: line 1, column 13: expected the end of the statement, found ','.
  DROP TABLE a, b
              ^
;
-- tables
SHOW TABLES
=>
SHOW TABLES
;
-- with a pattern
SHOW TABLES LIKE 'order*'
=>
SHOW TABLES LIKE 'order*'
;
-- with a pattern, as Spark says it
SHOW VIEWS 'v*'
=>
SHOW VIEWS LIKE 'v*'
;
-- functions
show functions
=>
SHOW FUNCTIONS
;
-- of a database: Spark's
SHOW TABLES IN shop
=>
[Spark's] SHOW TABLES IN shop
;
-- other things are Spark's
SHOW DATABASES
=>
[Spark's] SHOW DATABASES
;
-- functions of a kind are Spark's
SHOW USER FUNCTIONS
=>
[Spark's] SHOW USER FUNCTIONS
;
-- a pattern without quotes
SHOW TABLES LIKE order
=>
error: line 1, column 18: expected a pattern in single quotes, found 'order'.
  SHOW TABLES LIKE order
                   ^^^^^
;
-- how it was created
SHOW CREATE TABLE shop.orders
=>
SHOW CREATE TABLE shop.orders
;
-- how a view was created
SHOW CREATE VIEW v
=>
SHOW CREATE VIEW v
;
-- AS SERDE is Spark's
SHOW CREATE TABLE t AS SERDE
=>
[Spark's] SHOW CREATE TABLE t AS SERDE
;
-- the name left out
SHOW CREATE TABLE
=>
error: line 1, column 18: expected the name of the table, found the end of the statement.
  SHOW CREATE TABLE
                   ^
;
-- a table
DESCRIBE orders
=>
DESCRIBE orders
;
-- in short
DESC TABLE shop.orders
=>
DESCRIBE shop.orders
;
-- a table called extended
DESCRIBE extended
=>
DESCRIBE extended
;
-- extended
DESCRIBE TABLE EXTENDED orders
=>
DESCRIBE EXTENDED orders
;
-- a function is Spark's
DESCRIBE FUNCTION upper
=>
[Spark's] DESCRIBE FUNCTION upper
;
-- a column is Spark's
DESCRIBE t a
=>
[Spark's] DESCRIBE t a
;
-- a query is Spark's
DESCRIBE SELECT 1
=>
[Spark's] DESCRIBE SELECT 1
;
-- the name left out
DESCRIBE
=>
error: line 1, column 9: expected the name of the table, found the end of the statement.
  DESCRIBE
          ^
;
-- Flink's SYSTEM says nothing here
DROP TEMPORARY SYSTEM FUNCTION f
=>
DROP TEMPORARY FUNCTION f
;
-- of a function: Spark's
SHOW CREATE FUNCTION f
=>
[Spark's] SHOW CREATE FUNCTION f
;
-- a string is Spark's
DESCRIBE 't'
=>
[Spark's] DESCRIBE 't'
;
-- columns
SHOW COLUMNS FROM shop.orders
=>
SHOW COLUMNS FROM shop.orders
;
-- some columns
SHOW COLUMNS IN orders NOT LIKE '%f%'
=>
SHOW COLUMNS FROM orders NOT LIKE '%f%'
;
-- columns as Spark says it
SHOW COLUMNS IN orders IN db
=>
[Spark's] SHOW COLUMNS IN orders IN db
;
-- NOT without LIKE
SHOW COLUMNS FROM orders NOT
=>
error: line 1, column 29: expected LIKE, found the end of the statement.
  SHOW COLUMNS FROM orders NOT
                              ^
;
-- the catalog, as Flink asks for it
SHOW CURRENT CATALOG
=>
SHOW CURRENT CATALOG
;
-- the database
SHOW CURRENT DATABASE
=>
SHOW CURRENT DATABASE
;
-- catalogs are Spark's
SHOW CATALOGS
=>
[Spark's] SHOW CATALOGS
;
-- Spark's current namespace
SHOW CURRENT NAMESPACE
=>
[Spark's] SHOW CURRENT NAMESPACE
;
-- modules
SHOW FULL MODULES
=>
error: line 1, column 6: Tidemark has no modules: the functions of the dialect are built in. SHOW FUNCTIONS lists the session's own.
  SHOW FULL MODULES
       ^^^^^^^^^^^^
;
-- jars
SHOW JARS
=>
error: line 1, column 6: jars are Spark's. Write LIST JARS.
  SHOW JARS
       ^^^^
;
-- jobs
SHOW JOBS
=>
error: line 1, column 6: the streams of a session are no jobs of a cluster. In Python: t.queries, or spark.streams.active.
  SHOW JOBS
       ^^^^
;
