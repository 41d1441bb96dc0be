-- names and conditions keep an attribute
SELECT window_end FROM TABLE(TUMBLE((SELECT x.t AS u FROM (SELECT ts AS t, k FROM bid WHERE k > 1) x), DESCRIPTOR(u), INTERVAL '10' SECOND));
step __tidemark_1: SELECT ts AS t, k FROM t_bid AS bid WHERE k > 1
step __tidemark_2: SELECT x.t AS u FROM __tidemark_1 x
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: u): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`u`, '10 seconds') AS __tidemark_window FROM __tidemark_2)
SELECT window_end FROM __tidemark_3;

-- a star keeps it
SELECT window_end FROM TABLE(TUMBLE((SELECT *, k + 1 AS l FROM bid), DESCRIPTOR(ts), INTERVAL '10' SECOND));
step __tidemark_1: SELECT *, k + 1 AS l FROM t_bid AS bid
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM __tidemark_1)
SELECT window_end FROM __tidemark_2;

-- UNION ALL of attributes
SELECT window_end FROM TABLE(TUMBLE((SELECT ts, k FROM bid UNION ALL SELECT at, k FROM ask), DESCRIPTOR(ts), INTERVAL '10' SECOND));
step __tidemark_1: SELECT ts, k FROM t_bid AS bid
step __tidemark_2: SELECT at, k FROM t_ask AS ask
step __tidemark_3: SELECT * FROM __tidemark_1 UNION ALL SELECT * FROM __tidemark_2
step __tidemark_4 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM __tidemark_3)
SELECT window_end FROM __tidemark_4;

-- a look-up in a table of Spark's keeps it
SELECT window_end, name FROM TABLE(TUMBLE((SELECT b.ts, n.name FROM bid b JOIN names n ON b.k = n.k), DESCRIPTOR(ts), INTERVAL '10' SECOND));
step __tidemark_1: SELECT b.ts, n.name FROM t_bid b JOIN names n ON b.k = n.k
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM __tidemark_1)
SELECT window_end, name FROM __tidemark_2;

-- an interval join keeps both
SELECT window_end FROM TABLE(TUMBLE((SELECT b.ts, a.at FROM bid b JOIN ask a ON a.k = b.k AND a.at BETWEEN b.ts AND b.ts + INTERVAL '5' SECOND), DESCRIPTOR(at), INTERVAL '10' SECOND));
step __tidemark_1: SELECT b.ts, a.at FROM t_bid b JOIN t_ask a ON a.k = b.k AND a.at BETWEEN b.ts AND b.ts + INTERVAL '5' SECOND
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts, at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM __tidemark_1)
SELECT window_end FROM __tidemark_2;

-- GROUP BY keeps window_time beside the window
SELECT window_end FROM TABLE(TUMBLE((SELECT window_time AS t, k FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_time, k, window_end, window_start), DESCRIPTOR(t), INTERVAL '1' MINUTE));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT window_time AS t, k FROM __tidemark_1 GROUP BY window_time, k, window_end, window_start
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 minute') AS __tidemark_window FROM __tidemark_2)
SELECT window_end FROM __tidemark_3;

-- windows beside the query that is not windowed are not looked at
SELECT (SELECT MAX(since) FROM names) AS m, k FROM bid;
SELECT (SELECT MAX(since) FROM names) AS m, k FROM t_bid AS bid;

-- a query over Spark's tables is not looked at
SELECT CAST(since AS DATE) AS d, COUNT(*) AS c FROM names GROUP BY 1;
SELECT CAST(since AS DATE) AS d, COUNT(*) AS c FROM names GROUP BY 1;

-- an expression loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT ts + INTERVAL '1' SECOND AS t FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND));
ERROR line 1, column 86: 't' is no time attribute: an expression over 'ts' gives an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT ts + INTERVAL '1' SECOND AS t FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND))
                                                                                       ^^^^^^^^^^^^^;

-- a cast loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT CAST(ts AS TIMESTAMP(3)) AS t FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND));
ERROR line 1, column 86: 't' is no time attribute: CAST(...) over 'ts' gives an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT CAST(ts AS TIMESTAMP(3)) AS t FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND))
                                                                                       ^^^^^^^^^^^^^;

-- a regular join loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT b.ts FROM bid b JOIN ask a ON a.k = b.k), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 87: 'ts' is no time attribute: a regular join makes 'ts' an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT b.ts FROM bid b JOIN ask a ON a.k = b.k), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                                                        ^^^^^^^^^^^^^^;

-- GROUP BY loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT ts, COUNT(*) AS c FROM bid GROUP BY ts), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 86: 'ts' is no time attribute: GROUP BY makes 'ts' an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT ts, COUNT(*) AS c FROM bid GROUP BY ts), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                                                       ^^^^^^^^^^^^^^;

-- GROUP BY window_time alone loses it
SELECT 1 AS one FROM TABLE(TUMBLE((SELECT window_time AS t FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_time), DESCRIPTOR(t), INTERVAL '10' SECOND));
ERROR line 1, column 151: 't' is no time attribute: GROUP BY makes 'window_time' an ordinary timestamp. Use the attribute before that.
  SELECT 1 AS one FROM TABLE(TUMBLE((SELECT window_time AS t FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_time), DESCRIPTOR(t), INTERVAL '10' SECOND))
                                                                                                                                                        ^^^^^^^^^^^^^;

-- an aggregate loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT MAX(ts) AS t FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND));
ERROR line 1, column 69: 't' is no time attribute: MAX(...) over 'ts' gives an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT MAX(ts) AS t FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND))
                                                                      ^^^^^^^^^^^^^;

-- DISTINCT loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT DISTINCT ts FROM bid), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 68: 'ts' is no time attribute: DISTINCT makes 'ts' an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT DISTINCT ts FROM bid), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                                     ^^^^^^^^^^^^^^;

-- UNION loses it
SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM bid UNION SELECT at FROM ask), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 84: 'ts' is no time attribute: UNION makes 'ts' an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM bid UNION SELECT at FROM ask), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                                                     ^^^^^^^^^^^^^^;

-- beside a window the old one is lost
SELECT 1 AS one FROM TABLE(TUMBLE((SELECT ts, k FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 119: 'ts' is no time attribute: a window makes 'ts' an ordinary timestamp; window_time is the time attribute of its rows. Use the attribute before that.
  SELECT 1 AS one FROM TABLE(TUMBLE((SELECT ts, k FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                                                                                        ^^^^^^^^^^^^^^;

-- lost long before
SELECT window_end FROM TABLE(TUMBLE((SELECT u AS v FROM (SELECT t AS u FROM (SELECT MAX(ts) AS t FROM bid))), DESCRIPTOR(v), INTERVAL '10' SECOND));
ERROR line 1, column 111: 'v' is no time attribute: MAX(...) over 'ts' gives an ordinary timestamp. Use the attribute before that.
  SELECT window_end FROM TABLE(TUMBLE((SELECT u AS v FROM (SELECT t AS u FROM (SELECT MAX(ts) AS t FROM bid))), DESCRIPTOR(v), INTERVAL '10' SECOND))
                                                                                                                ^^^^^^^^^^^^^;

-- UNION ALL of an attribute and another column
SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM bid UNION ALL SELECT at - INTERVAL '1' SECOND AS at FROM ask), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 57: 'ts' is a time attribute on one side and 'at' on the other is none (an expression over 'at' gives an ordinary timestamp). Use a time attribute on both sides, or cast both to TIMESTAMP(3).
  SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM bid UNION ALL SELECT at - INTERVAL '1' SECOND AS at FROM ask), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                          ^^^^^^^^^;

-- UNION ALL of times with and without a zone
SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM bid UNION ALL SELECT lt FROM click), DESCRIPTOR(ts), INTERVAL '10' SECOND));
ERROR line 1, column 57: 'ts' is a time attribute of type timestamp_ntz, 'lt' one of timestamp. Times with and without a zone have different watermarks; declare both columns with the same type.
  SELECT window_end FROM TABLE(TUMBLE((SELECT ts FROM bid UNION ALL SELECT lt FROM click), DESCRIPTOR(ts), INTERVAL '10' SECOND))
                                                          ^^^^^^^^^;

-- UNION ALL of event time and processing time
SELECT window_end FROM TABLE(TUMBLE((SELECT lt FROM click UNION ALL SELECT pt FROM tick), DESCRIPTOR(lt), INTERVAL '10' SECOND));
ERROR line 1, column 59: 'lt' is rowtime and 'pt' is proctime. Use the same kind of time on both sides.
  SELECT window_end FROM TABLE(TUMBLE((SELECT lt FROM click UNION ALL SELECT pt FROM tick), DESCRIPTOR(lt), INTERVAL '10' SECOND))
                                                            ^^^^^^^^^;
