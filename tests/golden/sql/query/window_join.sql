-- JOIN of windows
SELECT L.k, L.price FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT L.k, L.price FROM (SELECT * FROM __tidemark_1) L JOIN (SELECT * FROM __tidemark_2) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- LEFT JOIN of windows
SELECT L.k, L.price FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT L.k, L.price FROM (SELECT * FROM __tidemark_1) L LEFT JOIN (SELECT * FROM __tidemark_2) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- FULL OUTER JOIN of windows
SELECT L.k, L.price FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L FULL OUTER JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT L.k, L.price FROM (SELECT * FROM __tidemark_1) L FULL OUTER JOIN (SELECT * FROM __tidemark_2) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- LEFT SEMI JOIN of windows
SELECT L.k, L.price FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L LEFT SEMI JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT L.k, L.price FROM (SELECT * FROM __tidemark_1) L LEFT SEMI JOIN (SELECT * FROM __tidemark_2) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- LEFT ANTI JOIN of windows
SELECT L.k, L.price FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L LEFT ANTI JOIN (SELECT * FROM TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT L.k, L.price FROM (SELECT * FROM __tidemark_1) L LEFT ANTI JOIN (SELECT * FROM __tidemark_2) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- without sub-queries
SELECT L.k, R.amount FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) L RIGHT JOIN TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND)) AS R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT L.k, R.amount FROM __tidemark_1 L RIGHT JOIN __tidemark_2 AS R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- USING
SELECT window_start, k, amount FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) JOIN TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND)) USING (window_start, window_end, k);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT window_start, k, amount FROM __tidemark_1 JOIN __tidemark_2 USING (window_start, window_end, k);

-- exact: each side is judged, and a star shows no watermark
# late rows: exact
SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) L JOIN TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND)) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
SELECT * FROM (SELECT * EXCEPT (__tidemark_stamp) FROM __tidemark_1) L JOIN (SELECT * EXCEPT (__tidemark_stamp) FROM __tidemark_2) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

-- in EXISTS
SELECT k FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) L WHERE EXISTS (SELECT 1 FROM TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND)) R WHERE R.k = L.k AND R.window_start = L.window_start AND R.window_end = L.window_end);
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
SELECT k FROM __tidemark_1 L WHERE EXISTS (SELECT 1 FROM __tidemark_2 R WHERE R.k = L.k AND R.window_start = L.window_start AND R.window_end = L.window_end);

-- window_time stays a time attribute
SELECT window_end FROM TABLE(HOP((SELECT L.window_time AS t FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) L JOIN TABLE(TUMBLE(TABLE ask, DESCRIPTOR(at), INTERVAL '10' SECOND)) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end), DESCRIPTOR(t), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: at): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`at`, '10 seconds') AS __tidemark_window FROM t_ask)
step __tidemark_3: SELECT L.window_time AS t FROM __tidemark_1 L JOIN __tidemark_2 R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end
step __tidemark_4 (event time: window_end; attributes: window_time=rowtime; lost: t): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`t`, '2 minutes', '1 minute') AS __tidemark_window FROM __tidemark_3)
SELECT window_end FROM __tidemark_4;

-- a join of tables of Spark's is not touched
SELECT a.k FROM names a JOIN names b ON a.k = b.k;
SELECT a.k FROM names a JOIN names b ON a.k = b.k;

-- a join without windows is left to Spark
SELECT a.k FROM ask a JOIN bid b ON a.k = b.k AND b.ts BETWEEN a.at AND a.at + INTERVAL '5' SECOND;
SELECT a.k FROM t_ask a JOIN t_bid b ON a.k = b.k AND b.ts BETWEEN a.at AND a.at + INTERVAL '5' SECOND;
