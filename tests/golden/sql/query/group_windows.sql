-- the window of the group becomes a window function over what the block reads
SELECT COUNT(*) AS c FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
SELECT COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY window_start, window_end;

-- its functions are columns
SELECT k, TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, TUMBLE_END(ts, INTERVAL '1' HOUR) AS e, COUNT(*) AS c FROM bid WHERE price > 1 GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
SELECT k, window_start AS s, window_end AS e, COUNT(*) AS c FROM __tidemark_1 AS bid WHERE price > 1 GROUP BY k, window_start, window_end;

-- the time attribute of the group
SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR) AS t FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
SELECT window_time AS t FROM __tidemark_1 AS bid GROUP BY window_start, window_end, window_time;

-- HOP, qualified, over an alias, in HAVING and ORDER BY
SELECT HOP_END(b.ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) AS e FROM bid AS b GROUP BY HOP(b.ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR) HAVING HOP_START(ts, INTERVAL '5' MINUTE, interval '1' hour) < HOP_END(b.ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour', '5 minutes') AS __tidemark_window FROM t_bid)
SELECT window_end AS e FROM __tidemark_1 AS b GROUP BY window_start, window_end HAVING window_start < window_end;

-- SESSION: the other columns are its keys
SELECT k, SESSION_START(ts, INTERVAL '5' MINUTE) AS s, COUNT(*) AS c FROM bid GROUP BY k, SESSION(ts, INTERVAL '5' MINUTE);
SELECT k, window_start AS s, COUNT(*) AS c FROM t_sessions AS bid GROUP BY k, window_start, window_end;

-- processing time
SELECT TUMBLE_PROCTIME(pt, INTERVAL '1' HOUR) AS t FROM tick GROUP BY TUMBLE(pt, INTERVAL '1' HOUR);
step __tidemark_1 (event time: window_end; attributes: window_time=proctime; lost: pt): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`pt`, '1 hour') AS __tidemark_window FROM t_tick)
SELECT window_time AS t FROM __tidemark_1 AS tick GROUP BY window_start, window_end, window_time;

-- over a sub-query and a view
SELECT TUMBLE_END(t, INTERVAL '1' DAY) AS e, SUM(c) AS c FROM (SELECT t, c FROM hourly) GROUP BY TUMBLE(t, INTERVAL '1' DAY);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT window_time AS t, COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY window_start, window_end, window_time
step __tidemark_3: SELECT t, c FROM __tidemark_2 AS hourly
step __tidemark_4 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 day') AS __tidemark_window FROM __tidemark_3)
SELECT window_end AS e, SUM(c) AS c FROM __tidemark_4 GROUP BY window_start, window_end;

-- exact
# late rows: exact
SELECT COUNT(*) AS c FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
SELECT COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY window_start, window_end;

-- of a batch
# mode: batch
SELECT TUMBLE_END(since, INTERVAL '1' DAY) AS e FROM names GROUP BY TUMBLE(since, INTERVAL '1' DAY);
step __tidemark_1: SELECT * FROM names
step __tidemark_2: SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`since`, '1 day') AS __tidemark_window FROM __tidemark_1)
SELECT window_end AS e FROM __tidemark_2 AS names GROUP BY window_start, window_end;

-- Spark's window in GROUP BY is not touched
SELECT window(since, '1 day').end AS e FROM names GROUP BY window(since, '1 day');
SELECT window(since, '1 day').end AS e FROM names GROUP BY window(since, '1 day');

-- a column called session
SELECT session FROM (SELECT k AS session FROM bid) GROUP BY session;
SELECT session FROM (SELECT k AS session FROM t_bid AS bid) GROUP BY session;

-- other arguments than the group's
SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) AS s FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
ERROR line 1, column 8: TUMBLE_START has other arguments than the TUMBLE in GROUP BY. Write TUMBLE_START(ts, INTERVAL '1' HOUR).
  SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) AS s FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- another window than the group's
SELECT HOP_START(ts, INTERVAL '1' HOUR) AS s FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
ERROR line 1, column 8: HOP_START has other arguments than the TUMBLE in GROUP BY. Write TUMBLE_START(ts, INTERVAL '1' HOUR).
  SELECT HOP_START(ts, INTERVAL '1' HOUR) AS s FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- without GROUP BY
SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) AS s FROM bid;
ERROR line 1, column 8: TUMBLE_START stands without GROUP BY TUMBLE(...). Group by the window with the same arguments.
  SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) AS s FROM bid
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- outside of GROUP BY
SELECT TUMBLE(ts, INTERVAL '1' HOUR) AS s FROM bid;
ERROR line 1, column 8: TUMBLE stands for a group here. Use TUMBLE_START or TUMBLE_END outside of GROUP BY.
  SELECT TUMBLE(ts, INTERVAL '1' HOUR) AS s FROM bid
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- two windows
SELECT 1 AS one FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), TUMBLE(ts, INTERVAL '2' HOUR);
ERROR line 1, column 66: there are two windows in this GROUP BY. Window one of them in a sub-query.
  SELECT 1 AS one FROM bid GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), TUMBLE(ts, INTERVAL '2' HOUR)
                                                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- over a join
SELECT 1 AS one FROM bid b JOIN ask a ON a.k = b.k GROUP BY TUMBLE(b.ts, INTERVAL '1' HOUR);
ERROR line 1, column 61: GROUP BY TUMBLE needs one table, view or sub-query in FROM. Put what it reads into a sub-query.
  SELECT 1 AS one FROM bid b JOIN ask a ON a.k = b.k GROUP BY TUMBLE(b.ts, INTERVAL '1' HOUR)
                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- an expression
SELECT 1 AS one FROM bid GROUP BY TUMBLE(ts + INTERVAL '1' SECOND, INTERVAL '1' HOUR);
ERROR line 1, column 42: TUMBLE takes the name of a column, and this is an expression. An expression over a time attribute is an ordinary timestamp.
  SELECT 1 AS one FROM bid GROUP BY TUMBLE(ts + INTERVAL '1' SECOND, INTERVAL '1' HOUR)
                                           ^^^^^^^^^^^^^^^^^^^^^^^^;

-- too few arguments
SELECT 1 AS one FROM bid GROUP BY HOP(ts, INTERVAL '1' HOUR);
ERROR line 1, column 35: HOP has 2 arguments. Write HOP(ts, slide, size).
  SELECT 1 AS one FROM bid GROUP BY HOP(ts, INTERVAL '1' HOUR)
                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- keys of sessions are columns
SELECT 1 AS one FROM bid GROUP BY upper(item), SESSION(ts, INTERVAL '1' HOUR);
ERROR line 1, column 35: beside SESSION, GROUP BY takes columns only. Compute the expression in a sub-query and group by its name.
  SELECT 1 AS one FROM bid GROUP BY upper(item), SESSION(ts, INTERVAL '1' HOUR)
                                    ^^^^^^^^^^^;

-- no time attribute
SELECT 1 AS one FROM bid GROUP BY TUMBLE(price, INTERVAL '1' HOUR);
ERROR line 1, column 42: 'price' is double, and windows are made of timestamps. Time attributes here: ts.
  SELECT 1 AS one FROM bid GROUP BY TUMBLE(price, INTERVAL '1' HOUR)
                                           ^^^^^;

-- sessions are made of the rows that WHERE lets pass
# mode: batch
SELECT k, SESSION_END(ts, INTERVAL '5' MINUTE) AS e FROM bid AS b WHERE b.price > 1 GROUP BY k, SESSION(ts, INTERVAL '5' MINUTE);
step __tidemark_1: SELECT * FROM t_bid AS `b` WHERE b.price > 1
step __tidemark_2 (attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_session), window_end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, min(`ts`) OVER (PARTITION BY `k`, __tidemark_session) AS window_start, max(`ts`) OVER (PARTITION BY `k`, __tidemark_session) + INTERVAL '5' MINUTE AS window_end FROM (SELECT * EXCEPT (__tidemark_begins), sum(__tidemark_begins) OVER (PARTITION BY `k` ORDER BY `ts`) AS __tidemark_session FROM (SELECT *, CASE WHEN `ts` <= lag(`ts`) OVER (PARTITION BY `k` ORDER BY `ts`) + INTERVAL '5' MINUTE THEN 0 ELSE 1 END AS __tidemark_begins FROM __tidemark_1 WHERE `ts` IS NOT NULL)))
SELECT k, window_end AS e FROM __tidemark_2 AS b WHERE b.price > 1 GROUP BY k, window_start, window_end;
