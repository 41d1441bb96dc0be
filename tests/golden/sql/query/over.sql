-- aggregates over a window of time become columns of the operator
SELECT k, SUM(price) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) AS s FROM bid;
SELECT k, __tidemark_over_1 AS s FROM t_over AS bid;

-- several aggregates, one window, WHERE below it, a star that does not show what was added
SELECT *, SUM(price) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) / COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM bid b WHERE price > 1;
SELECT * EXCEPT (__tidemark_over_1, __tidemark_over_2), __tidemark_over_1 / __tidemark_over_2 AS m FROM t_over b;

-- a column without a name keeps what was written
SELECT MAX(price) OVER (ORDER BY ts) FROM bid;
SELECT __tidemark_over_1 AS `MAX(price) OVER (ORDER BY ts)` FROM t_over AS bid;

-- a named window
SELECT LAST_VALUE(item) IGNORE NULLS OVER w AS l, MIN(k) OVER w AS m FROM bid WINDOW w AS (PARTITION BY k ORDER BY ts);
SELECT __tidemark_over_1 AS l, __tidemark_over_2 AS m FROM t_over AS bid WINDOW w AS (PARTITION BY k ORDER BY ts);

-- by processing time
SELECT v, COUNT(*) OVER (ORDER BY pt ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS c FROM tick;
SELECT v, __tidemark_over_1 AS c FROM t_over AS tick;

-- the first rows of a key by time: no window is needed
SELECT k, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM bid) WHERE rn <= 3;
SELECT k, item FROM (SELECT * EXCEPT (__tidemark_over_1), __tidemark_over_1 AS rn FROM t_over AS bid) WHERE rn <= 3;

-- a window over the results: the time attribute goes through, and so does the stamp
# late rows: exact
SELECT window_end, MAX(s) AS m FROM TABLE(TUMBLE((SELECT ts, SUM(price) OVER (PARTITION BY k ORDER BY ts) AS s FROM bid), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
step __tidemark_1 (lost: s): SELECT ts, __tidemark_over_1 AS s, __tidemark_stamp FROM t_over AS bid
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 minute') AS __tidemark_window FROM __tidemark_1)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
SELECT window_end, MAX(s) AS m FROM __tidemark_2 GROUP BY window_start, window_end;

-- in a CTE
WITH x AS (SELECT k, ts, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS c FROM bid) SELECT k FROM x WHERE c = 1;
WITH x AS (SELECT k, ts, __tidemark_over_1 AS c FROM t_over AS bid) SELECT k FROM x WHERE c = 1;

-- in one branch of a UNION ALL
SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS c FROM bid UNION ALL SELECT k, CAST(amount AS BIGINT) AS c FROM ask;
SELECT k, __tidemark_over_1 AS c FROM t_over AS bid UNION ALL SELECT k, CAST(amount AS BIGINT) AS c FROM t_ask AS ask;

-- a batch keeps Spark's own
# mode: batch
SELECT k, SUM(price) OVER (PARTITION BY k ORDER BY ts) AS s FROM bid;
SELECT k, SUM(price) OVER (PARTITION BY k ORDER BY ts) AS s FROM t_bid AS bid;

-- so do tables of Spark's
SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY since) AS c FROM names;
SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY since) AS c FROM names;

-- downwards every row would change what was given before
SELECT SUM(price) OVER (PARTITION BY k ORDER BY ts DESC) AS s FROM bid;
ERROR line 1, column 49: OVER of a stream cannot be ordered down: each new row would change the results of those before it. Order by the time attribute, ascending.
  SELECT SUM(price) OVER (PARTITION BY k ORDER BY ts DESC) AS s FROM bid
                                                  ^^^^^^^;

-- two windows
SELECT SUM(price) OVER (ORDER BY ts) AS a, SUM(price) OVER (PARTITION BY k ORDER BY ts) AS b FROM bid;
ERROR line 1, column 44: the windows of one SELECT of a stream must be the same. Compute the other one in a query of its own, and join both on a key and the time.
  SELECT SUM(price) OVER (ORDER BY ts) AS a, SUM(price) OVER (PARTITION BY k ORDER BY ts) AS b FROM bid
                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- a view is no table
SELECT SUM(price) OVER (ORDER BY ts) AS a FROM big;
ERROR line 1, column 8: OVER of a stream reads one table of the catalog. Put it into a sub-query or view of its own: SELECT ..., SUM(v) OVER (...) AS s FROM t WHERE ...
  SELECT SUM(price) OVER (ORDER BY ts) AS a FROM big
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- rows to come
SELECT SUM(price) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS a FROM bid;
ERROR line 1, column 42: the frame of a stream goes from PRECEDING to CURRENT ROW. Write OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW).
  SELECT SUM(price) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS a FROM bid
                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;
