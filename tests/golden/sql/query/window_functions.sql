-- TUMBLE is Spark's window(); the end of the window is event time, window_time the time attribute
SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
SELECT window_start, window_end, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end;

-- an offset moves the windows; it may be negative
SELECT window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND, -INTERVAL '4' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds', '10 seconds', '6 seconds') AS __tidemark_window FROM t_bid)
SELECT window_end, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end;

-- HOP: the slide comes first
SELECT window_end, COUNT(*) AS c FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '15 seconds', '5 seconds') AS __tidemark_window FROM t_bid)
SELECT window_end, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end;

-- CUMULATE: the windows of one start, one for each end behind the row
SELECT window_end, COUNT(*) AS c FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window, window_end), __tidemark_window.start AS window_start, window_end, window_end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, explode(filter(transform(sequence(1, 4), i -> __tidemark_window.start + INTERVAL '5' SECOND * i), e -> e > `ts`)) AS window_end FROM (SELECT *, window(`ts`, '20 seconds') AS __tidemark_window FROM t_bid))
SELECT window_end, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end;

-- SESSION of a stream is an operator
SELECT window_end, k, COUNT(*) AS c FROM TABLE(SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, k;
SELECT window_end, k, COUNT(*) AS c FROM t_sessions GROUP BY window_start, window_end, k;

-- SESSION of a batch: gaps and islands
# mode: batch
SELECT window_end, k, COUNT(*) AS c FROM TABLE(SESSION(TABLE bid PARTITION BY (k, item), DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, k;
step __tidemark_1 (attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_session), window_end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, min(`ts`) OVER (PARTITION BY `k`, `item`, __tidemark_session) AS window_start, max(`ts`) OVER (PARTITION BY `k`, `item`, __tidemark_session) + INTERVAL '5' MINUTE AS window_end FROM (SELECT * EXCEPT (__tidemark_begins), sum(__tidemark_begins) OVER (PARTITION BY `k`, `item` ORDER BY `ts`) AS __tidemark_session FROM (SELECT *, CASE WHEN `ts` <= lag(`ts`) OVER (PARTITION BY `k`, `item` ORDER BY `ts`) + INTERVAL '5' MINUTE THEN 0 ELSE 1 END AS __tidemark_begins FROM t_bid WHERE `ts` IS NOT NULL)))
SELECT window_end, k, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end, k;

-- without keys
# mode: batch
SELECT window_end FROM TABLE(SESSION(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' MINUTE));
step __tidemark_1 (attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_session), window_end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, min(`ts`) OVER (PARTITION BY __tidemark_session) AS window_start, max(`ts`) OVER (PARTITION BY __tidemark_session) + INTERVAL '5' MINUTE AS window_end FROM (SELECT * EXCEPT (__tidemark_begins), sum(__tidemark_begins) OVER (ORDER BY `ts`) AS __tidemark_session FROM (SELECT *, CASE WHEN `ts` <= lag(`ts`) OVER (ORDER BY `ts`) + INTERVAL '5' MINUTE THEN 0 ELSE 1 END AS __tidemark_begins FROM t_bid WHERE `ts` IS NOT NULL)))
SELECT window_end FROM __tidemark_1;

-- named arguments, in any order
SELECT window_end FROM TABLE(TUMBLE(DATA => TABLE bid, SIZE => INTERVAL '1' HOUR, TIMECOL => DESCRIPTOR(ts)));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
SELECT window_end FROM __tidemark_1;

-- without TABLE around
SELECT w.window_end FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR) AS w;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
SELECT w.window_end FROM __tidemark_1 AS w;

-- over a sub-query, which becomes a step
SELECT window_end, k FROM TABLE(TUMBLE((SELECT ts AS t, k FROM bid WHERE k > 1), DESCRIPTOR(t), INTERVAL '1' HOUR));
step __tidemark_1: SELECT ts AS t, k FROM t_bid AS bid WHERE k > 1
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 hour') AS __tidemark_window FROM __tidemark_1)
SELECT window_end, k FROM __tidemark_2;

-- over a CTE
WITH b AS (SELECT ts, k FROM bid) SELECT window_end, k FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '1' HOUR));
step __tidemark_1: SELECT ts, k FROM t_bid AS bid
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM __tidemark_1)
WITH b AS (SELECT * FROM __tidemark_1) SELECT window_end, k FROM __tidemark_2;

-- windows of windows: over window_time
SELECT window_end, SUM(c) AS c FROM TABLE(TUMBLE((SELECT window_time AS t, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time), DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT window_time AS t, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end, window_time
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 minute') AS __tidemark_window FROM __tidemark_2)
SELECT window_end, SUM(c) AS c FROM __tidemark_3 GROUP BY window_start, window_end;

-- times with a zone keep it
SELECT window_start, window_time FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(lt), INTERVAL '10' SECOND));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: lt): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`lt`, '10 seconds') AS __tidemark_window FROM t_click)
SELECT window_start, window_time FROM __tidemark_1;

-- processing time
SELECT window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE tick, DESCRIPTOR(pt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=proctime; lost: pt): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`pt`, '10 seconds') AS __tidemark_window FROM t_tick)
SELECT window_end, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end;

-- a nested attribute is a column of its own
SELECT window_end, k FROM TABLE(TUMBLE(TABLE nested, DESCRIPTOR(e.time), INTERVAL '10' SECOND));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: e_time): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`e_time`, '10 seconds') AS __tidemark_window FROM t_nested)
SELECT window_end, k FROM __tidemark_1;

-- milliseconds and ranges
SELECT window_end FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '0.250' SECOND, INTERVAL '1:30' MINUTE TO SECOND));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '90 seconds', '250 milliseconds') AS __tidemark_window FROM t_bid)
SELECT window_end FROM __tidemark_1;

-- a batch may window any timestamp, of Spark's tables as well
# mode: batch
SELECT window_end FROM TABLE(TUMBLE(TABLE names, DESCRIPTOR(since), INTERVAL '1' DAY));
step __tidemark_1: SELECT * FROM names
step __tidemark_2: SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`since`, '1 day') AS __tidemark_window FROM __tidemark_1)
SELECT window_end FROM __tidemark_2;

-- exact: rows whose window is over are left out
# late rows: exact
SELECT window_end, COUNT(*) AS c FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '15 seconds', '5 seconds') AS __tidemark_window FROM t_bid)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
SELECT window_end, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end;

-- exact, but nothing keeps rows by window: nothing is late
# late rows: exact
SELECT window_end, k FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '15' SECOND));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '15 seconds') AS __tidemark_window FROM t_bid)
SELECT window_end, k FROM __tidemark_1;

-- exact, through a projection: the watermark of each row comes along
# late rows: exact
SELECT window_end, COUNT(*) AS c FROM TABLE(TUMBLE((SELECT ts, upper(item) AS item FROM bid), DESCRIPTOR(ts), INTERVAL '15' SECOND)) GROUP BY window_start, window_end;
step __tidemark_1: SELECT ts, upper(item) AS item, __tidemark_stamp FROM t_bid AS bid
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '15 seconds') AS __tidemark_window FROM __tidemark_1)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
SELECT window_end, COUNT(*) AS c FROM __tidemark_2 GROUP BY window_start, window_end;

-- exact, over aggregated rows: they are not judged again
# late rows: exact
SELECT window_end, SUM(c) AS c FROM TABLE(TUMBLE((SELECT window_time AS t, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time), DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
step __tidemark_2: SELECT window_time AS t, COUNT(*) AS c FROM __tidemark_1 GROUP BY window_start, window_end, window_time
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 minute') AS __tidemark_window FROM __tidemark_2)
SELECT window_end, SUM(c) AS c FROM __tidemark_3 GROUP BY window_start, window_end;

-- Spark's own window() is not touched
SELECT window(since, '10 seconds').end AS e FROM names;
SELECT window(since, '10 seconds').end AS e FROM names;

-- a column called hop, and a function of Spark's in FROM
SELECT id AS hop FROM range(3) AS tumble;
SELECT id AS hop FROM range(3) AS tumble;

-- no time attribute
SELECT window_end FROM TABLE(TUMBLE(TABLE names, DESCRIPTOR(since), INTERVAL '1' DAY));
ERROR line 1, column 50: 'since' is no time attribute. Declare one with WATERMARK FOR in CREATE TABLE.
  SELECT window_end FROM TABLE(TUMBLE(TABLE names, DESCRIPTOR(since), INTERVAL '1' DAY))
                                                   ^^^^^^^^^^^^^^^^^;

-- no timestamp
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(price), INTERVAL '1' DAY));
ERROR line 1, column 48: 'price' is double, and windows are made of timestamps. Time attributes here: ts.
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(price), INTERVAL '1' DAY))
                                                 ^^^^^^^^^^^^^^^^^;

-- no such column
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(tss), INTERVAL '1' DAY));
ERROR line 1, column 48: there is no column 'tss'. Did you mean 'ts'?
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(tss), INTERVAL '1' DAY))
                                                 ^^^^^^^^^^^^^^^;

-- no DESCRIPTOR
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, ts, INTERVAL '1' DAY));
ERROR line 1, column 48: expected DESCRIPTOR(column). Name one column: DESCRIPTOR(ts).
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, ts, INTERVAL '1' DAY))
                                                 ^^;

-- months
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MONTH));
ERROR line 1, column 64: the size of the window has months, and months differ in length. Use days, hours, minutes or seconds.
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MONTH))
                                                                 ^^^^^^^^^^^^^^^^^^;

-- no constant
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), k));
ERROR line 1, column 64: the size of the window is no constant interval. Write it as INTERVAL '10' SECOND.
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), k))
                                                                 ^;

-- nothing
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '0' SECOND));
ERROR line 1, column 64: the size of the window must be more than 0.
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '0' SECOND))
                                                                 ^^^^^^^^^^^^^^^^^^^;

-- negative
SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '-5' SECOND));
ERROR line 1, column 64: the size of the window must be more than 0.
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '-5' SECOND))
                                                                 ^^^^^^^^^^^^^^^^^^^^;

-- the slide is too long
SELECT window_end FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '15' SECOND));
ERROR line 1, column 61: the slide is longer than the window, so rows between windows would be lost. The slide comes first, then the size.
  SELECT window_end FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '15' SECOND))
                                                              ^^^^^^^^^^^^^^^^^^^^;

-- no multiple of the step
SELECT window_end FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '6' SECOND, INTERVAL '20' SECOND));
ERROR line 1, column 87: the largest size is no multiple of the step. The step comes first, then the largest size.
  SELECT window_end FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '6' SECOND, INTERVAL '20' SECOND))
                                                                                        ^^^^^^^^^^^^^^^^^^^^;

-- too few arguments
SELECT window_end FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '6' SECOND));
ERROR line 1, column 30: HOP lacks SIZE. Write HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND[, offset]): slide, size.
  SELECT window_end FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '6' SECOND))
                               ^^^;

-- too many
SELECT window_end FROM TABLE(SESSION(TABLE bid, DESCRIPTOR(ts), INTERVAL '6' SECOND, INTERVAL '6' SECOND));
ERROR line 1, column 86: SESSION has too many arguments. Write SESSION(TABLE t[ PARTITION BY k], DESCRIPTOR(ts), INTERVAL '5' SECOND).
  SELECT window_end FROM TABLE(SESSION(TABLE bid, DESCRIPTOR(ts), INTERVAL '6' SECOND, INTERVAL '6' SECOND))
                                                                                       ^^^^^^^^^^^^^^^^^^^;

-- a name that is none
SELECT window_end FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(ts), LENGTH => INTERVAL '6' SECOND));
ERROR line 1, column 93: TUMBLE has no argument LENGTH. Write TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND[, offset]).
  SELECT window_end FROM TABLE(TUMBLE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(ts), LENGTH => INTERVAL '6' SECOND))
                                                                                              ^^^^^^^^^^^^^^^^^^^;

-- PARTITION BY belongs to SESSION
SELECT window_end FROM TABLE(TUMBLE(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '6' SECOND));
ERROR line 1, column 60: TUMBLE takes no PARTITION BY. Group by the columns in the query around it.
  SELECT window_end FROM TABLE(TUMBLE(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '6' SECOND))
                                                             ^;

-- the columns of the window are there already
SELECT 1 AS one FROM TABLE(TUMBLE((SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))), DESCRIPTOR(window_time), INTERVAL '1' MINUTE));
ERROR line 1, column 28: the input has the columns window_start, window_end, window_time already, which the window adds. Give them other names in a sub-query: SELECT window_time AS ts, ...
  SELECT 1 AS one FROM TABLE(TUMBLE((SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))), DESCRIPTOR(window_time), INTERVAL '1' MINUTE))
                             ^^^^^^;

-- nothing to window
SELECT 1 AS one FROM TABLE(TUMBLE());
ERROR line 1, column 28: TUMBLE does not name what it windows. Write TUMBLE(TABLE orders, DESCRIPTOR(ts), ...).
  SELECT 1 AS one FROM TABLE(TUMBLE())
                             ^^^^^^;
