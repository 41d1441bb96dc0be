"""The main promises on a real broker and a real Spark: what Spark loses Tidemark keeps, through crashes and silences."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from datasources import read_stream, register, with_source_watermark
from tests.support.forms import full
from tests.support.kafka.kafka_orders import (
    BASE,
    DEADLINE_S,
    MINUTE,
    iso,
    minute_counts,
    order,
    orders,
    start,
    wait_until,
)
from tests.support.project import ROOT
from tests.support.spark.scripted_stream import process_all

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


def watermark_of(query) -> str:
    progress = [p for p in query.recentProgress if p.eventTime]
    return progress[-1].eventTime["watermark"] if progress else ""


def test_a_partition_ten_minutes_behind_loses_no_row_while_sparks_own_watermark_does(kafka, spark, tmp_path):
    """The reason for Tidemark, on one topic: the same rows, the same windows, two watermarks."""
    topic = kafka.create_topic(partitions=2)
    plain = {k: v for k, v in orders(kafka, topic).items() if not k.startswith("watermark")}
    spark_side = read_stream(spark, "tidemark-kafka", plain).withWatermark("ts", "5 seconds")
    spark_query, spark_found = start(minute_counts(spark_side), tmp_path, "spark")
    query, found = start(minute_counts(read_stream(spark, "tidemark-kafka", orders(kafka, topic))), tmp_path, "ours")
    try:
        for wave in range(3):  # partition 0 is current, partition 1 ten minutes behind
            ahead = [order(wave * 100 + n, BASE + (10 + wave) * MINUTE + n * 1_000) for n in range(60)]
            behind = [order(1_000 + wave * 100 + n, BASE + wave * MINUTE + n * 1_000) for n in range(60)]
            kafka.produce(topic, 0, ahead)
            for running in (query, spark_query):
                process_all(running)
            kafka.produce(topic, 1, behind)
            for running in (query, spark_query):
                process_all(running)
        end = BASE + 30 * MINUTE
        kafka.produce(topic, 0, [order(9_000, end)])
        kafka.produce(topic, 1, [order(9_001, end)])
        wait_until(lambda: 12 in found and 12 in spark_found, query)
    finally:
        query.stop()
        spark_query.stop()
    truth = {0: 60, 1: 60, 2: 60, 10: 60, 11: 60, 12: 60}
    assert found == truth
    lost = sum(truth.values()) - sum(n for minute, n in spark_found.items() if minute in truth)
    assert lost == 180  # every row of the slow partition
    dropped = sum(s.numRowsDroppedByWatermark for p in spark_query.recentProgress for s in p.stateOperators)
    assert 0 < dropped < lost  # Spark's own figure counts groups after partial aggregation


def test_an_idle_partition_is_excluded_after_its_timeout_and_holds_again_at_once(kafka, spark, tmp_path):
    topic = kafka.create_topic(partitions=2)
    options = orders(kafka, topic) | {
        "scan.watermark.idle-timeout": "25 s"
    }  # longer than two batches ever take, a JVM's first ones too
    query, found = start(minute_counts(read_stream(spark, "tidemark-kafka", options)), tmp_path)
    try:
        kafka.produce(topic, 0, [order(n, BASE + n * 10_000) for n in range(18)])  # three minutes; partition 1: nothing
        process_all(query)
        assert found == {}
        wait_until(lambda: set(found) == {0, 1}, query)  # up to 2:50 - 5 s: heartbeats closed two windows, no new data
        kafka.produce(topic, 1, [order(100, BASE + 2 * MINUTE + 1_000)])  # partition 1 is back, within minute 2
        process_all(query)
        kafka.produce(topic, 0, [order(200, BASE + 9 * MINUTE)])
        process_all(query)
        assert 2 not in found  # partition 1 holds again although partition 0 is far ahead
        kafka.produce(topic, 1, [order(101, BASE + 9 * MINUTE)])
        wait_until(lambda: 2 in found, query)
        assert found == {0: 6, 1: 6, 2: 7}
    finally:
        query.stop()


def test_heartbeats_close_the_windows_with_no_further_data(kafka, spark, tmp_path):
    topic = kafka.create_topic(partitions=2)
    for partition in (0, 1):
        kafka.produce(topic, partition, [order(n, BASE + n * 1_000) for n in range(120)])
    query, found = start(minute_counts(read_stream(spark, "tidemark-kafka", orders(kafka, topic))), tmp_path)
    try:
        wait_until(lambda: 0 in found, query)
        process_all(query)  # a batch's progress is reported after its rows
        assert found == {0: 120}
        assert watermark_of(query) == iso(BASE + 114_000).replace("000Z", "Z")
    finally:
        query.stop()


@pytest.mark.long
def test_available_now_emits_what_the_watermark_passed_and_the_next_run_loses_nothing(kafka, spark, tmp_path):
    topic = kafka.create_topic(partitions=2)
    df = minute_counts(read_stream(spark, "tidemark-kafka", orders(kafka, topic)))
    for partition in (0, 1):
        kafka.produce(topic, partition, [order(n, BASE + n * 1_000) for n in range(90)])
    query, first = start(df, tmp_path, availableNow=True)
    assert query.awaitTermination(DEADLINE_S)
    assert first == {0: 120}  # minute 1 is still open: it stays in the checkpoint
    kafka.produce(topic, 0, [order(n, BASE + n * 1_000) for n in range(90, 240)])
    kafka.produce(topic, 1, [order(n, BASE + n * 1_000) for n in range(90, 200)])
    query, second = start(df, tmp_path, availableNow=True)
    assert query.awaitTermination(DEADLINE_S)
    assert second == {1: 120, 2: 120}
    query, third = start(df, tmp_path, availableNow=True)
    assert query.awaitTermination(DEADLINE_S)
    assert third == {}


def test_a_batch_read_of_the_topic_equals_what_was_produced(kafka, spark):
    register(spark)
    topic = kafka.create_topic(partitions=2)
    for partition in (0, 1):
        kafka.produce(topic, partition, [order(partition * 100 + n, BASE + n * 1_000) for n in range(50)])
    options = {k: v for k, v in orders(kafka, topic).items() if not k.startswith("watermark")}
    rows = spark.read.format("tidemark-kafka").options(**options).load().collect()
    assert sorted(row["id"] for row in rows) == [*range(50), *range(100, 150)]
    with_watermark = spark.read.format("tidemark-kafka").options(**orders(kafka, topic)).load()
    assert with_watermark.filter("_heartbeat").count() == 0
    assert with_watermark.count() == 100


def test_plain_use_reads_naturally(kafka, spark, tmp_path):
    """The lines of docs/kafka.md."""
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, b'{"user":1,"price":2.5,"ts":"2026-01-01T00:00:00Z"}', BASE)])
    register(spark)
    df = (
        spark.readStream.format("tidemark-kafka")
        .option("kafka.bootstrap.servers", kafka.bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("format", "json")
        .option("schema", "user BIGINT, price DOUBLE, ts TIMESTAMP")
        .option("watermark.for", "ts")
        .option("watermark.as", "ts - INTERVAL '5' SECOND")
        .load()
    )
    rows = []
    query = (
        with_source_watermark(df)
        .writeStream.foreachBatch(lambda batch, _: rows.extend(batch.collect()))
        .option("checkpointLocation", str(tmp_path / "c"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(DEADLINE_S)
    assert [(r["user"], r["price"]) for r in rows] == [(1, 2.5)]


def test_a_bad_record_stops_the_query_with_its_place_in_the_first_line(kafka, spark, tmp_path):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(1, BASE), (None, b"{not json", BASE)])
    df = read_stream(spark, "tidemark-kafka", orders(kafka, topic))
    query = df.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c")).start()
    with pytest.raises(Exception, match=f"topic '{topic}', partition 0, offset 1") as caught:
        query.awaitTermination(DEADLINE_S)
    assert "[TIDEMARK_RECORD]" in str(caught.value)
    assert 'File "' not in str(caught.value).split("[TIDEMARK_RECORD]")[0]  # no Python traceback before it


def test_a_missing_topic_stops_the_query_with_our_sentence_in_the_first_line(kafka, spark, tmp_path):
    df = read_stream(spark, "tidemark-kafka", orders(kafka, "no-such-topic"))
    query, _ = start(minute_counts(df), tmp_path)
    with pytest.raises(Exception, match="no-such-topic") as caught:
        query.awaitTermination(DEADLINE_S)
    assert "[TIDEMARK_SOURCE_UNAVAILABLE] topic 'no-such-topic' does not exist" in str(caught.value).splitlines()[0]


JOB = """
import json, sys
from pathlib import Path
from pyspark.sql import functions as F
from datasources import read_stream
from tests.support.spark.spark_session import start_spark

options, folder, slow = json.loads(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "slow"
spark = start_spark(folder)
df = read_stream(spark, "tidemark-kafka", options)
windows = df.groupBy(F.window("ts", "1 minute")).agg(F.count("id").alias("n"))

def write(batch, number):
    rows = [[str(r["window"]["start"]), r["n"]] for r in batch.collect()]
    if slow and number == 2:  # the batch was computed and is not committed: whoever waits for this file kills us now
        (folder / "in-batch").write_text("2")
        import threading
        threading.Event().wait()
    (folder / f"batch-{number:04d}.json").write_text(json.dumps(sorted(rows)))

query = (windows.writeStream.outputMode("append").foreachBatch(write)
         .option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start())
query.awaitTermination()
marks = {p.batchId: p.eventTime.get("watermark") for p in query.recentProgress}
(folder / "watermarks.json").write_text(json.dumps(marks))
spark.stop()
"""


def run_job(options, folder: Path, mode: str) -> subprocess.Popen:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "job.py"
    script.write_text(JOB)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), json.dumps(options), str(folder), mode]
    log = (folder / f"log-{mode}").open("wb")
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)


def offsets_of(folder: Path) -> dict[str, str]:
    """The source's offsets as Spark logged them: from, to, watermarks and all decisions of every batch."""
    logs = sorted((folder / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda p: int(p.name))
    return {log.name: log.read_text().splitlines()[2] for log in logs}


@pytest.mark.parametrize("seconds", full(210, 600))
def test_a_run_killed_in_mid_batch_equals_an_undisturbed_one_after_restart(kafka, tmp_path, seconds):
    topic = kafka.create_topic(partitions=2)
    for partition, behind in ((0, 0), (1, 2)):
        kafka.produce(
            topic,
            partition,
            [order(n, BASE + n * 1_000 - behind * MINUTE) for n in range(behind * 60, seconds + behind * 60)],
        )
    options = orders(kafka, topic, maxOffsetsPerTrigger="200")
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    assert run_job(options, undisturbed, "quick").wait(DEADLINE_S * 2) == 0, (undisturbed / "log-quick").read_text()
    killed = run_job(options, disturbed, "slow")
    try:
        wait_until((disturbed / "in-batch").exists)
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
    before = offsets_of(disturbed)
    assert run_job(options, disturbed, "quick").wait(DEADLINE_S * 2) == 0, (disturbed / "log-quick").read_text()
    assert offsets_of(disturbed)["2"] == before["2"]  # batch 2 was read again as it was planned
    assert emitted(disturbed) == emitted(undisturbed)
    same = ("from", "rows", "wm", "combined", "status")
    for number in ("0", "1", "2"):
        ours, theirs = (json.loads(offsets_of(folder)[number]) for folder in (disturbed, undisturbed))
        assert {k: ours[k] for k in same} == {k: theirs[k] for k in same}


def emitted(folder: Path) -> list:
    batches = [json.loads(p.read_text()) for p in sorted(folder.glob("batch-*.json"))]
    return sorted(row for batch in batches for row in batch)
