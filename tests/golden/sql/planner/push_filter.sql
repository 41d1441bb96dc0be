-- a condition on a stored column
-- needs: a, b
-- filter: a > 3
CREATE TABLE t (a INT, b BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, b])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, b], filter=[a > 3], watermark=[ts - INTERVAL '5' SECOND], watermarkEmitStrategy=[on-periodic])
;
-- the watermark sees the rows before the condition; both are the scan's
-- needs: a, ts
-- filter: a = 1 AND ts IS NOT NULL
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, ts])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, ts], filter=[a = 1 AND ts IS NOT NULL], watermark=[ts - INTERVAL '5' SECOND], watermarkEmitStrategy=[on-periodic])
;
-- a condition on a computed column, in terms of what it is made of
-- needs: a, d
-- filter: d > 10
CREATE TABLE t (a INT, d AS a + 1)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, a + 1 AS d])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a], filter=[(a + 1) > 10])
;
-- a condition on metadata
-- needs: a, p
-- filter: p = 0
CREATE TABLE t (a INT, p INT METADATA FROM 'partition')
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, p])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, p], metadata=[partition], filter=[p = 0])
;
-- a condition on text
-- needs: a, b
-- filter: b LIKE 'x%'
CREATE TABLE t (a INT, b STRING, c STRING)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, b])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, b], filter=[b LIKE 'x%'])
;
-- in a batch too
-- set: execution.runtime-mode = batch
-- needs: a
-- filter: a > 3
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a], filter=[a > 3])
;
-- does not fire: the reader cannot evaluate it with Spark's own result
-- needs: a, b
-- filter: soundex(b) = 'M460'
CREATE TABLE t (a INT, b STRING)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, b])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, b])
;
-- does not fire: below a WatermarkAssigner that Spark runs the watermark would miss rows
-- needs: a, ts
-- filter: a > 3
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'parquet', 'path' = '/data/orders')
=>
Calc(select=[a, ts])
+- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND], notPushed=[the connector 'parquet' makes no watermarks in its reader])
   +- TableSourceScan(table=[t], connector=[parquet], fields=[a, ts])
;
-- does not fire: there is no condition
-- needs: a
CREATE TABLE t (a INT, b INT)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
-- does not fire: the source is Spark's
-- needs: a
-- filter: a > 3
CREATE TABLE t (a INT)
WITH ('connector' = 'parquet', 'path' = '/data/orders')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[parquet], fields=[a])
;
