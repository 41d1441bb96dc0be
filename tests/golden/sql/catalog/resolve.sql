-- replay 22: the column itself, five seconds behind
-- type: c - INTERVAL '5' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (a INT, b BIGINT, c TIMESTAMP(3), WATERMARK FOR c AS c - INTERVAL '5' SECOND)
=>
a INT
b BIGINT
c TIMESTAMP_NTZ
watermark c TIMESTAMP_NTZ: `c` -> c - INTERVAL '5' SECOND TIMESTAMP_NTZ [c - INTERVAL '5' SECOND]
;
-- replay 23: the attribute is computed; the expression is over the scan's columns
-- type: c + INTERVAL '5' SECOND is TIMESTAMP_NTZ
-- type: (c + INTERVAL '5' SECOND) - INTERVAL '5' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (a INT, c TIMESTAMP(3), d AS c + INTERVAL '5' SECOND, WATERMARK FOR d AS d - INTERVAL '5' SECOND)
=>
a INT
c TIMESTAMP_NTZ
d TIMESTAMP_NTZ = c + INTERVAL '5' SECOND
watermark d TIMESTAMP_NTZ: c + INTERVAL '5' SECOND -> (c + INTERVAL '5' SECOND) - INTERVAL '5' SECOND TIMESTAMP_NTZ [d - INTERVAL '5' SECOND]
;
-- replay 23: of text and number
-- type: to_timestamp_ntz(a, b) is TIMESTAMP_NTZ
-- type: (to_timestamp_ntz(a, b)) - INTERVAL '5' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (a STRING, b STRING, c AS to_timestamp_ntz(a, b), WATERMARK FOR c AS c - INTERVAL '5' SECOND)
=>
a STRING
b STRING
c TIMESTAMP_NTZ = to_timestamp_ntz(a, b)
watermark c TIMESTAMP_NTZ: to_timestamp_ntz(a, b) -> (to_timestamp_ntz(a, b)) - INTERVAL '5' SECOND TIMESTAMP_NTZ [c - INTERVAL '5' SECOND]
;
-- milliseconds; a cast in one column and another one in the next; TIMESTAMP is a wall clock
-- type: CASE WHEN (n) BETWEEN -62167219200000 AND 253402300799999 THEN timestamp_millis((n)) END is TIMESTAMP
-- type: timestamp_seconds(k) is TIMESTAMP
-- type: CAST((timestamp_seconds(k)) AS TIMESTAMP_NTZ) is TIMESTAMP_NTZ
-- type: CAST(s AS TIMESTAMP) is TIMESTAMP
-- type: ARRAY((CAST(s AS TIMESTAMP))) is ARRAY<TIMESTAMP>
-- type: TIMESTAMP_NTZ '2024-01-01 00:00:00' is TIMESTAMP_NTZ
CREATE TABLE t (n BIGINT, k INT, s STRING, a AS TO_TIMESTAMP_LTZ(n, 3), b AS to_timestamp_ltz(k, 0), c AS CAST(b AS TIMESTAMP), d AS CAST(s AS TIMESTAMP_LTZ), e AS ARRAY(d), f AS TIMESTAMP '2024-01-01 00:00:00')
=>
n BIGINT
k INT
s STRING
a TIMESTAMP = CASE WHEN (n) BETWEEN -62167219200000 AND 253402300799999 THEN timestamp_millis((n)) END
b TIMESTAMP = timestamp_seconds(k)
c TIMESTAMP_NTZ = CAST((timestamp_seconds(k)) AS TIMESTAMP_NTZ)
d TIMESTAMP = CAST(s AS TIMESTAMP)
e ARRAY<TIMESTAMP> = ARRAY((CAST(s AS TIMESTAMP)))
f TIMESTAMP_NTZ = TIMESTAMP_NTZ '2024-01-01 00:00:00'
;
-- replay 23: a field of a row, and a field of a row in it
-- type: c.d is STRUCT<f:TIMESTAMP_NTZ>
-- type: (c.d).f is TIMESTAMP_NTZ
-- type: ((c.d).f) - INTERVAL '5' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (c ROW<d ROW<f TIMESTAMP(3)>>, e AS c.d, g AS e.f, WATERMARK FOR g AS g - INTERVAL '5' SECOND)
=>
c STRUCT<d: STRUCT<f: TIMESTAMP_NTZ>>
e STRUCT<f:TIMESTAMP_NTZ> = c.d
g TIMESTAMP_NTZ = (c.d).f
watermark g TIMESTAMP_NTZ: (c.d).f -> ((c.d).f) - INTERVAL '5' SECOND TIMESTAMP_NTZ [g - INTERVAL '5' SECOND]
;
-- replay 23: functions around functions
-- type: f(c, a) is TIMESTAMP_NTZ
-- type: f(f((f(c, a)), a), a) is TIMESTAMP_NTZ
CREATE TABLE t (a INT, c TIMESTAMP(3), d AS f(c, a), WATERMARK FOR d AS f(f(d, a), a))
=>
a INT
c TIMESTAMP_NTZ
d TIMESTAMP_NTZ = f(c, a)
watermark d TIMESTAMP_NTZ: f(c, a) -> f(f((f(c, a)), a), a) TIMESTAMP_NTZ [f(f(d, a), a)]
;
-- replay 24: metadata in another type than the source's, and a column computed from it
-- type: CAST(__tidemark_cast_0 AS BIGINT) is BIGINT
-- type: metadata + b is BIGINT
-- type: c - make_dt_interval(0, 0, 0, metadata + (metadata + b)) is TIMESTAMP_NTZ
CREATE TABLE t (a INT, b BIGINT, c TIMESTAMP(3), metadata BIGINT METADATA FROM 'partition' VIRTUAL, computed AS metadata + b,
  WATERMARK FOR c AS c - make_dt_interval(0, 0, 0, metadata + computed))
=>
a INT
b BIGINT
c TIMESTAMP_NTZ
metadata BIGINT METADATA partition
computed BIGINT = metadata + b
metadata metadata <- partition INT
watermark c TIMESTAMP_NTZ: `c` -> c - make_dt_interval(0, 0, 0, metadata + (metadata + b)) TIMESTAMP_NTZ [c - make_dt_interval(0, 0, 0, metadata + computed)]
;
-- a nested attribute, where it stands
-- type: A.b.c - INTERVAL '1' SECOND is TIMESTAMP
CREATE TABLE t (a ROW<b ROW<C TIMESTAMP_LTZ(3) NOT NULL>>, WATERMARK FOR A.b.c AS A.b.c - INTERVAL '1' SECOND)
=>
a STRUCT<b: STRUCT<C: TIMESTAMP NOT NULL>>
watermark a.b.C TIMESTAMP: `a`.`b`.`C` -> A.b.c - INTERVAL '1' SECOND TIMESTAMP [A.b.c - INTERVAL '1' SECOND]
;
-- a nested attribute of a computed column
-- type: from_json(s, 'ts TIMESTAMP') is STRUCT<ts:TIMESTAMP>
-- type: (from_json(s, 'ts TIMESTAMP')).`ts` is TIMESTAMP
-- type: (from_json(s, 'ts TIMESTAMP')).ts is TIMESTAMP
CREATE TABLE t (s STRING, j AS from_json(s, 'ts TIMESTAMP'), WATERMARK FOR j.ts AS j.ts)
=>
s STRING
j STRUCT<ts:TIMESTAMP> = from_json(s, 'ts TIMESTAMP')
watermark j.ts TIMESTAMP: (from_json(s, 'ts TIMESTAMP')).`ts` -> (from_json(s, 'ts TIMESTAMP')).ts TIMESTAMP [j.ts]
;
-- several attributes; names are found whatever their case (FLIP-66's TIMESTAMP(6) as well)
-- type: created is TIMESTAMP_NTZ
-- type: SHIPPED - INTERVAL '1' HOUR is TIMESTAMP
CREATE TABLE t (Created TIMESTAMP(6), Shipped TIMESTAMP_LTZ(9), WATERMARK FOR created AS created, WATERMARK FOR SHIPPED AS SHIPPED - INTERVAL '1' HOUR)
=>
Created TIMESTAMP_NTZ
Shipped TIMESTAMP
watermark Created TIMESTAMP_NTZ: `Created` -> created TIMESTAMP_NTZ [created]
watermark Shipped TIMESTAMP: `Shipped` -> SHIPPED - INTERVAL '1' HOUR TIMESTAMP [SHIPPED - INTERVAL '1' HOUR]
;
-- a watermark in milliseconds since 1970 (FLIP-66)
-- type: unix_millis(ts) - 5000 is BIGINT
CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS unix_millis(ts) - 5000)
=>
ts TIMESTAMP
watermark ts TIMESTAMP: `ts` -> unix_millis(ts) - 5000 BIGINT [unix_millis(ts) - 5000]
;
-- the source's own time and watermarks (FLIP-66): the columns are the source's
CREATE TABLE t (a INT, rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK())
=>
a INT
rt TIMESTAMP = _source_time
watermark of the source rt TIMESTAMP: _source_time -> _source_time - INTERVAL '0.001' SECOND TIMESTAMP [SYSTEM_WATERMARK()]
;
-- Flink's name for them, and the source's time in another column
-- type: date_trunc('HOUR', (CAST(NULL AS TIMESTAMP))) is TIMESTAMP
CREATE TABLE t (rt AS system_rowtime( ), h AS date_trunc('HOUR', rt), WATERMARK FOR rt AS source_watermark())
=>
rt TIMESTAMP = _source_time
h TIMESTAMP = date_trunc('HOUR', (_source_time))
watermark of the source rt TIMESTAMP: _source_time -> _source_time - INTERVAL '0.001' SECOND TIMESTAMP [source_watermark()]
;
-- the source's time with a watermark of the user's
-- type: (CAST(NULL AS TIMESTAMP)) - INTERVAL '5' SECOND is TIMESTAMP
CREATE TABLE t (rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS rt - INTERVAL '5' SECOND)
=>
rt TIMESTAMP = _source_time
watermark rt TIMESTAMP: _source_time -> (_source_time) - INTERVAL '5' SECOND TIMESTAMP [rt - INTERVAL '5' SECOND]
;
-- processing time, by both names, and used in other columns
-- type: CAST((current_timestamp()) AS STRING) is STRING
-- type: hour(current_timestamp()) is INT
CREATE TABLE t (a INT, pt AS PROCTIME(), p2 AS SYSTEM_PROCTIME(), s AS CAST(pt AS STRING), h AS hour(proctime()))
=>
a INT
pt TIMESTAMP NOT NULL PROCTIME = current_timestamp()
p2 TIMESTAMP NOT NULL PROCTIME = current_timestamp()
s STRING = CAST((current_timestamp()) AS STRING)
h INT = hour(current_timestamp())
;
-- a computed column may name one that follows
-- type: (a + 1) * 2 is INT
-- type: a + 1 is INT
CREATE TABLE t (c AS b * 2, b AS a + 1, a INT)
=>
c INT = (a + 1) * 2
b INT = a + 1
a INT
;
-- a column of a function's name is the column
-- type: current_timestamp - INTERVAL '1' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (current_timestamp TIMESTAMP(3), now STRING, WATERMARK FOR current_timestamp AS current_timestamp - INTERVAL '1' SECOND)
=>
current_timestamp TIMESTAMP_NTZ
now STRING
watermark current_timestamp TIMESTAMP_NTZ: `current_timestamp` -> current_timestamp - INTERVAL '1' SECOND TIMESTAMP_NTZ [current_timestamp - INTERVAL '1' SECOND]
;
-- a clock with an argument is none
-- type: CAST(unix_timestamp(s) AS BIGINT) * 1000 is BIGINT
CREATE TABLE t (s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS CAST(unix_timestamp(s) AS BIGINT) * 1000)
=>
s STRING
ts TIMESTAMP_NTZ
watermark ts TIMESTAMP_NTZ: `ts` -> CAST(unix_timestamp(s) AS BIGINT) * 1000 BIGINT [CAST(unix_timestamp(s) AS BIGINT) * 1000]
;
-- text, fields and variables that look like columns are none; remarks stay
-- type: (b /* b */ + 1) + s.a + element_at(transform(xs, a -> a + a), 1) -- a\n + length('a') is INT
-- type: b /* b */ + 1 is INT
CREATE TABLE t (a AS b /* b */ + 1, b INT, s ROW<a INT>, xs ARRAY<INT>, c AS a + s.a + element_at(transform(xs, a -> a + a), 1) -- a
 + length('a'))
=>
a INT = b /* b */ + 1
b INT
s STRUCT<a: INT>
xs ARRAY<INT>
c INT = (b /* b */ + 1) + s.a + element_at(transform(xs, a -> a + a), 1) -- a
 + length('a')
;
-- a key; its columns keep the type that they are read with
CREATE TABLE t (id BIGINT, Region STRING NOT NULL, v INT, CONSTRAINT pk PRIMARY KEY (ID, region) NOT ENFORCED)
=>
id BIGINT
Region STRING NOT NULL
v INT
key id, Region
;
-- every type
CREATE TABLE t (a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(10, 2), i CHAR(3), j VARCHAR(9), k STRING, l BINARY(2), m BYTES, n DATE,
  o TIMESTAMP(3), p TIMESTAMP_LTZ(3), q ARRAY<INT>, r MAP<STRING, INT>, s MULTISET<STRING>, u ROW<x INT NOT NULL, `odd name` STRING> NOT NULL)
=>
a BOOLEAN
b TINYINT
c SMALLINT
d INT
e BIGINT
f FLOAT
g DOUBLE
h DECIMAL(10, 2)
i STRING
j STRING
k STRING
l BINARY
m BINARY
n DATE
o TIMESTAMP_NTZ
p TIMESTAMP
q ARRAY<INT>
r MAP<STRING, INT>
s MAP<STRING, INT>
u STRUCT<x: INT NOT NULL, `odd name`: STRING> NOT NULL
;
-- a name in backquotes
-- type: `a b` - INTERVAL '1' SECOND is TIMESTAMP_NTZ
-- type: `d``e` + 1 is INT
CREATE TABLE t (`a b` TIMESTAMP(3), `d``e` INT, f AS `d``e` + 1, WATERMARK FOR `a b` AS `a b` - INTERVAL '1' SECOND)
=>
a b TIMESTAMP_NTZ
d`e INT
f INT = `d``e` + 1
watermark a b TIMESTAMP_NTZ: `a b` -> `a b` - INTERVAL '1' SECOND TIMESTAMP_NTZ [`a b` - INTERVAL '1' SECOND]
;
-- a metadata column is an attribute, without its key and with it
-- type: timestamp is TIMESTAMP
-- type: CAST(__tidemark_cast_0 AS TIMESTAMP_NTZ) is TIMESTAMP_NTZ
-- type: ts - INTERVAL '1' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (timestamp TIMESTAMP_LTZ(3) METADATA, ts TIMESTAMP(3) METADATA FROM 'timestamp', WATERMARK FOR timestamp AS timestamp, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
=>
timestamp TIMESTAMP METADATA timestamp
ts TIMESTAMP_NTZ METADATA timestamp
metadata timestamp <- timestamp TIMESTAMP
metadata ts <- timestamp TIMESTAMP
watermark timestamp TIMESTAMP: `timestamp` -> timestamp TIMESTAMP [timestamp]
watermark ts TIMESTAMP_NTZ: `ts` -> ts - INTERVAL '1' SECOND TIMESTAMP_NTZ [ts - INTERVAL '1' SECOND]
;
-- no columns: the source knows them
CREATE TABLE t WITH ('connector' = 'rate')
=>
(no columns)
;
