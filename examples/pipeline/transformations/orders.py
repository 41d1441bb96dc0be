"""Orders of a topic as a table, and how many there are in each minute."""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream, register

spark = SparkSession.active()
register(spark)  # here: the function of a flow may not


@dp.temporary_view
def orders() -> DataFrame:
    """The stream, with its event time."""
    return read_stream(
        spark,
        "tidemark-kafka",
        {
            "kafka.bootstrap.servers": os.environ["BROKERS"],
            "subscribe": os.environ["TOPIC"],
            "startingOffsets": "earliest",
            "format": "json",
            "schema": "user BIGINT, price DOUBLE, ts TIMESTAMP",
            "watermark.for": "ts",
            "watermark.as": "ts - INTERVAL '5' SECOND",
        },
    )


@dp.table
def per_minute() -> DataFrame:
    """Counts of the minutes that the watermark has passed."""
    counts = spark.readStream.table("orders").groupBy(F.window("ts", "1 minute")).count()
    return counts.select("window.start", "count")
