-- in event time: one relation in the place of the left table
SELECT b.item, r.rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k;
join bid INNER rates AS OF ts ON k = k
SELECT b.item, b.rate FROM t_join_1 AS b;

-- rows that meet nothing are kept; the same column of the right table keeps its name in the answer
SELECT b.item, r.k, r.rate FROM bid AS b LEFT JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k WHERE r.k IS NULL OR r.rate > 1;
join bid LEFT rates AS OF ts ON k = k
SELECT b.item, b.`__tidemark_r_k_1` AS `k`, b.rate FROM t_join_1 AS b WHERE b.`__tidemark_r_k_1` IS NULL OR b.rate > 1;

-- more than the key in the condition
SELECT b.item, rate FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON (b.k = r.k AND r.rate > price) AND b.item IS NOT NULL;
join bid INNER rates AS OF ts ON k = k AND (`rate` > `price`) AND (`item` IS NOT NULL)
SELECT b.item, rate FROM t_join_1 b;

-- a star shows the columns of both, the hidden names not
SELECT * FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
join bid INNER rates AS OF ts ON k = k
SELECT b.`ts`, b.`k`, b.`item`, b.`price`, b.`__tidemark_r_k_1` AS `k`, b.`rate`, b.`since` FROM t_join_1 b;

-- a star of one side
SELECT r.*, b.item FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
join bid INNER rates AS OF ts ON k = k
SELECT b.`__tidemark_r_k_1` AS `k`, b.`rate`, b.`since`, b.item FROM t_join_1 b;

-- a part of the key that is equal to no column
SELECT t.v, i.label FROM tick t LEFT JOIN items FOR SYSTEM_TIME AS OF t.pt AS i ON i.item = '1' AND t.v = i.shop AND CAST(t.v AS STRING) = i.item;
ERROR line 1, column 84: ON has no equality for i.item, the primary key of 'items'. Write ON o.column = i.item AND ...; other conditions may stand beside it.
  SELECT t.v, i.label FROM tick t LEFT JOIN items FOR SYSTEM_TIME AS OF t.pt AS i ON i.item = '1' AND t.v = i.shop AND CAST(t.v AS STRING) = i.item
                                                                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- by a PROCTIME() column
SELECT t.v, r.rate FROM tick t LEFT JOIN rates FOR SYSTEM_TIME AS OF t.pt AS r ON t.v = r.k;
join tick LEFT rates AS OF PROCTIME() ON v = k
SELECT t.v, t.rate FROM t_join_1 t;

-- by a nested time attribute
SELECT n.k, r.rate FROM nested n JOIN rates FOR SYSTEM_TIME AS OF n.e.time AS r ON n.k = r.k;
join nested INNER rates AS OF e_time ON k = k
SELECT n.k, n.rate FROM t_join_1 n;

-- two tables, the second by a column of the first
SELECT b.k, i.label FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k JOIN items FOR SYSTEM_TIME AS OF PROCTIME() i ON i.shop = r.k AND i.item = b.item;
join bid INNER rates AS OF ts ON k = k INNER items AS OF PROCTIME() ON item = item AND __tidemark_r_k_1 = shop
SELECT b.k, b.label FROM t_join_1 b;

-- a table of Spark's behind them
SELECT b.item, n.name, r.rate FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k JOIN names n ON n.k = r.k;
join bid INNER rates AS OF ts ON k = k
SELECT b.item, n.name, b.rate FROM t_join_1 b JOIN names n ON n.k = b.`__tidemark_r_k_1`;

-- a snapshot
SELECT v, rate FROM tick t JOIN LATERAL SNAPSHOT(input => TABLE rates) AS r ON t.v = r.k;
join tick INNER rates AS OF PROCTIME() ON v = k
SELECT v, rate FROM t_join_1 t;

-- a snapshot that says when it is loaded
SELECT v, rate FROM tick t JOIN LATERAL TABLE(SNAPSHOT(input => TABLE rates, load_completed_condition => 'user_time', load_completed_time => CAST(TIMESTAMP '2026-01-01 00:00:10' AS TIMESTAMP_LTZ(3)), load_completed_idle_timeout => INTERVAL '10' SECOND)) AS r ON t.v = r.k;
join tick INNER rates AS OF PROCTIME() ON v = k LOADED AT CAST(TIMESTAMP '2026-01-01 00:00:10' AS TIMESTAMP_LTZ) LOADED WHEN IDLE FOR 10000 ms
SELECT v, rate FROM t_join_1 t;

-- a window over it: the left table's time attribute goes through, and so does the stamp
# late rows: exact
SELECT window_end, MAX(rate) AS m FROM TABLE(TUMBLE((SELECT ts, r.rate FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
join bid INNER rates AS OF ts ON k = k
step __tidemark_1: SELECT ts, b.rate, __tidemark_stamp FROM t_join_1 b
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * FROM (SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 minute') AS __tidemark_window FROM __tidemark_1)) WHERE __tidemark_stamp IS NULL OR window_time > __tidemark_stamp
SELECT window_end, MAX(rate) AS m FROM __tidemark_2 GROUP BY window_start, window_end;

-- grouped by a window and a column of the right table
SELECT TUMBLE_END(b.ts, INTERVAL '1' MINUTE) AS e, r.k, COUNT(*) AS c FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k GROUP BY TUMBLE(b.ts, INTERVAL '1' MINUTE), r.k;
join bid INNER rates AS OF ts ON k = k
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 minute') AS __tidemark_window FROM t_join_1)
SELECT window_end AS e, b.`__tidemark_r_k_1` AS `k`, COUNT(*) AS c FROM __tidemark_1 b GROUP BY window_start, window_end, b.`__tidemark_r_k_1`;

-- in a CTE and in one branch of a UNION ALL
WITH x AS (SELECT b.k, r.rate FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k) SELECT k FROM x UNION ALL SELECT k FROM ask;
join bid INNER rates AS OF ts ON k = k
WITH x AS (SELECT b.k, b.rate FROM t_join_1 b) SELECT k FROM x UNION ALL SELECT k FROM t_ask AS ask;

-- a batch
# mode: batch
SELECT b.item, r.rate FROM bid AS b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k ORDER BY item;
join bid INNER rates AS OF ts ON k = k
SELECT b.item, b.rate FROM t_join_1 AS b ORDER BY item;

-- a batch of a table that has no history
# mode: batch
SELECT b.item, r.v FROM bid AS b JOIN copied FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k;
ERROR line 1, column 46: a batch reads table 'copied' (connector 'mysql-cdc') as it is now, without history. SET 'execution.runtime-mode' = 'streaming', or join FOR SYSTEM_TIME AS OF PROCTIME().
  SELECT b.item, r.v FROM bid AS b JOIN copied FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k
                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- the documents' words for it: amounts with the rate that is valid when they arrive
SELECT a.v, r.rate FROM tick AS a JOIN rates FOR SYSTEM_TIME AS OF a.pt AS r ON a.v = r.k;
join tick INNER rates AS OF PROCTIME() ON v = k
SELECT a.v, a.rate FROM t_join_1 AS a;

-- the documents' amounts per day with the closing rate: a query on the left
SELECT a.total, r.rate, a.day FROM (SELECT k, COUNT(*) AS total, CEIL(ts TO DAY) AS day FROM bid GROUP BY k, CEIL(ts TO DAY)) AS a JOIN rates FOR SYSTEM_TIME AS OF a.day AS r ON a.k = r.k;
join __tidemark_2 INNER rates AS OF day ON k = k
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT *, CASE WHEN CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) = ts THEN ts ELSE CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY END AS __tidemark_ceil_1 FROM t_bid
step __tidemark_2: SELECT k, COUNT(*) AS total, __tidemark_ceil_1 AS day FROM __tidemark_1 AS bid GROUP BY k, __tidemark_ceil_1
SELECT a.total, a.rate, a.day FROM t_join_1 AS a;

-- a common table expression on the left, with the time of a window
WITH w AS (SELECT k, COUNT(*) AS n, window_time FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY k, window_start, window_end, window_time) SELECT w.k, w.n, r.rate FROM w LEFT JOIN rates FOR SYSTEM_TIME AS OF w.window_time AS r ON w.k = r.k;
join __tidemark_2 LEFT rates AS OF window_time ON k = k
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 hour') AS __tidemark_window FROM t_bid)
step __tidemark_2: SELECT k, COUNT(*) AS n, window_time FROM __tidemark_1 GROUP BY k, window_start, window_end, window_time
WITH w AS (SELECT * FROM __tidemark_2) SELECT w.k, w.n, w.rate FROM t_join_1 AS w;

-- a query on the left that nothing waits in
SELECT b.k FROM (SELECT * FROM bid) b JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON b.k = r.k;
ERROR line 1, column 17: the left side has to wait until 'rates' is loaded, and a query takes no part in that. Read the table itself, with conditions and columns around the join, or join as of an event time.
  SELECT b.k FROM (SELECT * FROM bid) b JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON b.k = r.k
                  ^^^^^^^^^^^^^^^^^^^^^;

-- an ordinary join stays one
SELECT b.item, r.rate FROM bid b JOIN rates r ON b.k = r.k AND b.ts BETWEEN r.since AND r.since + INTERVAL '1' HOUR;
SELECT b.item, r.rate FROM t_bid b JOIN t_rates r ON b.k = r.k AND b.ts BETWEEN r.since AND r.since + INTERVAL '1' HOUR;

-- a table that is called snapshot stays one
SELECT snapshot.k FROM bid snapshot;
SELECT snapshot.k FROM t_bid snapshot;

-- no primary key
SELECT b.k FROM bid b JOIN keyless FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
ERROR line 1, column 28: table 'keyless' has no PRIMARY KEY, so it is unknown which of its rows replaces which. Declare it: PRIMARY KEY (currency) NOT ENFORCED.
  SELECT b.k FROM bid b JOIN keyless FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k
                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- no equality
SELECT b.k FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k > r.k;
ERROR line 1, column 66: ON has no equality for r.k, the primary key of 'rates'. Write ON o.column = r.k AND ...; other conditions may stand beside it.
  SELECT b.k FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k > r.k
                                                                   ^^^^^^^^^;

-- no time attribute
SELECT b.k FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.price r ON b.k = r.k;
ERROR line 1, column 56: 'b.price' is no time attribute of the left side, 'b'. Its time attributes: b.ts.
  SELECT b.k FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.price r ON b.k = r.k
                                                         ^^^^^^^;

-- rows that change on the left
SELECT b.k FROM changing b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
ERROR line 1, column 17: the rows of table 'changing' change (connector 'upsert-kafka'), and rows that left a join as of a time cannot be taken back. Make the table that only grows the left side.
  SELECT b.k FROM changing b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k
                  ^^^^^^^^^^;

-- a table of Spark's is looked up
SELECT b.v FROM tick b JOIN listed FOR SYSTEM_TIME AS OF b.pt r ON b.v = r.k;
SELECT b.v FROM t_tick b JOIN t_listed r ON b.v = r.k;

-- a right join
SELECT b.k FROM bid b RIGHT JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
ERROR line 1, column 34: a table as of a time cannot be joined by RIGHT JOIN. Use JOIN or LEFT JOIN: its own rows have no time at which they would appear.
  SELECT b.k FROM bid b RIGHT JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k
                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- a view on the right
SELECT b.k FROM bid b JOIN big FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
ERROR line 1, column 28: the right side of a join as of a time is a table of the catalog, and 'big' is none. Join the table itself.
  SELECT b.k FROM bid b JOIN big FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k
                             ^^^;

-- a column that both have
SELECT k FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k;
ERROR line 1, column 8: 'k' may be a column of each. Write b.k or r.k.
  SELECT k FROM bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k
         ^;
