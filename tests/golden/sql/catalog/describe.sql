-- every column of DESCRIBE; a key is NOT NULL
-- type: ts + INTERVAL '1' HOUR is TIMESTAMP_NTZ
-- type: ts - INTERVAL '5' SECOND is TIMESTAMP_NTZ
CREATE TABLE t (id BIGINT, Region STRING NOT NULL, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset' VIRTUAL, partition INT METADATA,
  pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (ID, region) NOT ENFORCED)
=>
name | type | null | key | extras | watermark
id | BIGINT | FALSE | PRI(id, Region) |  |
Region | STRING | FALSE | PRI(id, Region) |  |
ts | TIMESTAMP(3) *ROWTIME* | TRUE |  |  | ts - INTERVAL '5' SECOND
d | TIMESTAMP(6) | TRUE |  | AS ts + INTERVAL '1' HOUR |
o | BIGINT | TRUE |  | METADATA FROM 'offset' VIRTUAL |
partition | INT | TRUE |  | METADATA |
pt | TIMESTAMP_LTZ(3) *PROCTIME* | FALSE |  | AS PROCTIME() |
;
-- comments, if there is one
CREATE TABLE t (a INT NOT NULL COMMENT 'the a', b ROW<x INT NOT NULL, y TIMESTAMP_LTZ(3)>)
=>
name | type | null | key | extras | watermark | comment
a | INT | FALSE |  |  |  | the a
b | ROW<x INT NOT NULL, y TIMESTAMP_LTZ(3)> | TRUE |  |  |  |
;
-- a nested attribute stands at its column
-- type: e.ts - INTERVAL '5' SECOND is TIMESTAMP
CREATE TABLE t (e ROW<ts TIMESTAMP_LTZ(3), n INT>, WATERMARK FOR e.ts AS e.ts - INTERVAL '5' SECOND)
=>
name | type | null | key | extras | watermark
e | ROW<ts TIMESTAMP_LTZ(3), n INT> | TRUE |  |  | e.ts: e.ts - INTERVAL '5' SECOND
;
-- types of computed columns have SQL's names
-- type: a + 1 is INT
-- type: to_timestamp_ntz(s) is TIMESTAMP_NTZ
-- type: from_json(s, 'x') is struct<timestamp:timestamp,b:array<timestamp_ntz>,`a b`:binary>
-- type: map(s, a) is MAP<STRING, INT>
CREATE TABLE t (a INT, s STRING, b AS a + 1, c AS to_timestamp_ntz(s), d AS from_json(s, 'x'), e AS map(s, a))
=>
name | type | null | key | extras | watermark
a | INT | TRUE |  |  |
s | STRING | TRUE |  |  |
b | INT | TRUE |  | AS a + 1 |
c | TIMESTAMP(6) | TRUE |  | AS to_timestamp_ntz(s) |
d | ROW<timestamp TIMESTAMP_LTZ(6),b ARRAY<TIMESTAMP(6)>,`a b` BYTES> | TRUE |  | AS from_json(s, 'x') |
e | MAP<STRING, INT> | TRUE |  | AS map(s, a) |
;
-- the source's time
CREATE TABLE t (rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK())
=>
name | type | null | key | extras | watermark
rt | TIMESTAMP_LTZ(6) *ROWTIME* | TRUE |  | AS SYSTEM_ROWTIME() | SYSTEM_WATERMARK()
;
-- partition keys
CREATE TABLE t (a INT, dt STRING COMMENT 'day') PARTITIONED BY (DT) WITH ('connector' = 'filesystem')
=>
name | type | null | key | extras | watermark | comment
a | INT | TRUE |  |  |  |
dt | STRING | TRUE |  | PARTITION KEY |  | day
;
