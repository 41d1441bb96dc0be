"""A query of each connector, and two of one group, in a session of either kind: classic, or a client of Spark Connect."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import (
    KafkaDataSource,
    ScriptedDataSource,
    TimeWindow,
    keep_time_attribute,
    read_stream,
    register,
    windowed,
    with_source_watermark,
)
from datasources.errors import QueryError
from tests.support.kafka.kafka_orders import BASE, MINUTE, minute_counts, order, orders
from tests.support.mysql.mysql_shop import Shop
from tests.support.spark.scripted_stream import FORMAT, Scripts, drain, running

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("tiny_queries")]

SECRET = {"kafka.bootstrap.servers": "b:1", "subscribe": "t", "kafka.ssl.key.pem": "s3cr3t-value"}
MINUTE_AND_COUNT = [f"(unix_millis(window.start) - {BASE}) DIV {MINUTE}", "n"]


def source(query: Any) -> dict[str, Any]:
    return dict(json.loads(query.progress[-1].sources[0].latestOffset))


def is_paused(query: Any) -> bool:
    splits = source(query)["splits"] if query.progress else ()
    return any(split["status"] == "paused" for split in splits)


@pytest.mark.kafka
def test_a_lagging_partition_of_kafka_loses_nothing(kafka, spark, tmp_path):
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [order(n, BASE + n * 20_000) for n in range(12)])
    kafka.produce(topic, 1, [order(100, BASE + 1_000), order(101, BASE + MINUTE + 10_000)])
    read = read_stream(spark, "tidemark-kafka", orders(kafka, topic))
    with running(minute_counts(read).selectExpr(*MINUTE_AND_COUNT), checkpoint=tmp_path / "checkpoint") as query:
        query.wait_for(lambda running_: running_.rows() == [(0, 4)])
        kafka.produce(topic, 1, [order(102, BASE + 2 * MINUTE), order(103, BASE + 10 * MINUTE)])
        query.wait_for(lambda running_: sorted(running_.rows()) == [(0, 4), (1, 4), (2, 4)])
        splits = {split["split"] for split in source(query)["splits"]}
    assert splits == {f"{topic}-0", f"{topic}-1"}


@pytest.mark.mysql
def test_the_changes_of_a_table_in_mysql_follow_its_rows(mysql, spark, tmp_path):
    shop = Shop.open(mysql, orders=50)
    read = read_stream(spark, "tidemark-mysql", shop.options())
    rows = read.selectExpr("row_kind", "id", "n")
    with running(rows, checkpoint=tmp_path / "checkpoint") as query:
        query.wait_for(lambda running_: len(running_.rows()) == 50)
        shop.execute("UPDATE orders SET n = -1 WHERE id = 7", "DELETE FROM orders WHERE id = 8")
        query.wait_for(lambda running_: len(running_.rows()) == 53)
        assert query.rows()[50:] == [("-U", 7, 7), ("+U", 7, -1), ("-D", 8, 8)]


def test_queries_of_a_group_wait_for_each_other(spark, tmp_path):
    fast, slow = Scripts(tmp_path / "fast"), Scripts(tmp_path / "slow")
    group = {"scan.watermark.alignment.group": "g", "scan.watermark.alignment.max-drift": "10 s"}
    fast.append("s-0", *((second, "a", "") for second in range(0, 100, 5)))
    slow.append("s-0", (1, "a", ""), (3, "a", ""))
    with running(slow.stream(spark, group).select("ts")) as behind:
        behind.wait_for(lambda running_: len(running_.rows()) == 2)
        with running(fast.stream(spark, group).select("ts")) as ahead:
            ahead.wait_for(is_paused)
            assert len(ahead.rows()) < 20
            slow.append("s-0", (200, "a", ""))
            ahead.wait_for(lambda running_: len(running_.rows()) == 20)


def test_the_calls_of_the_dataframe_api_have_one_result(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "1"), (12, "b", "2"), (13, "a", "3"), (25, "c", "4"))
    register(spark)
    attached = with_source_watermark(scripts.loaded(spark))
    attached = attached.where(attached["v"] != "3")
    counts = windowed(attached, {"n": "COUNT(*)"}, window=TimeWindow.tumble("10 s"), attribute="ts")
    rows, _ = drain(counts.selectExpr("unix_timestamp(window_end)", "n"))
    assert rows == [(10, 1), (20, 1)]
    later = keep_time_attribute(attached.withColumn("t", F.expr("ts + INTERVAL 1 SECOND")), "t")
    rows, _ = drain(
        later.groupBy(F.window("t", "10 seconds")).count().selectExpr("unix_timestamp(window.end)", "count")
    )
    assert rows == [(10, 1), (20, 1)]


@pytest.mark.parametrize(
    "earlier",
    [
        lambda: F.col("ts") - F.expr("INTERVAL 1 HOUR"),
        lambda: F.expr("ts - INTERVAL 1 HOUR"),
        lambda: F.expr("ts") + F.expr("INTERVAL '-1' HOUR"),
    ],
)
def test_a_time_attribute_that_is_moved_to_the_past_is_refused(spark, tmp_path, earlier):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "1"))
    df = scripts.stream(spark)
    for moved in (df.withColumn("t", earlier()), df.select("k", earlier().alias("t"))):
        with pytest.raises(QueryError, match="to the past"):
            keep_time_attribute(moved, "t")


def test_several_streams_put_together_are_refused(spark, tmp_path):
    one, other = Scripts(tmp_path / "one"), Scripts(tmp_path / "other")
    for each in (one, other):
        each.append("s-0", (1, "a", "1"))
    register(spark)
    with pytest.raises(QueryError, match="several streams are put together"):
        with_source_watermark(one.loaded(spark).union(other.loaded(spark)))


def test_a_stream_that_was_never_attached_is_refused(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "1"))
    register(spark)
    query = scripts.loaded(spark).writeStream.format("memory").queryName("never_attached").start()
    with pytest.raises(Exception, match=r"TIDEMARK_QUERY\] the stream has a watermark but was not attached"):
        query.awaitTermination(60)


@pytest.fixture
def by_hand(spark):
    """The formats as `spark.dataSource.register` knows them, without anything of `register`."""
    for source in (ScriptedDataSource, KafkaDataSource):
        spark.dataSource.register(source)
    yield spark
    register(spark)


def test_a_class_that_was_registered_by_hand_refuses_a_stream_that_was_never_attached(by_hand, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", "1"))
    query = scripts.loaded(by_hand).writeStream.format("memory").queryName("by_hand").start()
    with pytest.raises(Exception, match=r"TIDEMARK_QUERY\] the stream has a watermark but was not attached"):
        query.awaitTermination(60)
    assert by_hand.table("by_hand").count() == 0


def test_a_class_that_was_registered_by_hand_refuses_a_secret_that_spark_would_show(by_hand):
    for reader in (by_hand.read, by_hand.readStream):
        with pytest.raises(Exception, match=r"option 'kafka\.ssl\.key\.pem' is a secret") as caught:
            assert reader.format(KafkaDataSource.name()).options(**SECRET).load().columns
        assert "s3cr3t-value" not in str(caught.value)


def test_an_option_that_is_wrong_is_an_error_of_the_call(spark, tmp_path):
    with pytest.raises(Exception, match=r"scan\.watermark\.idle-timeout"):
        read_stream(spark, FORMAT, Scripts(tmp_path).options({"scan.watermark.idle-timeout": "soon"}))
