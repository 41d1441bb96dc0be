-- FLIP-296, watermark options in SQL.

-- name: monotonously increasing timestamps
-- as written
CREATE TABLE user_actions (
  user_name STRING,
  `data` STRING,
  current_time as proctime(),
  WATERMARK FOR current_time AS current_time
) WITH (
  ...
);
-- refused: a processing time has no watermark, in Flink neither
-- as run
CREATE TABLE user_actions (
  user_name STRING,
  `data` STRING,
  current_time as proctime(),
  WATERMARK FOR current_time AS current_time
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json')
-- error: current_time

-- name: fixed amount of lateness
-- as written
CREATE TABLE user_actions (
  user_name STRING,
  `data` STRING,
  user_action_time TIMESTAMP(3),
  -- declare user_action_time as event time attribute and use 5 seconds delayed watermark strategy
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
  ...
);
-- repaired: the options are left out
-- as run
CREATE TABLE user_actions (
  user_name STRING,
  `data` STRING,
  user_action_time TIMESTAMP(3),
  -- declare user_action_time as event time attribute and use 5 seconds delayed watermark strategy
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_name": "u", "data": "d", "user_action_time": "2026-03-02 09:00:00"}}
-- answer: SELECT user_name, `data` FROM user_actions => u, d

-- name: emit strategy by table option
-- as written
-- configure in table options
CREATE TABLE user_actions (
  ...
  user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
  'scan.watermark.emit.strategy'='on-periodic',
  ...
);
-- repaired: columns and options are left out
-- as run
CREATE TABLE user_actions (
  user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
  'scan.watermark.emit.strategy'='on-periodic',
  'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_action_time": "2026-03-02 09:00:00"}}
-- answer: SELECT count(*) AS n FROM user_actions /*+ OPTIONS('scan.watermark.emit.strategy'='on-periodic') */ => 1

-- name: emit strategy on-event, by option and by hint
-- as written
-- configure in table options
CREATE TABLE user_actions (
  ...
  user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (   
  'scan.watermark.emit.strategy'='on-event'
  ...
);
-- repaired: columns and options are left out
-- as run
CREATE TABLE user_actions (
  user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (   
  'scan.watermark.emit.strategy'='on-event',
  'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_action_time": "2026-03-02 09:00:00"}}
-- answer: SELECT count(*) AS n FROM user_actions /*+ OPTIONS('scan.watermark.emit.strategy'='on-event') */ => 1

-- name: idle sources
-- as written
-- configure in table options
CREATE TABLE user_actions (
  ...
  user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
  'scan.watermark.idle-timeout'='1min',
  ...
);
-- repaired: columns and options are left out
-- as run
CREATE TABLE user_actions (
  user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
  'scan.watermark.idle-timeout'='1min',
  'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_action_time": "2026-03-02 09:00:00"}}
-- answer: SELECT count(*) AS n FROM user_actions /*+ OPTIONS('scan.watermark.idle-timeout'='1min') */ => 1

-- name: watermark alignment
-- as written
-- configure in table options
CREATE TABLE user_actions (
...
user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
'scan.watermark.alignment.group'='alignment-group-1',
'scan.watermark.alignment.max-drift'='1min',
'scan.watermark.alignment.update-interval'='1s',
...
);
-- repaired: columns and options are left out
-- as run
CREATE TABLE user_actions (
user_action_time TIMESTAMP(3),
  WATERMARK FOR user_action_time AS user_action_time - INTERVAL '5' SECOND
) WITH (
'scan.watermark.alignment.group'='alignment-group-1',
'scan.watermark.alignment.max-drift'='1min',
'scan.watermark.alignment.update-interval'='1s',
  'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'topic' = '{topic}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')
-- rows: {{"user_action_time": "2026-03-02 09:00:00"}}
-- answer: SELECT count(*) AS n FROM user_actions /*+ OPTIONS('scan.watermark.alignment.group'='alignment-group-1', 'scan.watermark.alignment.max-drift'='1min', 'scan.watermark.alignment.update-interval'='1s') */ => 1
