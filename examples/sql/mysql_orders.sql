-- The turnover of each shop by the minute in which its orders were committed, from a MySQL table: first the orders that
-- are there, whose time is 1970, then every new one. The server's clock closes the minutes while no order comes.
--
--   export SHOP_DB_HOST=localhost SHOP_DB_PORT=3306 SHOP_DB_NAME=shop SHOP_DB_USER=reader SHOP_DB_PASSWORD=...
--   tidemark sql -f examples/sql/mysql_orders.sql

CREATE TABLE orders (
  id INT,
  shop STRING,
  price DECIMAL(10,2),
  kind STRING METADATA FROM 'row_kind',
  committed AS SYSTEM_ROWTIME(),
  WATERMARK FOR committed AS SYSTEM_WATERMARK()
) WITH (
  'connector' = 'mysql-cdc',
  'hostname' = '${env:SHOP_DB_HOST}',
  'port' = '${env:SHOP_DB_PORT}',
  'username' = '${env:SHOP_DB_USER}',
  'password' = '${env:SHOP_DB_PASSWORD}',
  'database-name' = '${env:SHOP_DB_NAME}',
  'table-name' = 'orders'
);

CREATE TABLE turnover (window_start TIMESTAMP_LTZ(3), shop STRING, total DECIMAL(20,2)) WITH ('connector' = 'print');

INSERT INTO turnover
SELECT window_start, shop, sum(price) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(committed), INTERVAL '1' MINUTE))
WHERE kind = '+I'
GROUP BY window_start, window_end, shop;
