-- a query
SELECT a FROM t
=>
[query] SELECT a FROM t
;
-- a query that begins with WITH
WITH q AS (SELECT 1) SELECT * FROM q
=>
[query] WITH q AS (SELECT 1) SELECT * FROM q
;
-- values
VALUES (1), (2)
=>
[query] VALUES (1), (2)
;
-- a parenthesis
(SELECT 1) UNION ALL (SELECT 2);
=>
[query] (SELECT 1) UNION ALL (SELECT 2)
;
-- a table
TABLE t
=>
[query] TABLE t
;
-- FROM first
FROM t SELECT a
=>
[query] FROM t SELECT a
;
-- hints and comments stay
SELECT /*+ BROADCAST(t) */ a -- the a
FROM t /*+ OPTIONS('k'='v') */
=>
[query] SELECT /*+ BROADCAST(t) */ a -- the a
FROM t /*+ OPTIONS('k'='v') */
;
-- a semicolon in a string
SELECT ';'
=>
[query] SELECT ';'
;
-- two statements
SELECT 1; SELECT 2
=>
error: line 1, column 9: a statement ends here, and text follows. Run one statement at a time.
  SELECT 1; SELECT 2
          ^
;
-- a bracket that is not closed
SELECT a
FROM (SELECT 1
=>
error: line 2, column 6: this '(' is not closed. Add ')'.
  FROM (SELECT 1
       ^
;
-- a bracket that closes nothing
SELECT 1)
=>
error: line 1, column 9: this ')' closes nothing. Remove it, or open the bracket.
  SELECT 1)
          ^
;
-- a string that is not closed
SELECT 'a
=>
error: line 1, column 8: this string is not closed. End it, or look for a quote that is missing before it; a quote inside a string is written twice: ''.
  SELECT 'a
         ^
;
-- an insert
INSERT INTO sink SELECT a FROM t
=>
INSERT INTO sink SELECT a FROM t
;
-- with columns
INSERT INTO TABLE shop.sink (a, `b c`) SELECT a, b FROM t
=>
INSERT INTO shop.sink (a, `b c`) SELECT a, b FROM t
;
-- values
INSERT INTO sink VALUES (1, 2)
=>
INSERT INTO sink VALUES (1, 2)
;
-- a query in parentheses
INSERT INTO sink (SELECT 1)
=>
INSERT INTO sink (SELECT 1)
;
-- a column called values
INSERT INTO sink (values, a) SELECT 1, 2
=>
INSERT INTO sink (values, a) SELECT 1, 2
;
-- OVERWRITE is Spark's
INSERT OVERWRITE sink SELECT 1
=>
INSERT OVERWRITE sink SELECT 1
;
-- partitions are Spark's
INSERT INTO sink PARTITION (a = 1) SELECT 1
=>
INSERT INTO sink PARTITION (a = 1) SELECT 1
;
-- WITH before INSERT is Spark's
WITH q AS (SELECT 1) INSERT INTO sink SELECT * FROM q
=>
[Spark's] WITH q AS (SELECT 1) INSERT INTO sink SELECT * FROM q
;
-- the query left out
INSERT INTO sink
=>
error: line 1, column 17: expected a query (SELECT, WITH, VALUES or '('), found the end of the statement.
  INSERT INTO sink
                  ^
;
-- the target left out
INSERT INTO SELECT 1
=>
error: line 1, column 13: expected the name of the table to insert into, found 'SELECT'.
  INSERT INTO SELECT 1
              ^^^^^^
;
-- a column twice
INSERT INTO sink (a, A) SELECT 1, 2
=>
error: line 1, column 22: 'A' is named twice. Leave one out.
  INSERT INTO sink (a, A) SELECT 1, 2
                       ^
;
-- a statement set
EXECUTE STATEMENT SET BEGIN
  INSERT INTO a SELECT 1 AS end;
  INSERT INTO b SELECT CASE WHEN TRUE THEN 1 END;
END;
=>
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT 1 AS end;
INSERT INTO b SELECT CASE WHEN TRUE THEN 1 END;
END
;
-- the last semicolon left out
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END
=>
error: line 1, column 29: this INSERT is not ended. End each INSERT with a semicolon, also the last one, and the set with END.
  EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END
                              ^^^^^^
;
-- an empty set
EXECUTE STATEMENT SET BEGIN END
=>
error: line 1, column 29: the statement set is empty. Put INSERT INTO statements in it.
  EXECUTE STATEMENT SET BEGIN END
                              ^^^
;
-- something else in the set
EXECUTE STATEMENT SET BEGIN SELECT 1; END
=>
error: line 1, column 29: expected INSERT INTO or END, found 'SELECT'. A statement set holds INSERT INTO statements, then END.
  EXECUTE STATEMENT SET BEGIN SELECT 1; END
                              ^^^^^^
;
-- a set without BEGIN
EXECUTE STATEMENT SET INSERT INTO a SELECT 1; END
=>
error: line 1, column 23: expected SET BEGIN, found 'INSERT'. Write EXECUTE STATEMENT SET BEGIN insert; insert; END.
  EXECUTE STATEMENT SET INSERT INTO a SELECT 1; END
                        ^^^^^^
;
-- another form of INSERT in the set
EXECUTE STATEMENT SET BEGIN INSERT OVERWRITE a SELECT 1; END
=>
EXECUTE STATEMENT SET BEGIN
INSERT OVERWRITE a SELECT 1;
END
;
-- an error in the set names its own line
EXECUTE STATEMENT SET BEGIN
  INSERT INTO a SELECT 1;
  INSERT INTO b;
END
=>
error: line 3, column 16: expected a query (SELECT, WITH, VALUES or '('), found the end of the statement.
  INSERT INTO b
               ^
;
-- EXECUTE IMMEDIATE is Spark's
EXECUTE IMMEDIATE 'SELECT 1'
=>
[Spark's] EXECUTE IMMEDIATE 'SELECT 1'
;
-- the tree of a query
EXPLAIN SELECT 1
=>
EXPLAIN TREE [query] SELECT 1
;
-- the tree, as Flink says it
EXPLAIN PLAN FOR INSERT INTO sink SELECT 1
=>
EXPLAIN TREE INSERT INTO sink SELECT 1
;
-- JSON
EXPLAIN JSON_EXECUTION_PLAN SELECT 1
=>
EXPLAIN JSON [query] SELECT 1
;
-- Spark's own plans
EXPLAIN EXTENDED SELECT 1
=>
[Spark's] EXPLAIN EXTENDED SELECT 1
;
-- of another statement: Spark's
EXPLAIN CREATE TABLE t (a INT) USING parquet
=>
[Spark's] EXPLAIN CREATE TABLE t (a INT) USING parquet
;
-- the kinds of rows
EXPLAIN CHANGELOG_MODE SELECT 1
=>
EXPLAIN TREE, CHANGELOG_MODE [query] SELECT 1
;
-- nothing
EXPLAIN
=>
error: line 1, column 8: expected a query or INSERT INTO, found the end of the statement.
  EXPLAIN
         ^
;
-- nothing, as JSON
EXPLAIN JSON_EXECUTION_PLAN DROP TABLE t
=>
error: line 1, column 29: expected a query or INSERT INTO, found 'DROP'.
  EXPLAIN JSON_EXECUTION_PLAN DROP TABLE t
                              ^^^^
;
-- an error in it names its own place
EXPLAIN PLAN FOR
  SELECT (1
=>
error: line 2, column 10: this '(' is not closed. Add ')'.
  SELECT (1
         ^
;
-- no statement
 ;
=>
error: line 1, column 2: there is no statement. Write one, such as SHOW TABLES.
   
   ^
;
-- no statement but a comment
/* nothing */
=>
error: line 1, column 14: there is no statement. Write one, such as SHOW TABLES.
  /* nothing */
               ^
;
-- a hint at the end belongs to the query
INSERT INTO sink SELECT * FROM t /*+ OPTIONS('k'='v') */ -- done
=>
INSERT INTO sink SELECT * FROM t /*+ OPTIONS('k'='v') */
;
-- hints in a set
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT * FROM t /*+ OPTIONS('k'='v') */; END;
=>
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT * FROM t /*+ OPTIONS('k'='v') */;
END
;
-- what is not known is Spark's
CACHE TABLE t
=>
[Spark's] CACHE TABLE t
;
-- misspelt: Spark says what it thinks
SELCT 1
=>
[Spark's] SELCT 1
;
-- an INSERT of another form, explained, is Spark's
EXPLAIN INSERT OVERWRITE t SELECT 1
=>
EXPLAIN TREE INSERT OVERWRITE t SELECT 1
;
-- two sets of parentheses
INSERT INTO sink ((SELECT 1))
=>
INSERT INTO sink ((SELECT 1))
;
-- all details of Flink's
EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN SELECT 1
=>
EXPLAIN JSON, CHANGELOG_MODE [query] SELECT 1
hint: ESTIMATED_COST: Spark estimates no cost of a stream; EXPLAIN COST SELECT ... is Spark's, for Spark's tables
;
-- a detail that does not exist
EXPLAIN CHANGELOG_MODE, COSTS SELECT 1
=>
error: line 1, column 25: expected CHANGELOG_MODE, ESTIMATED_COST, JSON_EXECUTION_PLAN, PLAN_ADVICE, found 'COSTS'.
  EXPLAIN CHANGELOG_MODE, COSTS SELECT 1
                          ^^^^^
;
-- a comma too many
EXPLAIN PLAN_ADVICE, SELECT 1
=>
error: line 1, column 22: expected CHANGELOG_MODE, ESTIMATED_COST, JSON_EXECUTION_PLAN, PLAN_ADVICE, found 'SELECT'.
  EXPLAIN PLAN_ADVICE, SELECT 1
                       ^^^^^^
;
-- the syntax tree
EXPLAIN AST SELECT 1
=>
error: line 1, column 9: EXPLAIN AST does not exist here. There are EXPLAIN PLAN FOR, which shows the tree, and the details CHANGELOG_MODE, ESTIMATED_COST, JSON_EXECUTION_PLAN, PLAN_ADVICE.
  EXPLAIN AST SELECT 1
          ^^^
;
-- details of what is no query
EXPLAIN CHANGELOG_MODE DROP TABLE t
=>
error: line 1, column 24: expected a query or INSERT INTO, found 'DROP'.
  EXPLAIN CHANGELOG_MODE DROP TABLE t
                         ^^^^
;
-- a partition with its values
INSERT OVERWRITE TABLE t PARTITION (dt = '2020-01-01', `h m` = DATE '2020-01-01') (a, b) SELECT 1, 2
=>
INSERT OVERWRITE t PARTITION (dt = '2020-01-01', `h m` = DATE '2020-01-01') (a, b) SELECT 1, 2
;
-- a partition whose values the query has
INSERT INTO t PARTITION (dt, hm = 5) SELECT 1, 2
=>
INSERT INTO t PARTITION (dt, hm = 5) SELECT 1, 2
;
-- a directory of Spark's
INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT 1
=>
[Spark's] INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT 1
;
-- a partition that is only made once
INSERT OVERWRITE t PARTITION (dt = 'x') IF NOT EXISTS SELECT 1
=>
[Spark's] INSERT OVERWRITE t PARTITION (dt = 'x') IF NOT EXISTS SELECT 1
;
-- a partition without keys
INSERT INTO t PARTITION () SELECT 1
=>
error: line 1, column 26: expected a partition key, found ')'.
  INSERT INTO t PARTITION () SELECT 1
                           ^
;
-- a table called directory
INSERT OVERWRITE directory.t SELECT 1
=>
INSERT OVERWRITE directory.t SELECT 1
;
