-- columns that nobody names are not read
-- needs: a
CREATE TABLE t (a INT, b BIGINT, c STRING)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
-- what only the watermark needs is the scan's own affair
-- needs: a
CREATE TABLE t (a INT, b BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a], watermark=[ts - INTERVAL '5' SECOND], watermarkEmitStrategy=[on-periodic])
;
-- what a named computed column is made of is read
-- needs: d
CREATE TABLE t (a INT, b BIGINT, c STRING, d AS a + b)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a + b AS d])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, b])
;
-- a computed column that nobody names reads nothing
-- needs: a
CREATE TABLE t (a INT, b BIGINT, c STRING, d AS b + 1)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
-- metadata columns as well
-- needs: a
CREATE TABLE t (a INT, b INT, p BIGINT METADATA FROM 'partition', o BIGINT METADATA FROM 'offset')
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a], metadata=[partition, offset])
;
-- above a WatermarkAssigner that Spark runs its columns are read
-- needs: a
CREATE TABLE t (a INT, b BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'parquet', 'path' = '/data/orders')
=>
Calc(select=[a])
+- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND], notPushed=[the connector 'parquet' makes no watermarks in its reader])
   +- TableSourceScan(table=[t], connector=[parquet], fields=[a, ts])
;
-- count(*) needs no column
-- needs: count
CREATE TABLE t (a INT, b BIGINT)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
-- a struct is read as a whole
-- needs: s, x
CREATE TABLE t (a INT, s ROW<x INT, y INT>)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[s])
+- TableSourceScan(table=[t], connector=[kafka], fields=[s])
;
-- does not fire: every column is named
-- needs: a, b
CREATE TABLE t (a INT, b BIGINT)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, b])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, b])
;
-- does not fire: SELECT *
CREATE TABLE t (a INT, b BIGINT, c STRING)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[a, b, c])
;
