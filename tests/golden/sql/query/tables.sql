-- a table is named by its view; its columns stay qualified by the name that the user wrote
SELECT bid.k, ts FROM bid;
SELECT bid.k, ts FROM t_bid AS bid;

-- an alias stays as it is, and so does every other character
SELECT  b.k ,b.ts	FROM bid   AS b -- note;
SELECT  b.k ,b.ts	FROM t_bid   AS b -- note;

-- an alias without AS
SELECT b.k FROM bid b WHERE b.price > 1;
SELECT b.k FROM t_bid b WHERE b.price > 1;

-- names are found whatever their case, quoted or not
SELECT `k` FROM `BID`;
SELECT `k` FROM t_BID AS `BID`;

-- the alias stands behind a sample
SELECT k FROM bid TABLESAMPLE (10 PERCENT);
SELECT k FROM t_bid TABLESAMPLE (10 PERCENT) AS bid;

-- a table of Spark's is left alone beside one of ours
SELECT b.k, n.name FROM bid b JOIN names n ON b.k = n.k;
SELECT b.k, n.name FROM t_bid b JOIN names n ON b.k = n.k;

-- several tables, with commas and brackets
SELECT b.k FROM (bid b CROSS JOIN names), ask AS a WHERE a.k = b.k;
SELECT b.k FROM (t_bid b CROSS JOIN names), t_ask AS a WHERE a.k = b.k;

-- in a query inside an expression
SELECT k FROM ask WHERE k IN (SELECT k FROM bid WHERE price > 5) AND EXISTS (SELECT 1 FROM names n WHERE n.k = ask.k);
SELECT k FROM t_ask AS ask WHERE k IN (SELECT k FROM t_bid AS bid WHERE price > 5) AND EXISTS (SELECT 1 FROM names n WHERE n.k = ask.k);

-- in both sides of a set operation; EXCEPT behind a star is none
SELECT * EXCEPT (item) FROM bid EXCEPT SELECT ts, k, price FROM bid;
SELECT * EXCEPT (item) FROM t_bid AS bid EXCEPT SELECT ts, k, price FROM t_bid AS bid;

-- in a CTE, which stays a CTE
WITH recent AS (SELECT k FROM bid), other (x) AS (SELECT k FROM ask) SELECT recent.k FROM recent JOIN other ON x = k;
WITH recent AS (SELECT k FROM t_bid AS bid), other (x) AS (SELECT k FROM t_ask AS ask) SELECT recent.k FROM recent JOIN other ON x = k;

-- a CTE hides a table of its name
WITH bid AS (SELECT 1 AS k) SELECT k FROM bid;
WITH bid AS (SELECT 1 AS k) SELECT k FROM bid;

-- a table of Spark's alone: not touched
SELECT n.k, n.name FROM names AS n WHERE since > TIMESTAMP '2024-01-01 00:00:00';
SELECT n.k, n.name FROM names AS n WHERE since > TIMESTAMP '2024-01-01 00:00:00';

-- no table at all: not touched
SELECT 1 AS one, CAST('2024-01-01' AS TIMESTAMP) AS t;
SELECT 1 AS one, CAST('2024-01-01' AS TIMESTAMP) AS t;

-- in LATERAL sub-queries the names around are known
SELECT b.k, x.n FROM bid b, LATERAL (SELECT n.name AS n FROM names n WHERE n.k = b.k) x;
SELECT b.k, x.n FROM t_bid b, LATERAL (SELECT n.name AS n FROM names n WHERE n.k = b.k) x;

-- Spark's words beside a table
SELECT k, part FROM bid LATERAL VIEW explode(split(item, ',')) p AS part;
SELECT k, part FROM t_bid AS bid LATERAL VIEW explode(split(item, ',')) p AS part;

-- a table of the catalog has no versions
SELECT k FROM bid FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00';
ERROR line 1, column 15: a table as of a time is the right side of a JOIN. Write FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency.
  SELECT k FROM bid FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- brackets are counted
SELECT k FROM (SELECT k FROM bid;
ERROR line 1, column 15: '(' is never closed. Add ')'.
  SELECT k FROM (SELECT k FROM bid
                ^;

-- TABLE t is a query
TABLE bid;
SELECT * FROM t_bid;

-- STREAM before a table of ours says nothing new
SELECT k FROM STREAM bid;
SELECT k FROM t_bid AS bid;

-- a number, a string and a comment may look like names
SELECT 'bid' AS bid, 1 AS ask /* FROM bid */ FROM bid;
SELECT 'bid' AS bid, 1 AS ask /* FROM bid */ FROM t_bid AS bid;

-- FROM may come first
FROM bid SELECT bid.k;
FROM t_bid AS bid SELECT bid.k;
