-- Spark's clause becomes options of the table
SELECT ts FROM bid WATERMARK ts DELAY OF INTERVAL '5' SECOND;
SELECT ts FROM t_bid AS bid;

-- with an alias
SELECT b.ts FROM bid WATERMARK ts DELAY OF INTERVAL 5 SECONDS AS b WHERE b.k = 1;
SELECT b.ts FROM t_bid AS b WHERE b.k = 1;

-- beside a hint
SELECT ts FROM bid /*+ OPTIONS('a'='b') */ WATERMARK `ts` DELAY OF INTERVAL '1' MINUTE;
SELECT ts FROM t_bid AS bid;

-- on a view: for the tables inside
SELECT k FROM big WATERMARK ts DELAY OF INTERVAL '5' SECOND;
step __tidemark_1: SELECT ts, k, price FROM t_bid AS bid WHERE price > 10
SELECT k FROM __tidemark_1 AS big;

-- on what is windowed
SELECT window_end FROM TABLE(TUMBLE(TABLE bid WATERMARK ts DELAY OF INTERVAL '5' SECOND, DESCRIPTOR(ts), INTERVAL '1' MINUTE));
step __tidemark_1 (event time: window_end; attributes: window_time=rowtime; lost: ts): SELECT * EXCEPT (__tidemark_window), __tidemark_window.start AS window_start, __tidemark_window.end AS window_end, __tidemark_window.end - INTERVAL '0.001' SECOND AS window_time FROM (SELECT *, window(`ts`, '1 minute') AS __tidemark_window FROM t_bid)
SELECT window_end FROM __tidemark_1;

-- over a table of Spark's it is Spark's
SELECT since FROM names WATERMARK since DELAY OF INTERVAL 5 SECOND AS n;
SELECT since FROM names WATERMARK since DELAY OF INTERVAL 5 SECOND AS n;

-- also with an expression
SELECT t FROM names WATERMARK since + INTERVAL 1 SECOND AS t DELAY OF INTERVAL 5 SECOND AS n;
SELECT t FROM names WATERMARK since + INTERVAL 1 SECOND AS t DELAY OF INTERVAL 5 SECOND AS n;

-- a column of this name is none
SELECT watermark FROM (SELECT k AS watermark FROM bid);
SELECT watermark FROM (SELECT k AS watermark FROM t_bid AS bid);

-- an expression
SELECT ts FROM bid WATERMARK ts + INTERVAL '1' SECOND AS t DELAY OF INTERVAL '5' SECOND;
ERROR line 1, column 20: this watermark clause cannot be used on a table of the catalog. Write WATERMARK ts DELAY OF INTERVAL '5' SECOND with a column of the table.
  SELECT ts FROM bid WATERMARK ts + INTERVAL '1' SECOND AS t DELAY OF INTERVAL '5' SECOND
                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- months
SELECT ts FROM bid WATERMARK ts DELAY OF INTERVAL '1' MONTH;
ERROR line 1, column 42: the delay has months, and months differ in length. Use days, hours, minutes or seconds.
  SELECT ts FROM bid WATERMARK ts DELAY OF INTERVAL '1' MONTH
                                           ^^^^^^^^^^^^^^^^^^;
