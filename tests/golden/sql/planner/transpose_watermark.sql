-- through a computed column (replay 23)
CREATE TABLE t (a INT, c TIMESTAMP(3), d AS c + INTERVAL '5' SECOND, WATERMARK FOR d AS d - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, c, c + INTERVAL '5' SECOND AS d])
+- WatermarkAssigner(rowtime=[d], watermark=[(c + INTERVAL '5' SECOND) - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[a, c])
;
-- through a column made from text
CREATE TABLE t (a STRING, c AS to_timestamp_ntz(a), WATERMARK FOR c AS c - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, to_timestamp_ntz(a) AS c])
+- WatermarkAssigner(rowtime=[c], watermark=[(to_timestamp_ntz(a)) - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[a])
;
-- a computed column that leads into a struct (replay 23)
CREATE TABLE t (c ROW<d TIMESTAMP(3), f INT>, e AS c.d, WATERMARK FOR e AS e - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[c, c.d AS e])
+- WatermarkAssigner(rowtime=[e], watermark=[(c.d) - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[c])
;
-- deeper into a struct
CREATE TABLE t (c ROW<d ROW<f TIMESTAMP(3)>>, g AS c.d.f, WATERMARK FOR g AS g - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[c, c.d.f AS g])
+- WatermarkAssigner(rowtime=[g], watermark=[(c.d.f) - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[c])
;
-- through the cast of a metadata column (replay 24)
-- type: CAST(`metadata` AS BIGINT) + b = BIGINT
CREATE TABLE t (b BIGINT, c TIMESTAMP(3), metadata BIGINT METADATA FROM 'partition' VIRTUAL, computed AS metadata + b, WATERMARK FOR c AS c - INTERVAL '1' SECOND * (metadata + computed))
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[b, c, metadata, metadata + b AS computed])
+- Calc(select=[b, c, CAST(`metadata` AS BIGINT) AS metadata])
   +- WatermarkAssigner(rowtime=[c], watermark=[c - INTERVAL '1' SECOND * ((CAST(`metadata` AS BIGINT)) + ((CAST(`metadata` AS BIGINT)) + b))])
      +- TableSourceScan(table=[t], connector=[kafka], fields=[b, c, metadata], metadata=[partition])
;
-- through two computed columns
CREATE TABLE t (c TIMESTAMP(3), d AS c + INTERVAL '1' SECOND, e AS d + INTERVAL '1' SECOND, WATERMARK FOR e AS e - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[c, c + INTERVAL '1' SECOND AS d, (c + INTERVAL '1' SECOND) + INTERVAL '1' SECOND AS e])
+- WatermarkAssigner(rowtime=[e], watermark=[((c + INTERVAL '1' SECOND) + INTERVAL '1' SECOND) - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[c])
;
-- a metadata column is the attribute itself
CREATE TABLE t (a INT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, at])
+- Calc(select=[a, at])
   +- WatermarkAssigner(rowtime=[at], watermark=[at - INTERVAL '5' SECOND])
      +- TableSourceScan(table=[t], connector=[kafka], fields=[a, at], metadata=[timestamp])
;
-- does not fire: there is no projection below
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, ts])
;
-- does not fire: there is no watermark
CREATE TABLE t (a INT, ts TIMESTAMP(3), d AS a + 1)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, ts, a + 1 AS d])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, ts])
;
-- the expression stays as it is where it uses stored columns only
CREATE TABLE t (a INT, ts TIMESTAMP(3), d AS a + 1, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, ts, a + 1 AS d])
+- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND])
   +- TableSourceScan(table=[t], connector=[kafka], fields=[a, ts])
;
