-- a bound on the time attribute (replay 22)
CREATE TABLE t (a INT, b BIGINT, c TIMESTAMP(3), WATERMARK FOR c AS c - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[a, b, c], watermark=[c - INTERVAL '5' SECOND], watermarkEmitStrategy=[on-periodic])
;
-- the global idle timeout is the scan's (replay 22)
-- set: table.exec.source.idle-timeout = 1000 ms
CREATE TABLE t (a INT, c TIMESTAMP(3), WATERMARK FOR c AS c - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[a, c], watermark=[c - INTERVAL '5' SECOND], idletimeout=[1000], watermarkEmitStrategy=[on-periodic])
;
-- the table's own idle timeout wins over the global one
-- set: table.exec.source.idle-timeout = 1 s
CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json', 'scan.watermark.idle-timeout' = '60 s')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[c], watermark=[c], idletimeout=[60000], watermarkEmitStrategy=[on-periodic])
;
-- a hint of 0 turns idleness off over table and session (replay 29)
-- set: table.exec.source.idle-timeout = 1 s
-- hint: scan.watermark.idle-timeout = 0 s
CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json', 'scan.watermark.idle-timeout' = '1 min')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[c], watermark=[c], watermarkEmitStrategy=[on-periodic])
;
-- the hint's emit strategy wins over the table's (replay 29)
-- hint: scan.watermark.emit.strategy = on-event
CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json', 'scan.watermark.emit.strategy' = 'on-periodic')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[c], watermark=[c], watermarkEmitStrategy=[on-event])
;
-- an interval of 0 means on-event (FLIP-66)
-- set: pipeline.auto-watermark-interval = 0
CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[c], watermark=[c], watermarkEmitStrategy=[on-event])
;
-- alignment; the update interval is 1 s unless it is given
CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json', 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[c], watermark=[c], watermarkEmitStrategy=[on-periodic], watermarkAlignment=[g, 60000, 1000])
;
-- the source's own watermark (seed 000): its record time, and a millisecond before it
CREATE TABLE t (a INT, rowtime AS SYSTEM_ROWTIME(), WATERMARK FOR rowtime AS SYSTEM_WATERMARK())
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, _record_time AS rowtime])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a, _record_time], metadata=[timestamp], watermark=[SOURCE_WATERMARK()], watermarkEmitStrategy=[on-periodic])
;
-- two attributes: the watermark is held back behind both (seed 004)
CREATE TABLE t (created TIMESTAMP(3), shipped TIMESTAMP(3), WATERMARK FOR created AS created - INTERVAL '1' SECOND, WATERMARK FOR shipped AS shipped)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[created, shipped], watermark=[created - INTERVAL '1' SECOND, shipped], watermarkEmitStrategy=[on-periodic])
;
-- PROCTIME() of a table without WATERMARK: the clock is the watermark
CREATE TABLE t (a INT, pt AS PROCTIME())
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
Calc(select=[a, current_timestamp() AS pt])
+- TableSourceScan(table=[t], connector=[kafka], fields=[a], watermark=[current_timestamp()], watermarkEmitStrategy=[on-periodic])
;
-- an expression with a condition
CREATE TABLE t (ts TIMESTAMP_LTZ(3), done BOOLEAN, WATERMARK FOR ts AS CASE WHEN done THEN ts END)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[ts, done], watermark=[CASE WHEN done THEN ts END], watermarkEmitStrategy=[on-periodic])
;
-- exact late rows make on-event the default
-- set: table.exec.late-rows = exact
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[ts], watermark=[ts - INTERVAL '5' SECOND], watermarkEmitStrategy=[on-event])
;
-- does not fire: the source is Spark's
CREATE TABLE t (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT, WATERMARK FOR `timestamp` AS `timestamp` - INTERVAL '5' SECOND)
WITH ('connector' = 'rate')
=>
WatermarkAssigner(rowtime=[timestamp], watermark=[`timestamp` - INTERVAL '5' SECOND], notPushed=[the connector 'rate' makes no watermarks in its reader])
+- TableSourceScan(table=[t], connector=[rate], fields=[timestamp, value])
;
-- does not fire: files are Spark's too
CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'parquet', 'path' = '/data/orders')
=>
WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND], notPushed=[the connector 'parquet' makes no watermarks in its reader])
+- TableSourceScan(table=[t], connector=[parquet], fields=[a, ts])
;
-- does not fire: a month has no fixed length, and the reader leaves it to Spark
-- type: ts - INTERVAL '1' MONTH = TIMESTAMP_NTZ
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MONTH)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '1' MONTH], notPushed=[watermark.as: an interval of months or years has no fixed length. ts - INTERVAL '1' MONTH ^^^^^^^^^^^^^^^^^^ docs/expressions.md lists what the reader evaluates.])
+- TableSourceScan(table=[t], connector=[kafka], fields=[ts])
;
-- does not fire: there is no watermark
CREATE TABLE t (ts TIMESTAMP(3))
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[ts])
;
-- does not fire: a batch has no watermark
-- set: execution.runtime-mode = batch
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:9092', 'topic' = 'orders', 'format' = 'json')
=>
TableSourceScan(table=[t], connector=[kafka], fields=[ts])
;
