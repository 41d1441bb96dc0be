-- a stream grouped by CEIL: the rounded time is event time
SELECT k, CEIL(ts TO DAY) AS d, SUM(price) AS s FROM bid GROUP BY k, CEIL(ts TO DAY);
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT *, CASE WHEN CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) = ts THEN ts ELSE CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY END AS __tidemark_ceil_1 FROM t_bid
SELECT k, __tidemark_ceil_1 AS d, SUM(price) AS s FROM __tidemark_1 AS bid GROUP BY k, __tidemark_ceil_1;

-- by FLOOR: the end of the interval is event time
SELECT k, FLOOR(ts TO HOUR) AS h, SUM(price) AS s FROM bid GROUP BY k, FLOOR(ts TO HOUR);
step __tidemark_1 (event time: __tidemark_floor_1_end; attributes: __tidemark_floor_1=rowtime): SELECT *, (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) AS __tidemark_floor_1, (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) + INTERVAL '1' HOUR AS __tidemark_floor_1_end FROM t_bid
SELECT k, __tidemark_floor_1 AS h, SUM(price) AS s FROM __tidemark_1 AS bid GROUP BY k, __tidemark_floor_1, __tidemark_floor_1_end;

-- by the alias, and by the number
SELECT CEIL(ts TO MINUTE) AS m, COUNT(*) AS c FROM bid GROUP BY m;
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT *, CASE WHEN (ts - make_dt_interval(0, 0, 0, extract(SECOND FROM ts))) = ts THEN ts ELSE (ts - make_dt_interval(0, 0, 0, extract(SECOND FROM ts))) + INTERVAL '1' MINUTE END AS __tidemark_ceil_1 FROM t_bid
SELECT __tidemark_ceil_1 AS m, COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY m;

-- by the number in the list
SELECT FLOOR(ts TO MINUTE) AS m, COUNT(*) AS c FROM bid GROUP BY 1;
step __tidemark_1 (event time: __tidemark_floor_1_end; attributes: __tidemark_floor_1=rowtime): SELECT *, (ts - make_dt_interval(0, 0, 0, extract(SECOND FROM ts))) AS __tidemark_floor_1, (ts - make_dt_interval(0, 0, 0, extract(SECOND FROM ts))) + INTERVAL '1' MINUTE AS __tidemark_floor_1_end FROM t_bid
SELECT __tidemark_floor_1 AS m, COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY 1, __tidemark_floor_1_end;

-- times with a zone are rounded in the session's zone
SELECT CEIL(lt TO WEEK) AS w, COUNT(*) AS c FROM click GROUP BY CEIL(lt TO WEEK);
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT *, CASE WHEN date_trunc('WEEK', lt) = lt THEN lt ELSE date_trunc('WEEK', lt) + INTERVAL '7' DAY END AS __tidemark_ceil_1 FROM t_click
SELECT __tidemark_ceil_1 AS w, COUNT(*) AS c FROM __tidemark_1 AS click GROUP BY __tidemark_ceil_1;

-- windows over rounded groups: CEIL keeps the attribute
SELECT window_end, SUM(s) AS s FROM TABLE(TUMBLE((SELECT CEIL(ts TO HOUR) AS h, SUM(price) AS s FROM bid GROUP BY CEIL(ts TO HOUR)), DESCRIPTOR(h), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT *, CASE WHEN (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) = ts THEN ts ELSE (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) + INTERVAL '1' HOUR END AS __tidemark_ceil_1 FROM t_bid
step __tidemark_2: SELECT __tidemark_ceil_1 AS h, SUM(price) AS s FROM __tidemark_1 AS bid GROUP BY __tidemark_ceil_1
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: h): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`h`, '1 day') AS __tidemark_window FROM __tidemark_2)
SELECT window_end, SUM(s) AS s FROM __tidemark_3 GROUP BY window_start, window_end;

-- a projection keeps it as well
SELECT window_end FROM TABLE(TUMBLE((SELECT CEIL(ts TO HOUR) AS h FROM bid), DESCRIPTOR(h), INTERVAL '1' DAY));
step __tidemark_1 (event time: h; attributes: h=rowtime): SELECT CASE WHEN (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) = ts THEN ts ELSE (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) + INTERVAL '1' HOUR END AS h FROM t_bid AS bid
step __tidemark_2 (event time: window_end; attributes: window_time=rowtime; lost: h): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`h`, '1 day') AS __tidemark_window FROM __tidemark_1)
SELECT window_end FROM __tidemark_2;

-- a sub-query is made a step, so that the query around can group by the column
SELECT h, COUNT(*) AS c FROM (SELECT CEIL(ts TO HOUR) AS h FROM bid) GROUP BY h;
step __tidemark_1 (event time: h; attributes: h=rowtime): SELECT CASE WHEN (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) = ts THEN ts ELSE (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) + INTERVAL '1' HOUR END AS h FROM t_bid AS bid
SELECT h, COUNT(*) AS c FROM __tidemark_1 GROUP BY h;

-- not grouped: in its place
SELECT k, FLOOR(ts TO MONTH) AS m FROM bid;
SELECT k, CAST(trunc(ts, 'MONTH') AS TIMESTAMP_NTZ) AS m FROM t_bid AS bid;

-- a column that is no attribute, and an expression
SELECT FLOOR(since TO QUARTER) AS q, CEIL(CAST(since AS TIMESTAMP_NTZ) TO YEAR) AS y FROM names;
step __tidemark_1: SELECT * FROM names
SELECT date_trunc('QUARTER', since) AS q, CASE WHEN CAST(trunc(CAST(since AS TIMESTAMP_NTZ), 'YEAR') AS TIMESTAMP_NTZ) = CAST(since AS TIMESTAMP_NTZ) THEN CAST(since AS TIMESTAMP_NTZ) ELSE CAST(trunc(CAST(since AS TIMESTAMP_NTZ), 'YEAR') AS TIMESTAMP_NTZ) + INTERVAL '1' YEAR END AS y FROM __tidemark_1 AS names;

-- exact
# late rows: exact
SELECT CEIL(ts TO DAY) AS d, COUNT(*) AS c FROM bid GROUP BY CEIL(ts TO DAY);
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT * FROM (SELECT *, CASE WHEN CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) = ts THEN ts ELSE CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY END AS __tidemark_ceil_1 FROM t_bid) WHERE __tidemark_stamp IS NULL OR __tidemark_ceil_1 > __tidemark_stamp
SELECT __tidemark_ceil_1 AS d, COUNT(*) AS c FROM __tidemark_1 AS bid GROUP BY __tidemark_ceil_1;

-- a batch groups by the expression
# mode: batch
SELECT CEIL(ts TO DAY) AS d, COUNT(*) AS c FROM bid GROUP BY CEIL(ts TO DAY);
SELECT CASE WHEN CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) = ts THEN ts ELSE CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY END AS d, COUNT(*) AS c FROM t_bid AS bid GROUP BY CASE WHEN CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) = ts THEN ts ELSE CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY END;

-- without a name
SELECT CEIL(ts TO SECOND) FROM bid GROUP BY CEIL(ts TO SECOND);
step __tidemark_1 (event time: __tidemark_ceil_1; attributes: __tidemark_ceil_1=rowtime): SELECT *, CASE WHEN (ts - make_dt_interval(0, 0, 0, extract(SECOND FROM ts) % 1)) = ts THEN ts ELSE (ts - make_dt_interval(0, 0, 0, extract(SECOND FROM ts) % 1)) + INTERVAL '1' SECOND END AS __tidemark_ceil_1 FROM t_bid
SELECT __tidemark_ceil_1 AS `CEIL(ts TO SECOND)` FROM __tidemark_1 AS bid GROUP BY __tidemark_ceil_1;

-- the functions of numbers are not touched
SELECT FLOOR(price) AS f, CEIL(price, 1) AS c FROM bid;
SELECT FLOOR(price) AS f, CEIL(price, 1) AS c FROM t_bid AS bid;

-- so are Spark's own
SELECT date_trunc('DAY', since) AS d FROM names;
SELECT date_trunc('DAY', since) AS d FROM names;

-- no unit
SELECT FLOOR(ts TO FORTNIGHT) AS f FROM bid;
ERROR line 1, column 20: 'FORTNIGHT' is no unit to round a time to. Use SECOND, MINUTE, HOUR, DAY, ...
  SELECT FLOOR(ts TO FORTNIGHT) AS f FROM bid
                     ^^^^^^^^^;

-- a join cannot be grouped by it
SELECT CEIL(b.ts TO DAY) AS d FROM bid b JOIN ask a ON a.k = b.k GROUP BY CEIL(b.ts TO DAY);
ERROR line 1, column 75: a stream can be grouped by CEIL of one table, view or sub-query only. Put the join into a sub-query.
  SELECT CEIL(b.ts TO DAY) AS d FROM bid b JOIN ask a ON a.k = b.k GROUP BY CEIL(b.ts TO DAY)
                                                                            ^^^^^^^^^^^^^^^^^;

-- windows over times that were rounded down: their ends are ends of units
SELECT window_end, SUM(s) AS s FROM TABLE(TUMBLE((SELECT FLOOR(ts TO HOUR) AS h, SUM(price) AS s FROM bid GROUP BY FLOOR(ts TO HOUR)), DESCRIPTOR(h), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
step __tidemark_1 (event time: __tidemark_floor_1_end; attributes: __tidemark_floor_1=rowtime): SELECT *, (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) AS __tidemark_floor_1, (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) + INTERVAL '1' HOUR AS __tidemark_floor_1_end FROM t_bid
step __tidemark_2: SELECT __tidemark_floor_1 AS h, SUM(price) AS s FROM __tidemark_1 AS bid GROUP BY __tidemark_floor_1, __tidemark_floor_1_end
step __tidemark_3 (event time: window_end; attributes: window_time=rowtime; lost: h): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`h`, '1 day') AS __tidemark_window FROM __tidemark_2)
SELECT window_end, SUM(s) AS s FROM __tidemark_3 GROUP BY window_start, window_end;

-- shorter ones would be over before their rows come
SELECT window_end, SUM(s) AS s FROM TABLE(TUMBLE((SELECT FLOOR(ts TO HOUR) AS h, SUM(price) AS s FROM bid GROUP BY FLOOR(ts TO HOUR)), DESCRIPTOR(h), INTERVAL '30' MINUTE)) GROUP BY window_start, window_end;
ERROR line 1, column 151: 'h' is rounded down to HOUR, and this window may end before its rows come. Use a window of whole HOURs without a part of one as offset, or round up with CEIL.
  SELECT FLOOR(ts TO HOUR) AS h, SUM(price) AS s FROM bid GROUP BY FLOOR(ts TO HOUR)), DESCRIPTOR(h), INTERVAL '30' MINUTE)) GROUP BY window_start, window_end
                                                                                                      ^^^^^^^^^^^^^^^^^^^^;

-- months have no fixed length
SELECT window_end FROM TABLE(TUMBLE((SELECT FLOOR(ts TO MONTH) AS m FROM bid), DESCRIPTOR(m), INTERVAL '60' DAY));
ERROR line 1, column 95: 'm' is rounded down to MONTH, and this window may end before its rows come. Round up with CEIL.
  SELECT window_end FROM TABLE(TUMBLE((SELECT FLOOR(ts TO MONTH) AS m FROM bid), DESCRIPTOR(m), INTERVAL '60' DAY))
                                                                                                ^^^^^^^^^^^^^^^^^;

-- one in the other
SELECT FLOOR(CEIL(lt TO MINUTE) TO HOUR) FROM click;
SELECT date_trunc('HOUR', CASE WHEN date_trunc('MINUTE', lt) = lt THEN lt ELSE date_trunc('MINUTE', lt) + INTERVAL '1' MINUTE END) AS `FLOOR(CEIL(lt TO MINUTE) TO HOUR)` FROM t_click AS click;

-- no blank behind what is replaced, or before it
SELECT CEIL(ts TO HOUR)h, k FROM bid;
SELECT CASE WHEN (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) = ts THEN ts ELSE (ts - make_dt_interval(0, 0, minute(ts), extract(SECOND FROM ts))) + INTERVAL '1' HOUR END h, k FROM t_bid AS bid;

-- a window without a blank behind it
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))w GROUP BY window_start, window_end;
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
SELECT COUNT(*) FROM __tidemark_1 w GROUP BY window_start, window_end;
