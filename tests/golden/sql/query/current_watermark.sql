-- the watermark before the row
SELECT k, CURRENT_WATERMARK(ts) AS w FROM bid;
SELECT k, __tidemark_stamp AS w FROM t_bid AS bid;

-- a star does not show it
SELECT *, CURRENT_WATERMARK(ts) AS w FROM bid;
SELECT * EXCEPT (__tidemark_stamp), __tidemark_stamp AS w FROM t_bid AS bid;

-- without a name
SELECT CURRENT_WATERMARK(b.ts) FROM bid b;
SELECT __tidemark_stamp AS `CURRENT_WATERMARK(b.ts)` FROM t_bid b;

-- late rows
SELECT k FROM bid WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts);
SELECT k FROM t_bid AS bid WHERE __tidemark_stamp IS NULL OR ts > __tidemark_stamp;

-- through a sub-query, which becomes a step
SELECT t, CURRENT_WATERMARK(t) AS w FROM (SELECT ts AS t FROM bid WHERE k > 1) x;
step __tidemark_1: SELECT ts AS t, __tidemark_stamp FROM t_bid AS bid WHERE k > 1
SELECT t, __tidemark_stamp AS w FROM __tidemark_1 x;

-- through a view
SELECT CURRENT_WATERMARK(ts) AS w FROM big;
step __tidemark_1: SELECT ts, k, price, __tidemark_stamp FROM t_bid AS bid WHERE price > 10
SELECT __tidemark_stamp AS w FROM __tidemark_1 AS big;

-- in a join it is qualified
SELECT n.name, CURRENT_WATERMARK(b.ts) AS w FROM bid b JOIN names n ON n.k = b.k;
SELECT n.name, __tidemark_stamp AS w FROM t_bid b JOIN names n ON n.k = b.k;

-- a batch has none
# mode: batch
SELECT CURRENT_WATERMARK(ts) AS w, CURRENT_WATERMARK(ts) AS v FROM bid;
SELECT CAST(NULL AS TIMESTAMP_NTZ) AS w, CAST(NULL AS TIMESTAMP_NTZ) AS v FROM t_bid AS bid;

-- of a window's time attribute
SELECT CURRENT_WATERMARK(window_time) AS w FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '10 seconds') AS __tidemark_window FROM t_bid)
SELECT __tidemark_stamp AS w FROM __tidemark_1;

-- in a rounded time
SELECT FLOOR(CURRENT_WATERMARK(ts) TO DAY) AS d FROM bid;
SELECT CAST(CAST(__tidemark_stamp AS DATE) AS TIMESTAMP_NTZ) AS d FROM t_bid AS bid;

-- a column of this name is none
SELECT current_watermark FROM (SELECT k AS current_watermark FROM bid);
SELECT current_watermark FROM (SELECT k AS current_watermark FROM t_bid AS bid);

-- CURRENT_TIMESTAMP is Spark's
SELECT k, CURRENT_TIMESTAMP() AS now FROM bid;
SELECT k, CURRENT_TIMESTAMP() AS now FROM t_bid AS bid;

-- no time attribute
SELECT CURRENT_WATERMARK(k) AS w FROM bid;
ERROR line 1, column 8: 'k' is no time attribute. CURRENT_WATERMARK takes a column declared by WATERMARK FOR.
  SELECT CURRENT_WATERMARK(k) AS w FROM bid
         ^^^^^^^^^^^^^^^^^^^^;

-- an expression
SELECT CURRENT_WATERMARK(ts + INTERVAL '1' SECOND) AS w FROM bid;
ERROR line 1, column 8: CURRENT_WATERMARK takes a time attribute, and ts + INTERVAL '1' SECOND is none. Write CURRENT_WATERMARK(ts).
  SELECT CURRENT_WATERMARK(ts + INTERVAL '1' SECOND) AS w FROM bid
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- processing time
SELECT CURRENT_WATERMARK(pt) AS w FROM tick;
ERROR line 1, column 8: 'pt' is processing time. CURRENT_WATERMARK takes a column declared by WATERMARK FOR.
  SELECT CURRENT_WATERMARK(pt) AS w FROM tick
         ^^^^^^^^^^^^^^^^^^^^^;

-- behind an aggregation
SELECT CURRENT_WATERMARK(t) AS w FROM (SELECT window_time AS t FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time);
ERROR line 1, column 8: the watermark at a row is not known here: rows were put together before. Call CURRENT_WATERMARK in the query that reads the table.
  SELECT CURRENT_WATERMARK(t) AS w FROM (SELECT window_time AS t FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, window_time)
         ^^^^^^^^^^^^^^^^^^^^;

-- where it was lost
SELECT CURRENT_WATERMARK(ts) AS w FROM (SELECT MAX(ts) AS ts FROM bid);
ERROR line 1, column 8: 'ts' is no time attribute: MAX(...) over 'ts' gives an ordinary timestamp. CURRENT_WATERMARK takes a column declared by WATERMARK FOR.
  SELECT CURRENT_WATERMARK(ts) AS w FROM (SELECT MAX(ts) AS ts FROM bid)
         ^^^^^^^^^^^^^^^^^^^^^;

-- nothing
SELECT CURRENT_WATERMARK() AS w FROM bid;
ERROR line 1, column 8: CURRENT_WATERMARK takes a time attribute, and nothing is none. Write CURRENT_WATERMARK(ts).
  SELECT CURRENT_WATERMARK() AS w FROM bid
         ^^^^^^^^^^^^^^^^^^^;

-- exact: a star of several tables shows no watermark
# late rows: exact
SELECT * FROM bid b JOIN names n ON b.k = n.k;
SELECT * FROM (SELECT * EXCEPT (__tidemark_stamp) FROM t_bid) b JOIN names n ON b.k = n.k;

-- exact: neither does a star beside a view of Spark's words
# late rows: exact
SELECT * FROM bid LATERAL VIEW explode(array(1, 2)) e AS x;
SELECT * FROM (SELECT * EXCEPT (__tidemark_stamp) FROM t_bid) AS bid LATERAL VIEW explode(array(1, 2)) e AS x;

-- exact: nor does TABLE
# late rows: exact
TABLE bid;
SELECT * EXCEPT (__tidemark_stamp) FROM t_bid;
