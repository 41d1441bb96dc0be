-- Counts per minute over two splits, one of which is behind the other. The watermark is made in the reader, split by
-- split, so the slow one holds the windows open and no order is lost.
--
--   tidemark sql -f examples/sql/late_partition.sql

SET 'execution.trigger' = 'available-now';

CREATE TABLE orders (
  id BIGINT,
  shop STRING,
  price INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'scripted',
  'path' = 'examples/sql/orders'
);

CREATE TABLE per_minute (
  window_start TIMESTAMP(3),
  orders BIGINT,
  turnover BIGINT
) WITH (
  'connector' = 'print'
);

EXPLAIN SELECT window_start, count(*), sum(price)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

INSERT INTO per_minute
SELECT window_start, count(*), sum(price)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
