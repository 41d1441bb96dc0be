"""No order misses a row of the table that was there before the query started: a million rows, a topic that is full."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream, temporal_join
from tests.support.mysql.mysql_shop import Shop
from tests.support.spark.scripted_stream import running

pytestmark = [
    pytest.mark.spark,
    pytest.mark.kafka,
    pytest.mark.mysql,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("operator_queries"),
]

RATES = 1_000_000
ORDERS = 100_000
NOW = {"availableNow": True}
DEADLINE_S = 300


@dataclass
class Misses:
    """How many orders came, and how many of them without rate."""

    orders: int = 0
    missed: int = 0

    def __call__(self, df: Any, _: int) -> None:
        row = df.agg(F.count("*").alias("orders"), F.sum(F.col("rate").isNull().cast("int")).alias("missed")).first()
        self.orders += row["orders"]
        self.missed += row["missed"] or 0


@pytest.fixture
def shop(mysql):
    """A table of a million rates."""
    shop = Shop.open(mysql)
    shop.execute("CREATE TABLE rates (id INT PRIMARY KEY, rate INT NOT NULL)")
    shop.execute(
        f"SET cte_max_recursion_depth = {RATES}",
        "INSERT INTO rates WITH RECURSIVE n (id) AS "
        f"(SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < {RATES - 1}) SELECT id, id % 97 FROM n",
    )
    yield shop
    shop.execute("DROP TABLE rates")


@pytest.fixture
def topic(kafka):
    """A topic with orders of rates all over the table."""
    topic = kafka.create_topic(partitions=2)
    for partition in range(2):
        mine = range(partition, ORDERS, 2)
        kafka.produce(topic, partition, [json.dumps({"n": n, "rate_id": n * 7919 % RATES}).encode() for n in mine])
    return topic


def orders(spark, kafka, topic, **hold):
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": "n BIGINT, rate_id INT",
        **{key.replace("__", "."): value for key, value in hold.items()},
    }
    return spark.readStream.format("tidemark-kafka").options(**options).load()


def rates(shop, **options):
    small = {"scan.incremental.snapshot.chunk.size": 50_000, "scan.max-rows-per-batch": 100_000}
    return shop.options(**small, **options)


def test_orders_wait_for_the_table_and_a_plain_join_with_a_copy_does_not(spark, shop, kafka, topic, tmp_path):
    contents = Misses()
    build = spark.readStream.format("tidemark-mysql").options(**rates(shop, scan__hold__name="rates")).load()
    probe = orders(spark, kafka, topic, scan__hold__until="rates")
    joined = temporal_join(probe, build, on=[("rate_id", "id")], as_of="PROCTIME()", how="left")
    with running(joined, checkpoint=tmp_path / "held", for_each=contents, trigger=NOW) as query:
        assert query.query.awaitTermination(DEADLINE_S)
    assert (contents.orders, contents.missed) == (ORDERS, 0)

    plain, copy = Misses(), str(tmp_path / "copy")
    table = read_stream(spark, "tidemark-mysql", rates(shop)).select("id", "rate")
    with running(table, checkpoint=tmp_path / "copying", for_each=_append_to(copy), trigger=NOW) as copying:
        copying.wait_for(lambda query: bool(query.progress))
        joined = orders(spark, kafka, topic).join(spark.read.parquet(copy), F.expr("rate_id = id"), "left")
        with running(joined, checkpoint=tmp_path / "plain", for_each=plain, trigger=NOW) as query:
            assert query.query.awaitTermination(DEADLINE_S)
    assert plain.orders == ORDERS
    assert plain.missed > 0


def _append_to(copy):
    return lambda df, _: df.write.mode("append").parquet(copy)
