"""Protobuf on a real broker: SQL and DataFrames whose columns nobody declared and keys."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from datasources import read_stream
from datasources.errors import OptionError, RecordError
from datasources.sql import TableEnvironment
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.protobuf_records import compiled, google, message_of

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

BASE = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
TEXT = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
enum State { OPEN = 0; PAID = 1; }
message Key { int64 id = 1; }
message Order {
  int64 id = 1; optional double price = 2; google.protobuf.Timestamp at = 3; State state = 4; repeated Line lines = 5; uint64 total = 6;
  message Line { string item = 1; int32 count = 2; }
}"""


def order(number: int) -> bytes:
    values = {
        "id": number,
        "price": number * 0.25,
        "at": {"seconds": BASE + number},
        "state": number % 2,
        "total": 2**63 + number,
    }
    return google(message_of(TEXT, "shop.Order"))(
        **values, lines=[{"item": f"i{number}", "count": 2}]
    ).SerializeToString()


@pytest.fixture
def descriptors(tmp_path: Path) -> Path:
    file = tmp_path / "shop.desc"
    file.write_bytes(compiled(TEXT))
    return file


@pytest.fixture
def topic(kafka: Any) -> str:
    """One order a second for a minute, prices 0.00, 0.25, ..."""
    name = kafka.create_topic()
    key = google(message_of(TEXT, "shop.Key"))
    kafka.produce(name, 0, [(key(id=n).SerializeToString(), order(n), BASE * 1_000) for n in range(60)])
    return name


def options_of(kafka: Any, topic: str, file: Path) -> dict[str, str]:
    given = {"protobuf.message-class-name": "com.shop.OrderProto$Order", "protobuf.descriptor-file": str(file)}
    return {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": topic, "format": "protobuf", **given}


@pytest.mark.spark
@pytest.mark.usefixtures("tiny_queries")
def test_a_table_without_columns_is_described_and_counted_in_windows(kafka, topic, descriptors, spark):
    tables = TableEnvironment(spark)
    tables.sql(f"""CREATE TABLE orders (WATERMARK FOR at AS at - INTERVAL '5' SECOND) WITH (
        'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka.bootstrap_servers}',
        'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'protobuf',
        'protobuf.message-class-name' = 'shop.Order', 'protobuf.descriptor-file' = '{descriptors}')""")
    described = {row[0]: row[1] for row in tables.sql("DESCRIBE orders").rows}
    assert described["id"].startswith("BIGINT")
    assert described["total"].replace(" ", "").startswith("DECIMAL(20,0)")
    counted = tables.sql(
        "SELECT window_start, COUNT(*) AS n, SUM(price) AS total FROM TUMBLE(TABLE orders, DESCRIPTOR(at), "
        "INTERVAL '20' SECOND) GROUP BY window_start, window_end"
    )
    query = counted.writeStream.format("memory").queryName("protobuf_counts").trigger(availableNow=True).start()
    query.awaitTermination()
    rows = [(row.n, row.total) for row in spark.table("protobuf_counts").orderBy("total").collect()]
    assert rows == [(20, sum(n * 0.25 for n in range(at, at + 20))) for at in (0, 20, 40)]


@pytest.mark.spark
@pytest.mark.usefixtures("tiny_queries")
def test_a_dataframe_without_columns(kafka, topic, descriptors, spark):
    options = {**options_of(kafka, topic, descriptors), "startingOffsets": "earliest"}
    rows = read_stream(spark, "tidemark-kafka", options)
    assert dict(rows.dtypes) == {
        "id": "bigint",
        "price": "double",
        "at": "timestamp",
        "state": "string",
        "lines": "array<struct<item:string,count:int>>",
        "total": "decimal(20,0)",
    }
    query = rows.writeStream.format("memory").queryName("protobuf_rows").trigger(availableNow=True).start()
    query.awaitTermination()
    found = (
        spark.table("protobuf_rows")
        .orderBy("id")
        .selectExpr("id", "state", "lines[0].item", "total", "unix_seconds(at) - id")
        .collect()
    )
    assert [tuple(row) for row in found] == [
        (n, ("OPEN", "PAID")[n % 2], f"i{n}", Decimal(2**63 + n), BASE) for n in range(60)
    ]


def test_keys_and_bad_records(kafka, topic, descriptors):
    kafka.produce(topic, 0, [(b"\x08\7", b"\x08", BASE * 1_000), (b"\x08", order(1), BASE * 1_000)])
    keyed = {
        "key.format": "protobuf",
        "key.fields": "id",
        "key.protobuf.message-class-name": "shop.Key",
        "key.protobuf.descriptor-file": str(descriptors),
    }
    given = {**options_of(kafka, topic, descriptors), **keyed, "schema": "id BIGINT NOT NULL, state INT"}
    del given["kafka.bootstrap.servers"]
    table = KafkaQuery(scan_of(kafka.bootstrap_servers, **given, **{"protobuf.ignore-parse-errors": "true"})).drain()
    assert table.select(["id", "state"]).to_pylist() == [{"id": n, "state": n % 2} for n in range(60)]
    with pytest.raises(
        RecordError, match=f"topic '{topic}', partition 0, offset 60 .*: field 'id': the message ends before"
    ):
        KafkaQuery(scan_of(kafka.bootstrap_servers, **given)).drain()
    with pytest.raises(OptionError, match=r"'protobuf.descriptor-file': '/nowhere' cannot be read"):
        scan_of(kafka.bootstrap_servers, **{**given, "protobuf.descriptor-file": "/nowhere"})
