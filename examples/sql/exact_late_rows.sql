-- The same windows with late rows judged one by one, as Flink judges them: the result does not depend on how rows fall
-- into batches. CURRENT_WATERMARK shows the rows that were too late.
--
--   tidemark sql -f examples/sql/exact_late_rows.sql

SET 'execution.trigger' = 'available-now';
SET 'table.exec.late-rows' = 'exact';

CREATE TABLE orders (
  id BIGINT,
  shop STRING,
  price INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'scripted',
  'path' = 'examples/sql/orders',
  'scan.max-rows-per-batch' = '6'
);

CREATE TABLE late_orders (id BIGINT, shop STRING, ts TIMESTAMP(3), watermark TIMESTAMP(3)) WITH ('connector' = 'print');

CREATE TABLE best_orders (window_start TIMESTAMP(3), shop STRING, id BIGINT, price INT) WITH ('connector' = 'print');

INSERT INTO late_orders
SELECT id, shop, ts, CURRENT_WATERMARK(ts)
FROM orders
WHERE ts <= CURRENT_WATERMARK(ts);

-- The dearest order of every shop and half minute.
INSERT INTO best_orders
SELECT window_start, shop, id, price
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, shop ORDER BY price DESC, id) AS rank
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND))
)
WHERE rank = 1;
