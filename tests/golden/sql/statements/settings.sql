-- all
SET
=>
SET
;
-- one
SET 'table.exec.late-rows'
=>
SET 'table.exec.late-rows'
;
-- a value
SET 'table.exec.late-rows' = 'exact'
=>
SET 'table.exec.late-rows' = 'exact'
;
-- a key of Spark's in quotes: the session sets it
SET 'spark.sql.shuffle.partitions' = '4'
=>
SET 'spark.sql.shuffle.partitions' = '4'
;
-- without quotes, a key of ours
SET table.exec.source.idle-timeout = 5 s
=>
SET 'table.exec.source.idle-timeout' = '5 s'
;
-- without quotes, a value in quotes
SET execution.runtime-mode = 'batch';
=>
SET 'execution.runtime-mode' = 'batch'
;
-- one without quotes
SET pipeline.auto-watermark-interval
=>
SET 'pipeline.auto-watermark-interval'
;
-- without quotes, a key of Spark's
SET spark.sql.shuffle.partitions=4
=>
[Spark's] SET spark.sql.shuffle.partitions=4
;
-- a time zone is Spark's
SET TIME ZONE 'UTC'
=>
[Spark's] SET TIME ZONE 'UTC'
;
-- a variable is Spark's
SET VARIABLE x = 5
=>
[Spark's] SET VARIABLE x = 5
;
-- the sign left out
SET table.exec.late-rows exact
=>
error: line 1, column 5: '=' is missing in 'table.exec.late-rows exact'. Write SET 'table.exec.late-rows' = 'value'.
  SET table.exec.late-rows exact
      ^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- the sign left out, with quotes
SET 'table.exec.late-rows' 'exact'
=>
error: line 1, column 28: expected '=', found the string 'exact'. Write SET 'key' = 'value'.
  SET 'table.exec.late-rows' 'exact'
                             ^^^^^^^
;
-- a value without quotes
SET 'table.exec.late-rows' = exact
=>
error: line 1, column 30: expected the value in single quotes, found 'exact'. Write SET 'table.exec.late-rows' = 'value'.
  SET 'table.exec.late-rows' = exact
                               ^^^^^
;
-- text after it
SET 'a' = 'b' 'c'
=>
error: line 1, column 15: expected the end of the statement, found the string 'c'.
  SET 'a' = 'b' 'c'
                ^^^
;
-- all again
RESET
=>
RESET
;
-- one
RESET 'table.exec.late-rows'
=>
RESET 'table.exec.late-rows'
;
-- one of ours without quotes
RESET tidemark.ui-port
=>
RESET 'tidemark.ui-port'
;
-- one of Spark's without quotes
RESET spark.sql.shuffle.partitions
=>
[Spark's] RESET spark.sql.shuffle.partitions
;
-- text after it
RESET 'a' 'b'
=>
error: line 1, column 11: expected the end of the statement, found the string 'b'.
  RESET 'a' 'b'
            ^^^
;
-- a catalog
USE CATALOG default_catalog
=>
[use] catalog default_catalog
;
-- a database is Spark's
USE shop
=>
[Spark's] USE shop
;
-- a database called catalog
USE CATALOG
=>
[Spark's] USE CATALOG
;
-- modules
USE MODULES core, hive
=>
error: line 1, column 5: Tidemark has no modules: the functions of the dialect are built in. Functions of your own: CREATE FUNCTION name AS 'package.module.attribute' LANGUAGE PYTHON.
  USE MODULES core, hive
      ^^^^^^^
;
-- a module
LOAD MODULE hive WITH ('hive-version' = '3.1.3')
=>
error: line 1, column 1: Tidemark has no modules: the functions of the dialect are built in. Functions of your own: CREATE FUNCTION name AS 'package.module.attribute' LANGUAGE PYTHON.
  LOAD MODULE hive WITH ('hive-version' = '3.1.3')
  ^^^^^^^^^^^
;
-- a module less
UNLOAD MODULE hive
=>
error: line 1, column 1: Tidemark has no modules: the functions of the dialect are built in. Functions of your own: CREATE FUNCTION name AS 'package.module.attribute' LANGUAGE PYTHON.
  UNLOAD MODULE hive
  ^^^^^^^^^^^^^
;
-- data of Spark's
LOAD DATA INPATH 'x' INTO TABLE t
=>
[Spark's] LOAD DATA INPATH 'x' INTO TABLE t
;
-- a jar is Spark's
ADD JAR '/x.jar'
=>
[Spark's] ADD JAR '/x.jar'
;
-- a jar less
REMOVE JAR '/x.jar'
=>
error: line 1, column 1: Spark does not remove jars. Start a new session.
  REMOVE JAR '/x.jar'
  ^^^^^^^^^^
;
