"""Dead letters of real queries: SQL and DataFrames, batches that are read again, batch reads."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream
from datasources.errors import OptionError
from datasources.sql import TableEnvironment
from tests.support.kafka.dead_letters import letters_of, options_of
from tests.support.spark.scripted_stream import DyingSink, running

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.usefixtures("tiny_queries", "registered")]

COLUMNS = "id BIGINT, ts TIMESTAMP"


def order(number: int, second: int) -> bytes:
    return json.dumps({"id": number, "ts": f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"}).encode()


def options(kafka: Any, topic: str, dead: str, **changes: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": COLUMNS,
        "watermark.for": "ts",
        "watermark.as": "ts",
        **options_of(dead, "bad", "late"),
        **changes,
    }


def offsets_of(kafka: Any, dead: str, kind: str) -> list[int]:
    """The offsets of the dead letters of a kind, each as often as it is there."""
    found = letters_of(kafka.bootstrap_servers, dead)
    return sorted(int(letter.about["offset"] or -1) for letter in found if letter.about["kind"] == kind)


def test_sql_windows_go_on_and_their_bad_and_late_records_are_written(kafka, spark):
    """The aggregate is computed in the reader; its late rows have their letters all the same."""
    topic, dead = kafka.create_topic(), kafka.create_topic()
    late, bad = {3: 5, 7: 31}, {1, 5}
    seconds = [10, 0, 61, 5, 62, 0, 130, 31, 131, 200]
    kafka.produce(topic, 0, [b"{" if n in bad else order(n, second) for n, second in enumerate(seconds)])
    t = TableEnvironment(spark)
    given = {
        "connector": "kafka",
        "properties.bootstrap.servers": kafka.bootstrap_servers,
        "topic": topic,
        "scan.startup.mode": "earliest-offset",
        "format": "json",
        **options_of(dead, "bad", "late"),
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t.sql(f"CREATE TABLE orders (id BIGINT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ({listed})")
    counts = t.sql(
        "SELECT window_start, count(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
        "GROUP BY window_start, window_end"
    )
    with running(counts) as query:
        query.drain()
        kafka.produce(topic, 0, [order(10, 500)])  # the progress of the next batch has the counts of this one
        query.drain()
        found, source = Counter(n for _, n in query.rows()), query.source()
    assert found == Counter([1, 2, 2, 1])
    assert offsets_of(kafka, dead, "bad") == sorted(bad)
    assert offsets_of(kafka, dead, "late") == sorted(late)
    counted = {key: source[key] for key in ("bad_records", "late_rows", "dead_letters")}
    assert counted == {"bad_records": 2, "late_rows": 2, "dead_letters": 4}
    assert [split["dead_letters"] for split in source["splits"]] == [4]


def test_a_batch_that_fails_behind_its_sink_is_read_again_and_written_once(kafka, spark, tmp_path):
    topic, dead = kafka.create_topic(partitions=2), kafka.create_topic(partitions=3)
    for partition in range(2):
        kafka.produce(topic, partition, [b"[" if n % 4 == 1 else order(n, n % 7) for n in range(40)])
    given = options(kafka, topic, dead, maxOffsetsPerTrigger="20")
    batches: dict[int, list[tuple[Any, ...]]] = {}
    dies: list[int | None] = [0, 1, None]
    for dies_in in dies:
        stream = read_stream(spark, "tidemark-kafka", given).select("id", F.spark_partition_id().alias("task"))
        with running(stream, checkpoint=tmp_path / "checkpoint", for_each=DyingSink(batches, dies_in)) as query:
            if dies_in is None:
                query.drain()
            else:
                with pytest.raises(Exception, match="died"):
                    query.drain()
    found = letters_of(kafka.bootstrap_servers, dead)
    assert [key for key, times in Counter(letter.key for letter in found).items() if times > 1] == []
    kinds = Counter(letter.about["kind"] for letter in found)
    rows = sum(len(batch) for batch in batches.values())
    assert kinds["bad"] == 20
    assert kinds["late"] > 0
    assert rows + kinds["late"] == 60


def test_a_range_that_is_read_twice_at_a_time_is_written_once(kafka, spark):
    """A union with itself reads each range in two tasks."""
    topic, dead = kafka.create_topic(), kafka.create_topic()
    kafka.produce(topic, 0, [b"{" if n % 2 else order(n, n) for n in range(20)])
    given = {key: value for key, value in options(kafka, topic, dead).items() if not key.startswith("watermark.")}
    stream = read_stream(spark, "tidemark-kafka", given).select("id")
    with running(stream.union(stream)) as query:
        query.drain()
        assert len(query.rows()) == 20
    assert offsets_of(kafka, dead, "bad") == list(range(1, 20, 2))


def test_a_batch_read_writes_once_for_each_dataframe(kafka, spark):
    topic, dead = kafka.create_topic(), kafka.create_topic()
    kafka.produce(topic, 0, [b"{", order(1, 30), order(2, 5), b"["])
    reader = spark.read.format("tidemark-kafka").options(**options(kafka, topic, dead))
    frame = reader.load()
    assert frame.where("NOT _heartbeat").count() == 2
    assert (offsets_of(kafka, dead, "bad"), offsets_of(kafka, dead, "late")) == ([0, 3], [])
    frame.collect()
    assert offsets_of(kafka, dead, "bad") == [0, 3]
    reader.load().collect()
    assert Counter(offsets_of(kafka, dead, "bad")) == {0: 2, 3: 2}


def test_what_cannot_be_written_is_an_error_of_the_statement_or_the_query(kafka, spark):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"{"])
    stream = read_stream(spark, "tidemark-kafka", options(kafka, topic, "no-letters"))
    with running(stream) as query, pytest.raises(Exception, match="TIDEMARK_OPTION.*have no topic 'no-letters'"):
        query.drain()
    t = TableEnvironment(spark)
    servers = f"'properties.bootstrap.servers' = '{kafka.bootstrap_servers}'"
    given = (
        f"'connector' = 'kafka', {servers}, 'topic' = '{topic}', 'format' = 'json', 'format.on-error' = 'dead-letter'"
    )
    t.sql(f"CREATE TABLE bad (id INT) WITH ({given})")
    with pytest.raises(OptionError, match="table 'bad': option 'format.on-error' .* needs 'format.dead-letter.topic'"):
        t.sql("SELECT * FROM bad")
