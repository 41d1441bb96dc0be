CREATE TABLE Orders (
  `id` BIGINT NOT NULL COMMENT 'it''s the id',
  `odd ``name.` ROW<a INT NOT NULL, `b c` ARRAY<STRING>>,
  `price` DECIMAL(10, 2),
  `ts` TIMESTAMP(3),
  `f1` ROW<q1 INT, q2 TIMESTAMP_LTZ(3)>,
  `offset` BIGINT METADATA VIRTUAL,
  `read_from` INT METADATA FROM 'partition' COMMENT 'where',
  `d` AS ts + INTERVAL '1' HOUR COMMENT 'later',
  `pt` AS PROCTIME(),
  WATERMARK FOR `ts` AS ts - INTERVAL '5' SECOND,
  WATERMARK FOR `f1`.`q2` AS unix_millis(`f1`.`q2`) - 5000,
  CONSTRAINT `the key` PRIMARY KEY (`id`, `odd ``name.`) NOT ENFORCED
) COMMENT 'orders, with
two lines' WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.sasl.password' = '${env:KAFKA_PASSWORD}',
  'comment' = 'an option',
  'schema' = 'another',
  'k''ey' = 'back\\slash "é" 😀'
)
;
CREATE TABLE `Größe/../x y` WITH ('connector' = 'rate')
;
CREATE VIEW big_orders (`the id`, b) COMMENT 'a view' AS SELECT id, price -- both
FROM Orders WHERE price > 100
;
CREATE VIEW small AS SELECT 1
;
CREATE FUNCTION watermark_on_flag AS 'jobs.udf.watermark_on_flag' LANGUAGE PYTHON
;
