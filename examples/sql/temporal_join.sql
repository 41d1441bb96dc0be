-- Each order with the fee that its shop paid when it came in. Fees change, and one of them ends; a row says so in the
-- column row_kind, which MySQL tables and changelog topics have of themselves.
--
--   tidemark sql -f examples/sql/temporal_join.sql

SET 'execution.trigger' = 'available-now';

CREATE TABLE orders (
  id BIGINT,
  shop STRING,
  price INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'scripted',
  'path' = 'examples/sql/orders',
  'scripted.bounded' = 'true'
);

CREATE TABLE fees (
  row_kind STRING,
  shop STRING,
  fee INT,
  since TIMESTAMP(3),
  WATERMARK FOR since AS since,
  PRIMARY KEY (shop) NOT ENFORCED
) WITH (
  'connector' = 'scripted',
  'path' = 'examples/sql/fees',
  'scripted.bounded' = 'true'
);

CREATE TABLE charged (id BIGINT, shop STRING, ts TIMESTAMP(3), fee INT) WITH ('connector' = 'print');

EXPLAIN SELECT o.id, f.fee
FROM orders AS o
LEFT JOIN fees FOR SYSTEM_TIME AS OF o.ts AS f ON o.shop = f.shop;

INSERT INTO charged
SELECT o.id, o.shop, o.ts, f.fee
FROM orders AS o
LEFT JOIN fees FOR SYSTEM_TIME AS OF o.ts AS f ON o.shop = f.shop;
