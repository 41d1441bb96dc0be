"""No order misses a row of the table that was there before the query started; up to a million rows, a topic that is full."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream, temporal_join
from tests.support.forms import full
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


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many rates the table has, how many come in a chunk of its snapshot and in a batch, and how many orders wait."""

    rates: int
    chunk: int
    batch: int
    orders: int


SMALL = Sizes(rates=20_000, chunk=2_500, batch=5_000, orders=10_000)
LARGE = Sizes(rates=1_000_000, chunk=50_000, batch=100_000, orders=100_000)
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


@pytest.fixture(params=[SMALL, *full(LARGE)], ids=["small", "large"])
def sizes(request):
    return request.param


@pytest.fixture
def shop(mysql, sizes):
    """A table of rates."""
    shop = Shop.open(mysql)
    shop.execute("CREATE TABLE rates (id INT PRIMARY KEY, rate INT NOT NULL)")
    shop.execute(
        f"SET cte_max_recursion_depth = {sizes.rates}",
        "INSERT INTO rates WITH RECURSIVE n (id) AS "
        f"(SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < {sizes.rates - 1}) SELECT id, id % 97 FROM n",
    )
    yield shop
    shop.execute("DROP TABLE rates")


@pytest.fixture
def topic(kafka, sizes):
    """The place of a topic with orders of rates all over the table, as options."""
    topic = kafka.create_topic(partitions=2)
    for partition in range(2):
        mine = range(partition, sizes.orders, 2)
        kafka.produce(
            topic, partition, [json.dumps({"n": n, "rate_id": n * 7919 % sizes.rates}).encode() for n in mine]
        )
    return {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": topic}


def orders(spark, topic, **hold):
    options = {
        **topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": "n BIGINT, rate_id INT",
        **{key.replace("__", "."): value for key, value in hold.items()},
    }
    return spark.readStream.format("tidemark-kafka").options(**options).load()


def rates(shop, sizes, **options):
    small = {"scan.incremental.snapshot.chunk.size": sizes.chunk, "scan.max-rows-per-batch": sizes.batch}
    return shop.options(**small, **options)


@pytest.mark.full
def test_orders_wait_for_the_table_and_a_plain_join_with_a_copy_does_not(spark, shop, sizes, topic, tmp_path):
    contents = Misses()
    build = spark.readStream.format("tidemark-mysql").options(**rates(shop, sizes, scan__hold__name="rates")).load()
    probe = orders(spark, topic, scan__hold__until="rates")
    joined = temporal_join(probe, build, on=[("rate_id", "id")], as_of="PROCTIME()", how="left")
    with running(joined, checkpoint=tmp_path / "held", for_each=contents, trigger=NOW) as query:
        assert query.query.awaitTermination(DEADLINE_S)
    assert (contents.orders, contents.missed) == (sizes.orders, 0)

    plain, copy = Misses(), str(tmp_path / "copy")
    table = read_stream(spark, "tidemark-mysql", rates(shop, sizes)).select("id", "rate")
    with running(table, checkpoint=tmp_path / "copying", for_each=_append_to(copy), trigger=NOW) as copying:
        copying.wait_for(lambda query: bool(query.progress))
        joined = orders(spark, topic).join(spark.read.parquet(copy), F.expr("rate_id = id"), "left")
        with running(joined, checkpoint=tmp_path / "plain", for_each=plain, trigger=NOW) as query:
            assert query.query.awaitTermination(DEADLINE_S)
    assert plain.orders == sizes.orders
    assert plain.missed > 0


def _append_to(copy):
    return lambda df, _: df.write.mode("append").parquet(copy)
