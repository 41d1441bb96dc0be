-- everything that a table can have
create table if not exists Orders (id bigint not null comment 'it''s "the" id', `odd ``name` row<a int, `b c` array<string not null>>, ts timestamp(3), l timestamp(3) with local time zone,
  o bigint metadata from 'offset' virtual comment 'where', partition int metadata, d as ts + interval '1' hour comment 'later', watermark for ts as ts - interval '5' second,
  constraint pk primary key (id, `odd ``name`) not enforced) comment 'orders' with ('connector' = 'kafka', 'topic' = 'a')
=>
CREATE TABLE Orders (
  id BIGINT NOT NULL COMMENT 'it''s "the" id',
  `odd ``name` ROW<a INT, `b c` ARRAY<STRING NOT NULL>>,
  ts TIMESTAMP(3),
  l TIMESTAMP_LTZ(3),
  o BIGINT METADATA FROM 'offset' VIRTUAL COMMENT 'where',
  partition INT METADATA,
  d AS ts + interval '1' hour COMMENT 'later',
  WATERMARK FOR ts AS ts - interval '5' second,
  CONSTRAINT pk PRIMARY KEY (id, `odd ``name`) NOT ENFORCED
) COMMENT 'orders' WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- a nested attribute and a second one
CREATE TABLE t (a ROW<b ROW<c TIMESTAMP(3)>>, `d e` TIMESTAMP_LTZ(3), WATERMARK FOR a.b.c AS a.b.c, WATERMARK FOR `d e` AS `d e` - INTERVAL '1' SECOND)
=>
CREATE TABLE t (
  a ROW<b ROW<c TIMESTAMP(3)>>,
  `d e` TIMESTAMP_LTZ(3),
  WATERMARK FOR a.b.c AS a.b.c,
  WATERMARK FOR `d e` AS `d e` - INTERVAL '1' SECOND
)
;
-- no columns
CREATE TEMPORARY TABLE t WITH ('connector' = 'rate')
=>
CREATE TEMPORARY TABLE t WITH (
  'connector' = 'rate'
)
;
-- no options
CREATE TABLE t (a INT)
=>
CREATE TABLE t (
  a INT
)
;
-- characters that have to be escaped
CREATE TABLE t (a INT COMMENT 'tab\tline\nback\\slash ''quote'' "double" é 😀') COMMENT '' WITH ('k''ey' = 'v\\''alue', 'pattern' = r'\d+')
=>
CREATE TABLE t (
  a INT COMMENT 'tab	line
back\\slash ''quote'' "double" é 😀'
) COMMENT '' WITH (
  'k''ey' = 'v\\''alue',
  'pattern' = '\\d+'
)
;
-- secrets by name stay as they are
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'properties.sasl.password' = '${env:PW}', 'properties.ssl.key.pem' = '${file:/run/key.pem}')
=>
CREATE TABLE t (
  a INT
) WITH (
  'connector' = 'kafka',
  'properties.sasl.password' = '${env:PW}',
  'properties.ssl.key.pem' = '${file:/run/key.pem}'
)
;
-- secrets that were written out are not shown
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'properties.sasl.password' = 'hunter2', 'properties.ssl.key.password' = 'x${env:PW}', 'topic' = 'hunter')
=>
CREATE TABLE t (
  a INT
) WITH (
  'connector' = 'kafka',
  'properties.sasl.password' = '******',
  'properties.ssl.key.password' = '******',
  'topic' = 'hunter'
)
;
-- an expression over several lines, with remarks
CREATE TABLE t (a INT, b AS a -- first
  + /* second */ 1 -- third
  , WATERMARK FOR c AS c -- fourth
  - INTERVAL '1' SECOND, c TIMESTAMP(3))
=>
CREATE TABLE t (
  a INT,
  b AS a -- first
  + /* second */ 1,
  c TIMESTAMP(3),
  WATERMARK FOR c AS c -- fourth
  - INTERVAL '1' SECOND
)
;
-- types in every spelling
CREATE TABLE t (a INTEGER, b LONG, c DECIMAL, d NUMERIC(5), e VARCHAR, f CHAR(3), g VARBINARY(4), h TIMESTAMP, i TIMESTAMP_LTZ, j MAP<STRING, ARRAY<INT>>, k MULTISET<INT>, l STRUCT<x: INT, y: STRING NOT NULL>, m DOUBLE PRECISION)
=>
CREATE TABLE t (
  a INT,
  b BIGINT,
  c DECIMAL,
  d DECIMAL(5),
  e VARCHAR,
  f CHAR(3),
  g VARBINARY(4),
  h TIMESTAMP,
  i TIMESTAMP_LTZ,
  j MAP<STRING, ARRAY<INT>>,
  k MULTISET<INT>,
  l ROW<x INT, y STRING NOT NULL>,
  m DOUBLE
)
;
-- a table in a database
CREATE TABLE shop.orders (a INT)
=>
CREATE TABLE shop.orders (
  a INT
)
;
-- a name with a dot
CREATE TABLE `shop.orders` (a INT)
=>
CREATE TABLE `shop.orders` (
  a INT
)
;
-- a name with a blank and a backquote
CREATE TABLE `my ``table` (a INT)
=>
CREATE TABLE `my ``table` (
  a INT
)
;
-- a view: the query stays as it was written
CREATE  VIEW v AS  SELECT a,  -- the a
  b FROM t WHERE c = 'it''s'
=>
CREATE VIEW v AS SELECT a,  -- the a
  b FROM t WHERE c = 'it''s'
;
-- a view with names, a comment, for a session
CREATE TEMPORARY VIEW v (x, `y z`) COMMENT 'two' AS SELECT 1, 2
=>
CREATE TEMPORARY VIEW v (x, `y z`) COMMENT 'two' AS SELECT 1, 2
;
-- a function
CREATE FUNCTION watermarkOnFlag AS 'jobs.udf.watermark_on_flag' LANGUAGE PYTHON
=>
CREATE FUNCTION watermarkOnFlag AS 'jobs.udf.watermark_on_flag' LANGUAGE PYTHON
;
-- a function for a session
CREATE TEMPORARY FUNCTION f AS 'jobs.udf.f' LANGUAGE PYTHON
=>
CREATE TEMPORARY FUNCTION f AS 'jobs.udf.f' LANGUAGE PYTHON
;
-- partition keys
CREATE TABLE t (a INT, `d t` STRING) COMMENT 'x' PARTITIONED BY (`d t`) WITH ('connector' = 'filesystem')
=>
CREATE TABLE t (
  a INT,
  `d t` STRING
) COMMENT 'x' PARTITIONED BY (`d t`) WITH (
  'connector' = 'filesystem'
)
;
