-- the first rows of each window: an aggregate of bounded size
SELECT k, price, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn <= 3;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, price AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NULL, -__tidemark_order_0, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 3) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
SELECT k, price, rn FROM __tidemark_3 WHERE rn <= 3;

-- by key, with several terms and directions
SELECT k FROM (SELECT k, item, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY price DESC, ts ASC NULLS LAST) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) x WHERE x.rn < 4 AND k > 1;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT k, item, window_end, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, k AS __tidemark_key_2, price AS __tidemark_order_0, ts AS __tidemark_order_1 FROM __tidemark_1
step __tidemark_3 (event time: window_end): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`k` AS `k`, r.`item` AS `item`, r.`window_end` AS `window_end`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`k`, `item`, `window_end`), struct(__tidemark_order_0 IS NULL, -__tidemark_order_0, __tidemark_order_1 IS NULL, __tidemark_order_1, `k`, `item`, `window_end`), 3) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1, __tidemark_key_2)
SELECT k FROM __tidemark_3 x WHERE x.rn < 4 AND k > 1;

-- duplicates removed: the first row by time
SELECT ts, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, k AS __tidemark_key_2, ts AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 1) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1, __tidemark_key_2)
SELECT ts, k FROM __tidemark_3 WHERE rn = 1;

-- texts that descend: the rest is turned round
SELECT item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY item DESC, k ASC) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE 2 >= rn;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, item AS __tidemark_order_0, k AS __tidemark_order_1 FROM __tidemark_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT max_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, __tidemark_order_1 IS NULL, ~__tidemark_order_1, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 2) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
SELECT item FROM __tidemark_3 WHERE 2 >= rn;

-- the best aggregates of each window
SELECT k, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC) AS rn FROM (SELECT window_start, window_end, k, SUM(price) AS s FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k)) WHERE rn BETWEEN 1 AND 3;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT window_start, window_end, k, SUM(price) AS s FROM __tidemark_1 GROUP BY window_start, window_end, k
step __tidemark_3: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, s AS __tidemark_order_0 FROM __tidemark_2
step __tidemark_4 (event time: window_end): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`k` AS `k`, r.`s` AS `s`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`window_start`, `window_end`, `k`, `s`), struct(__tidemark_order_0 IS NULL, -__tidemark_order_0, `window_start`, `window_end`, `k`, `s`), 3) AS __tidemark_rows FROM __tidemark_3 GROUP BY __tidemark_key_0, __tidemark_key_1)
SELECT k, s FROM __tidemark_4 WHERE rn BETWEEN 1 AND 3;

-- in a CTE
WITH ranked AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) SELECT k FROM ranked WHERE rn <= 2;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, price AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 2) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
WITH ranked AS (SELECT * FROM __tidemark_3) SELECT k FROM __tidemark_3 AS ranked WHERE rn <= 2;

-- the number may stand before the columns
SELECT rn, k FROM (SELECT ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn, k FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT k, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, price AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3: SELECT inline(transform(__tidemark_rows, (r, i) -> struct(i + 1 AS `rn`, r.`k` AS `k`))) FROM (SELECT min_by(struct(`k`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, `k`), 1) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
SELECT rn, k FROM __tidemark_3 WHERE rn = 1;

-- a batch takes the same way, so that rows that are equal are told apart alike
# mode: batch
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1;
step __tidemark_1 (attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, price AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3 (attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 1) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
SELECT k FROM __tidemark_3 WHERE rn = 1;

-- exact
# late rows: exact
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
step __tidemark_2: SELECT * EXCEPT (__tidemark_stamp), window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, price AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 1) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
SELECT k FROM __tidemark_3 WHERE rn = 1;

-- windows over the rows that were kept
SELECT window_end, COUNT(*) AS c FROM TABLE(TUMBLE((SELECT window_time AS t FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1), DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT *, window_start AS __tidemark_key_0, window_end AS __tidemark_key_1, price AS __tidemark_order_0 FROM __tidemark_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT inline(transform(__tidemark_rows, (r, i) -> struct(r.`ts` AS `ts`, r.`k` AS `k`, r.`item` AS `item`, r.`price` AS `price`, r.`window_start` AS `window_start`, r.`window_end` AS `window_end`, r.`window_time` AS `window_time`, i + 1 AS `rn`))) FROM (SELECT min_by(struct(`ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), struct(__tidemark_order_0 IS NOT NULL, __tidemark_order_0, `ts`, `k`, `item`, `price`, `window_start`, `window_end`, `window_time`), 1) AS __tidemark_rows FROM __tidemark_2 GROUP BY __tidemark_key_0, __tidemark_key_1)
step __tidemark_4: SELECT window_time AS t FROM __tidemark_3 WHERE rn = 1
step __tidemark_5 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '1 minute') AS __tidemark_window FROM __tidemark_4)
SELECT window_end, COUNT(*) AS c FROM __tidemark_5 GROUP BY window_start, window_end;

-- over tables of Spark's it is Spark's
SELECT name FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY since) AS rn FROM names) WHERE rn = 1;
SELECT name FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY since) AS rn FROM names) WHERE rn = 1;

-- so it is beside a table of ours
SELECT b.k FROM bid b JOIN (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY since) AS rn FROM names) n ON n.k = b.k WHERE n.rn = 1;
SELECT b.k FROM t_bid b JOIN (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY since) AS rn FROM names) n ON n.k = b.k WHERE n.rn = 1;

-- a batch may rank without windows
# mode: batch
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY price) AS rn FROM bid) WHERE rn = 1;
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY price) AS rn FROM t_bid AS bid) WHERE rn = 1;

-- a stream may not yet
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY price) AS rn FROM bid) WHERE rn = 1;
ERROR line 1, column 26: rows of a stream are numbered inside of windows or by time, upwards. Write PARTITION BY window_start, window_end over a windowed table, or ORDER BY a time attribute.
  SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY price) AS rn FROM bid) WHERE rn = 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- how many
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn > 1;
ERROR line 1, column 26: how many rows of each window are wanted is not known. Write WHERE rn <= 3 around it, with a constant.
  SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn > 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- a condition with OR bounds nothing
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1 OR k = 1;
ERROR line 1, column 26: how many rows of each window are wanted is not known. Write WHERE rn <= 3 around it, with a constant.
  SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1 OR k = 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- no order
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1;
ERROR line 1, column 26: ROW_NUMBER has no ORDER BY. Say which rows come first.
  SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- an order of nothing
SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY) AS rn FROM bid) WHERE rn = 1;
ERROR line 1, column 26: ROW_NUMBER has no ORDER BY. Say which rows come first.
  SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY) AS rn FROM bid) WHERE rn = 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- a direction of nothing
SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts, DESC) AS rn FROM bid) WHERE rn = 1;
ERROR line 1, column 26: ROW_NUMBER has no ORDER BY. Say which rows come first.
  SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts, DESC) AS rn FROM bid) WHERE rn = 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- texts in two directions
SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY item, upper(item) DESC) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn = 1;
ERROR line 1, column 26: texts cannot be ordered up and down in one ranking of a window. Order them in one direction, or convert one of them to a number.
  SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY item, upper(item) DESC) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn =
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;
