-- a hint is taken out of the text
SELECT k FROM bid /*+ OPTIONS('a'='b') */;
SELECT k FROM t_bid AS bid;

-- before an alias
SELECT b.k FROM bid /*+ OPTIONS('a'='b', 'c'='d') */ AS b;
SELECT b.k FROM t_bid AS b;

-- behind an alias
SELECT b.k FROM bid AS b /*+ OPTIONS('a'='b') */ WHERE b.k = 1;
SELECT b.k FROM t_bid AS b WHERE b.k = 1;

-- on a view: for the tables inside
SELECT k FROM big /*+ OPTIONS('a'='b') */;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT k FROM __tidemark_1 AS big;

-- on what is windowed
SELECT window_end FROM TABLE(TUMBLE(TABLE bid /*+ OPTIONS('a'='b') */, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 minute') AS __tidemark_window FROM t_bid)
SELECT window_end FROM __tidemark_1;

-- Spark's hints behind SELECT stay
SELECT /*+ BROADCAST(n) */ b.k FROM bid b JOIN names n ON b.k = n.k;
SELECT /*+ BROADCAST(n) */ b.k FROM t_bid b JOIN names n ON b.k = n.k;

-- a comment is no hint
SELECT k FROM bid /* OPTIONS('a'='b') */;
SELECT k FROM t_bid AS bid /* OPTIONS('a'='b') */;

-- an unknown hint beside a table
SELECT k FROM bid /*+ OPTION('a'='b') */;
ERROR line 1, column 23: 'OPTION' is no hint for a table. Did you mean OPTIONS?
  SELECT k FROM bid /*+ OPTION('a'='b') */
                        ^^^^^^;

-- OPTIONS behind SELECT
SELECT /*+ OPTIONS('a'='b') */ k FROM bid;
ERROR line 1, column 12: OPTIONS does not stand behind SELECT. Put the hint behind the name of the table.
  SELECT /*+ OPTIONS('a'='b') */ k FROM bid
             ^^^^^^^;

-- a key without quotes
SELECT k FROM bid /*+ OPTIONS(a='b') */;
ERROR line 1, column 31: 'a' is not expected in a hint. Write /*+ OPTIONS('key'='value', ...) */.
  SELECT k FROM bid /*+ OPTIONS(a='b') */
                                ^;

-- a key without value
SELECT k FROM bid /*+ OPTIONS('a') */;
ERROR line 1, column 34: ')' is not expected in a hint. Write /*+ OPTIONS('key'='value', ...) */.
  SELECT k FROM bid /*+ OPTIONS('a') */
                                   ^;

-- a key twice
SELECT k FROM bid /*+ OPTIONS('a'='b', 'a'='c') */;
ERROR line 1, column 40: 'a' is given twice in this hint. Keep one of them.
  SELECT k FROM bid /*+ OPTIONS('a'='b', 'a'='c') */
                                         ^^^;

-- a hint that does not end
SELECT k FROM bid /*+ OPTIONS('a'='b' */;
ERROR line 1, column 39: expected ',' or ')', found the end of the statement. Write /*+ OPTIONS('key'='value', ...) */.
  SELECT k FROM bid /*+ OPTIONS('a'='b' */
                                        ^;

-- beside a sub-query
SELECT k FROM (SELECT k FROM bid) /*+ OPTIONS('a'='b') */ AS x;
ERROR line 1, column 35: a hint stands behind the name of a table or view, this is neither. Move it behind the name of the table inside.
  SELECT k FROM (SELECT k FROM bid) /*+ OPTIONS('a'='b') */ AS x
                                    ^^^^^^^^^^^^^^^^^^^^^^^;

-- beside a CTE
WITH x AS (SELECT k FROM bid) SELECT k FROM x /*+ OPTIONS('a'='b') */;
ERROR line 1, column 47: a hint stands behind the name of a table or view, this is neither. Move it behind the name of the table inside.
  WITH x AS (SELECT k FROM bid) SELECT k FROM x /*+ OPTIONS('a'='b') */
                                                ^^^^^^^^^^^^^^^^^^^^^^^;

-- beside a table of Spark's in a query over ours
SELECT b.k FROM bid b JOIN names /*+ OPTIONS('a'='b') */ n ON b.k = n.k;
ERROR line 1, column 34: 'names' is no table of the catalog, so it takes no options here. Create it with CREATE TABLE, or give Spark its options in WITH (...) of Spark's own syntax.
  SELECT b.k FROM bid b JOIN names /*+ OPTIONS('a'='b') */ n ON b.k = n.k
                                   ^^^^^^^^^^^^^^^^^^^^^^^;
