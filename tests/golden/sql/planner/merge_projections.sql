-- a computed column over a metadata column
CREATE TABLE t (b BIGINT, p BIGINT METADATA FROM 'partition', c AS p + b)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[b, CAST(`p` AS BIGINT) AS p, (CAST(`p` AS BIGINT)) + b AS c])
+- TableSourceScan(table=[t], connector=[kafka], fields=[b, p], metadata=[partition])
;
-- the cast of a metadata column appears where it is named
CREATE TABLE t (b INT, p BIGINT METADATA FROM 'partition', q AS p * 2, r AS p * 3)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[b, CAST(`p` AS BIGINT) AS p, (CAST(`p` AS BIGINT)) * 2 AS q, (CAST(`p` AS BIGINT)) * 3 AS r])
+- TableSourceScan(table=[t], connector=[kafka], fields=[b, p], metadata=[partition])
;
-- a metadata column in the source's own type stays plain
CREATE TABLE t (b BIGINT, o BIGINT METADATA FROM 'offset', c AS o + b)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[b, o, o + b AS c])
+- TableSourceScan(table=[t], connector=[kafka], fields=[b, o], metadata=[offset])
;
-- below a WatermarkAssigner there is nothing left to merge once it was moved
CREATE TABLE t (b BIGINT, p BIGINT METADATA FROM 'partition', ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[b, CAST(`p` AS BIGINT) AS p, ts])
+- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[b, ts, p], metadata=[partition])
;
-- proctime beside metadata
CREATE TABLE t (b BIGINT, o BIGINT METADATA FROM 'offset', pt AS PROCTIME())
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[b, o, current_timestamp() AS pt])
+- WatermarkAssigner(rowtime=[pt], watermark=[current_timestamp()])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[b, o], metadata=[offset])
;
-- two metadata columns, one of them cast
CREATE TABLE t (o BIGINT METADATA FROM 'offset', p STRING METADATA FROM 'partition', label AS concat(p, '-', b), b STRING)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[o, CAST(`p` AS STRING) AS p, concat((CAST(`p` AS STRING)), '-', b) AS label, b])
+- TableSourceScan(table=[t], connector=[kafka], fields=[b, o, p], metadata=[offset, partition])
;
-- does not fire: one projection only
CREATE TABLE t (a INT, d AS a + 1)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, a + 1 AS d])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
-- does not fire: no projection
CREATE TABLE t (a INT)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
