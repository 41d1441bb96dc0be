-- the one attribute that the statement names stays
-- needs: a, ts
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, ts])
;
-- of two attributes only the named one holds the watermark back (seed 004)
-- needs: a, created
CREATE TABLE t (a INT, created TIMESTAMP(3), shipped TIMESTAMP(3), WATERMARK FOR created AS created - INTERVAL '1' SECOND, WATERMARK FOR shipped AS shipped - INTERVAL '1' HOUR)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[created], watermark=[created - INTERVAL '1' SECOND])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, created, shipped])
;
-- both named: both count
-- needs: created, shipped
CREATE TABLE t (created TIMESTAMP(3), shipped TIMESTAMP(3), WATERMARK FOR created AS created, WATERMARK FOR shipped AS shipped)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[created, shipped], watermark=[created, shipped])
+- TableSourceScan(table=[t], connector=[kafka], fields=[created, shipped])
;
-- names are found whatever their case
-- needs: shipped
CREATE TABLE t (Created TIMESTAMP(3), Shipped TIMESTAMP(3), WATERMARK FOR Created AS Created, WATERMARK FOR Shipped AS Shipped)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[Shipped], watermark=[Shipped])
+- TableSourceScan(table=[t], connector=[kafka], fields=[Created, Shipped])
;
-- a nested attribute is named by its last name
-- needs: e, ts
CREATE TABLE t (e ROW<ts TIMESTAMP(3), n INT>, other TIMESTAMP(3), WATERMARK FOR e.ts AS e.ts, WATERMARK FOR other AS other)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[e.ts], watermark=[e.ts])
+- TableSourceScan(table=[t], connector=[kafka], fields=[e, other])
;
-- a nested attribute is named by the column that carries it
-- needs: e_ts
CREATE TABLE t (e ROW<ts TIMESTAMP(3), n INT>, other TIMESTAMP(3), WATERMARK FOR e.ts AS e.ts, WATERMARK FOR other AS other)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[e.ts], watermark=[e.ts])
+- TableSourceScan(table=[t], connector=[kafka], fields=[e, other])
;
-- does not fire: no attribute is named, so operators on the answer may follow any
-- needs: a
CREATE TABLE t (a INT, created TIMESTAMP(3), shipped TIMESTAMP(3), WATERMARK FOR created AS created, WATERMARK FOR shipped AS shipped)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[created, shipped], watermark=[created, shipped])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, created, shipped])
;
-- does not fire: there is no watermark
-- needs: a
CREATE TABLE t (a INT, ts TIMESTAMP(3))
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[a, ts])
;
-- does not fire: all columns are named
CREATE TABLE t (created TIMESTAMP(3), shipped TIMESTAMP(3), WATERMARK FOR created AS created, WATERMARK FOR shipped AS shipped)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[created, shipped], watermark=[created, shipped])
+- TableSourceScan(table=[t], connector=[kafka], fields=[created, shipped])
;
