-- FLIP-66, "Support Time Attribute in SQL DDL". A block: the document's text, why it is no SQL of ours as it stands, and what is run.
-- {broker} and {topic} stand for the test's own.

-- name: watermark syntax
-- as written
CREATE TABLE table_name (
  WATERMARK FOR columnName AS <watermark_strategy_expression>
) WITH (
-- repaired: a template: the expression is a placeholder, and the text is cut at WITH
-- as run
CREATE TABLE table_name (
  columnName TIMESTAMP(3),
  WATERMARK FOR columnName AS columnName
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"columnName": "2026-03-02 09:00:00"}}
-- answer: SELECT count(*) AS n FROM table_name => 1

-- name: bounded out of orderness
-- as written
CREATE TABLE kafka_source (
  user_id STRING,
  log_ts TIMESTAMP(3),
  ingestion_ts TIMESTAMP(3),
) WITH (
-- repaired: the WATERMARK clause that the text below it describes is missing, and the text is cut at WITH
-- as run
CREATE TABLE kafka_source (
  user_id STRING,
  log_ts TIMESTAMP(3),
  ingestion_ts TIMESTAMP(3),
  WATERMARK FOR log_ts AS log_ts - INTERVAL '5' SECOND,
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_id": "a", "log_ts": "2026-03-02 09:00:00", "ingestion_ts": "2026-03-02 09:00:01"}}
-- answer: SELECT user_id FROM kafka_source => a

-- name: preserve watermark from source
-- as written
  rowtime AS SYSTEM_ROWTIME(),
) WITH (
-- repaired: the lines around these two are missing
-- as run
CREATE TABLE kafka_source (
  user_id STRING,
  rowtime AS SYSTEM_ROWTIME(),
  WATERMARK FOR rowtime AS SYSTEM_WATERMARK()
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_id": "a"}}
-- answer: SELECT user_id FROM kafka_source WHERE rowtime IS NOT NULL => a

-- name: complex watermark strategies
-- as written
  log_ts TIMESTAMP(3),
  flag BOOLEAN,
  WATERMARK FOR log_ts AS watermarkOnFlag(log_ts, flag)
) WITH (
-- repaired: the first line is missing and the text is cut at WITH; the function is Python's
-- as run
CREATE TABLE kafka_source (
  log_ts TIMESTAMP(3),
  flag BOOLEAN,
  WATERMARK FOR log_ts AS watermarkOnFlag(log_ts, flag)
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"log_ts": "2026-03-02 09:00:00", "flag": true}}
-- answer: SELECT flag FROM kafka_source => True

-- name: nested rowtime
-- as written
CREATE TABLE kafka_source (
  order_id STRING,
  event ROW<log_ts TIMESTAMP(3), message STRING, type INT>,
  WATERMARK FOR event.log_ts AS event.log_ts - '5' SECOND
) WITH (
-- repaired: cut at WITH; '5' SECOND without INTERVAL is accepted with a hint
-- as run
CREATE TABLE kafka_source (
  order_id STRING,
  event ROW<log_ts TIMESTAMP(3), message STRING, type INT>,
  WATERMARK FOR event.log_ts AS event.log_ts - '5' SECOND
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"order_id": "o1", "event": {{"log_ts": "2026-03-02 09:00:00", "message": "m", "type": 1}}}}
-- answer: SELECT order_id, event.type FROM kafka_source => o1, 1

-- name: rowtime from text
-- as written
CREATE TABLE kafka_source (
  order_id STRING,
  ts STRING,
  -- to_timestamp can be a built-in function or UDF
  rowtime AS to_timestamp(ts), 
  WATERMARK FOR rowtime AS rowtime - '5' SECOND
) WITH (
-- repaired: cut at WITH
-- as run
CREATE TABLE kafka_source (
  order_id STRING,
  ts STRING,
  -- to_timestamp can be a built-in function or UDF
  rowtime AS to_timestamp(ts), 
  WATERMARK FOR rowtime AS rowtime - '5' SECOND
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"order_id": "o1", "ts": "2026-03-02 09:00:00"}}
-- answer: SELECT order_id FROM kafka_source WHERE rowtime = TIMESTAMP '2026-03-02 09:00:00' => o1

-- name: proctime attribute
-- as written
pt as SYSTEM_PROCTIME()
-- repaired: a clause of a table, not a statement
-- as run
CREATE TABLE kafka_source (
  order_id STRING,
  pt as SYSTEM_PROCTIME()
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"order_id": "o1"}}
-- answer: SELECT order_id FROM kafka_source WHERE pt IS NOT NULL => o1

-- name: the properties' example
-- as written
WATERMARK FOR f1.q2 AS f1.q2 - INTERVAL '5' SECOND
-- repaired: a clause of a table, not a statement
-- as run
CREATE TABLE t (
  f1 ROW<q1 INT, q2 TIMESTAMP(3)>,
  WATERMARK FOR f1.q2 AS f1.q2 - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"f1": {{"q1": 3, "q2": "2026-03-02 09:00:00"}}}}
-- answer: SELECT f1.q1 FROM t => 3
