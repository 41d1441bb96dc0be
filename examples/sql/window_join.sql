-- Orders and clicks of the same shop and minute. Both sources are aligned: neither runs ahead of the other by more than
-- 30 seconds of event time, so the join's state stays small.
--
--   tidemark sql -f examples/sql/window_join.sql

SET 'execution.trigger' = 'available-now';

CREATE TABLE orders (
  id BIGINT,
  shop STRING,
  price INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'scripted',
  'path' = 'examples/sql/orders',
  'scan.watermark.alignment.group' = 'shops',
  'scan.watermark.alignment.max-drift' = '30 s'
);

CREATE TABLE clicks (
  shop STRING,
  page STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'scripted',
  'path' = 'examples/sql/clicks',
  'scan.watermark.alignment.group' = 'shops',
  'scan.watermark.alignment.max-drift' = '30 s'
);

CREATE TABLE bought (window_start TIMESTAMP(3), shop STRING, id BIGINT, page STRING) WITH ('connector' = 'print');

INSERT INTO bought
SELECT o.window_start, o.shop, o.id, c.page
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) o
JOIN TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) c
  ON o.shop = c.shop AND o.window_start = c.window_start AND o.window_end = c.window_end;
