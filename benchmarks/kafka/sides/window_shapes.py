"""Windowed counts of other shapes than `make bench`'s orders: nested events, keys, windows that overlap, formats.

Each shape is a table of a topic, as Flink and Tidemark read it, and one statement over it; spark-sql-kafka reads the
same with DataFrames. `make(number)` gives a record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.decoding.json_documents import NEXMARK, nexmark
from benchmarks.orders.avro_orders import AVRO_ORDER, framed_order
from benchmarks.orders.json_orders import SCHEMA, order
from benchmarks.orders.protobuf_orders import MESSAGE, descriptor_file, message_order
from benchmarks.sides import FLINK, PEER, TIDEMARK, TIDEMARK_SQL

__all__ = [
    "FORMAT_SHAPES",
    "SHAPES",
    "Shape",
    "format_options",
    "interval",
    "peer_windows",
    "result_columns",
    "statement",
    "table",
    "tidemark_windows",
]

_WIDTH_S: Final = 10
_BID_TIME: Final = (
    "CASE WHEN event_type = 0 THEN person.`dateTime` "
    "WHEN event_type = 1 THEN auction.`dateTime` ELSE bid.`dateTime` END"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is counted.

    Attributes:
        make: the record with a number; event time rises with it.
        columns: of the table in SQL.
        schema: of the records, for DataFrames.
        time: the event time, for DataFrames.
        counted, summed: what is counted and summed in each window.
        total: the type of the sum.
        key: the expression that rows are grouped by besides; "" = none.
        slide_s: of the windows of ten seconds, seconds.
        delay: of the watermark: number and unit. With 5 seconds Flink drops 0.2 % of the nested events as late, with 10
            minutes none.
        options: of the format, as Flink and Tidemark name them; `{registry}` is the URL of a schema registry,
            `{descriptors}` a file with Protobuf's descriptors.
        parsed: the record's columns of spark-sql-kafka's `value`, as one struct; None = JSON of `schema`.
        sides: who can read it: Spark's from_protobuf is in no repository, Flink's needs generated classes of Java.
    """

    make: Callable[[int], bytes]
    columns: str
    schema: str
    time: str
    counted: str
    summed: str
    total: str
    key: str = ""
    slide_s: int = _WIDTH_S
    delay: str = "5 SECOND"
    options: Mapping[str, str]
    parsed: Callable[[], Any] | None = None
    sides: tuple[str, ...] = (TIDEMARK, TIDEMARK_SQL, PEER, FLINK)


_JSON: Final = {"format": "json", "json.timestamp-format.standard": "ISO-8601"}
_SQL_JSON: Final = {"format": "json", "json.timestamp-format.standard": "SQL"}


def _orders(
    *,
    make: Callable[[int], bytes] = order,
    time_type: str = "TIMESTAMP_LTZ(3)",
    options: Mapping[str, str] = _JSON,
    **more: Any,
) -> Shape:
    columns = f"`user` BIGINT, item STRING, price DOUBLE, ts {time_type}"
    values: dict[str, Any] = {"schema": SCHEMA, "time": "ts", "counted": "`user`", "summed": "price", "total": "DOUBLE"}
    return Shape(make=make, columns=columns, options=options, **values, **more)


def _from_avro() -> Any:
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.avro.functions import from_avro

    return from_avro(F.expr("substring(value, 6)"), json.dumps(AVRO_ORDER))


SHAPES: Final[dict[str, Shape]] = {
    "nested events": Shape(
        make=nexmark,
        columns="event_type INT, "
        "person ROW<id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
        "`dateTime` TIMESTAMP(3), extra STRING>, "
        "auction ROW<id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
        "`dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>, "
        "bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
        f"extra STRING>, ts AS {_BID_TIME}",
        schema=NEXMARK,
        time=_BID_TIME,
        counted="bid.auction",
        summed="bid.price",
        total="BIGINT",
        delay="10 MINUTE",
        options=_SQL_JSON,
    ),
    "1,000 keys": _orders(key="MOD(`user`, 1000)"),
    "1,000,000 keys": _orders(key="`user`"),
    "10 windows a row": _orders(slide_s=1),
}
FORMAT_SHAPES: Final[dict[str, Shape]] = {
    "json": _orders(),
    "protobuf": _orders(
        make=message_order,
        options={
            "format": "protobuf",
            "protobuf.message-class-name": MESSAGE,
            "protobuf.descriptor-file": "{descriptors}",
        },
        sides=(TIDEMARK, TIDEMARK_SQL),
    ),
    "avro-confluent": _orders(
        make=framed_order,
        time_type="TIMESTAMP(3)",  # Flink's Avro knows no other
        options={"format": "avro-confluent", "avro-confluent.url": "{registry}"},
        parsed=_from_avro,
    ),
}


def table(shape: Shape, bootstrap: str, topic: str, registry: str = "", **options: str) -> str:
    """Return the table of a topic from its beginning, as Flink and Tidemark read it."""
    further = "".join(f",\n  '{key}' = '{value}'" for key, value in (format_options(shape, registry) | options).items())
    return f"""
CREATE TABLE events ({shape.columns}, WATERMARK FOR ts AS ts - {interval(shape)})
WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}',
  'scan.startup.mode' = 'earliest-offset'{further})
"""


def statement(shape: Shape) -> str:
    """Return the statement: the window's end, the key if there is one, `n`, `total`."""
    slide = f"INTERVAL '{shape.slide_s}' SECOND, " if shape.slide_s != _WIDTH_S else ""
    window = f"{'HOP' if slide else 'TUMBLE'}(TABLE events, DESCRIPTOR(ts), {slide}INTERVAL '{_WIDTH_S}' SECOND)"
    selected, grouped = (f"{shape.key} AS k, ", f", {shape.key}") if shape.key else ("", "")
    return (
        f"SELECT window_end, {selected}COUNT({shape.counted}) AS n, SUM({shape.summed}) AS total "
        f"FROM TABLE({window}) GROUP BY window_start, window_end{grouped}"
    )


def result_columns(shape: Shape) -> str:
    """Return the columns of the statement's rows, for a sink of Flink's."""
    key = "k BIGINT, " if shape.key else ""
    return f"window_end TIMESTAMP(3), {key}n BIGINT, total {shape.total}"


def tidemark_windows(df: Any, shape: Shape) -> Any:
    """Return the same of a stream that `read_stream` gave, by `windowed`."""
    from datasources import TimeWindow, windowed

    aggregates = {"n": f"COUNT({shape.counted})", "total": f"SUM({shape.summed})"}
    width, slide = f"{_WIDTH_S} s", f"{shape.slide_s} s"
    window = TimeWindow.tumble(width) if shape.slide_s == _WIDTH_S else TimeWindow.hop(width, slide)
    keyed = df.selectExpr("*", f"{shape.key} AS k") if shape.key else df
    return windowed(keyed, aggregates, window=window, attribute="ts", keys=_keys(shape))


def peer_windows(raw: Any, shape: Shape) -> Any:
    """Return the same of the records that spark-sql-kafka gives."""
    from pyspark.sql import functions as F  # noqa: N812

    schema = shape.schema.replace("TIMESTAMP_NTZ", "TIMESTAMP")  # what Spark's watermark takes
    event = shape.parsed() if shape.parsed else F.from_json(F.col("value").cast("string"), schema)
    parsed = raw.select(event.alias("event")).select("event.*")
    keyed = parsed.selectExpr("*", *([f"{shape.key} AS k"] if shape.key else []))
    timed = keyed if shape.time == "ts" else keyed.withColumn("ts", F.expr(shape.time))
    window = F.window("ts", f"{_WIDTH_S} seconds", f"{shape.slide_s} seconds")
    groups = timed.withWatermark("ts", shape.delay).groupBy(window, *_keys(shape))
    counted = groups.agg(F.expr(f"COUNT({shape.counted})").alias("n"), F.expr(f"SUM({shape.summed})").alias("total"))
    return counted.select(F.col("window.end").alias("window_end"), *_keys(shape), "n", "total")


def interval(shape: Shape) -> str:
    """Return the delay of the watermark in SQL."""
    number, unit = shape.delay.split()
    return f"INTERVAL '{number}' {unit}"


def format_options(shape: Shape, registry: str) -> dict[str, str]:
    """Return the options of the format."""
    return {key: value.format(registry=registry, descriptors=descriptor_file()) for key, value in shape.options.items()}


def _keys(shape: Shape) -> Sequence[str]:
    return ["k"] if shape.key else []
