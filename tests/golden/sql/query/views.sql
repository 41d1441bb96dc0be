-- a view is a step of its own
SELECT k FROM big WHERE price < 20;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT k FROM __tidemark_1 AS big WHERE price < 20;

-- the name of the view qualifies its columns
SELECT big.k, big.ts FROM big;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT big.k, big.ts FROM __tidemark_1 AS big;

-- an alias stays
SELECT b.k FROM big AS b;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT b.k FROM __tidemark_1 AS b;

-- a view over a view
SELECT k FROM over_view;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
step __tidemark_2: SELECT k FROM __tidemark_1 AS big
SELECT k FROM __tidemark_2 AS over_view;

-- a view is run once per statement
SELECT a.k FROM big a JOIN big b ON a.k = b.k;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT a.k FROM __tidemark_1 a JOIN __tidemark_1 b ON a.k = b.k;

-- columns that CREATE VIEW renames
SELECT t, a FROM renamed;
step __tidemark_1: SELECT ts, k FROM t_bid AS bid
step __tidemark_2: SELECT * FROM __tidemark_1 AS renamed(t, a)
SELECT t, a FROM __tidemark_2 AS renamed;

-- a view in a query inside an expression
SELECT k FROM names WHERE k IN (SELECT k FROM big);
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT k FROM names WHERE k IN (SELECT k FROM __tidemark_1 AS big);

-- a CTE hides a view of its name
WITH big AS (SELECT 1 AS k) SELECT k FROM big;
WITH big AS (SELECT 1 AS k) SELECT k FROM big;

-- a view of Spark's is not touched
SELECT name FROM names;
SELECT name FROM names;

-- a time attribute passes through a view
SELECT window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE renamed, DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
step __tidemark_1: SELECT ts, k FROM t_bid AS bid
step __tidemark_2: SELECT * FROM __tidemark_1 AS renamed(t, a)
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 minute') AS __tidemark_window FROM __tidemark_2)
SELECT window_end, COUNT(*) AS c FROM __tidemark_3 GROUP BY window_start, window_end;

-- windows inside of the view, and over it
SELECT window_end, SUM(c) AS c FROM TABLE(TUMBLE(TABLE hourly, DESCRIPTOR(t), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT window_time AS t, COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY window_start, window_end, window_time
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 day') AS __tidemark_window FROM __tidemark_2)
SELECT window_end, SUM(c) AS c FROM __tidemark_3 GROUP BY window_start, window_end;

-- views that use each other
SELECT * FROM circle;
ERROR view round_about, line 1, column 15: the view uses itself: circle -> round_about -> circle. Define one of them anew.
  SELECT * FROM circle
                ^^^^^^;
