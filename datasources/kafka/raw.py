"""Raw columns, named and typed as Spark's own Kafka source has them."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from confluent_kafka import Message

__all__ = ["RAW_COLUMNS", "raw_schema"]

_HEADER = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_NO_TIMESTAMP_MS = -1

RAW_COLUMNS: dict[str, tuple[pa.DataType, Callable[[list[Message]], list[object]]]] = {
    "key": (pa.binary(), lambda ms: [m.key() for m in ms]),
    "value": (pa.binary(), lambda ms: [m.value() for m in ms]),
    "topic": (pa.string(), lambda ms: [m.topic() for m in ms]),
    "partition": (pa.int32(), lambda ms: [m.partition() for m in ms]),
    "offset": (pa.int64(), lambda ms: [m.offset() for m in ms]),
    "timestamp": (pa.timestamp("us", tz="UTC"), lambda ms: [_timestamp_us(m) for m in ms]),
    "timestampType": (pa.int32(), lambda ms: [m.timestamp()[0] - 1 for m in ms]),  # librdkafka counts from 1
    "headers": (pa.list_(_HEADER), lambda ms: [_headers(m) for m in ms]),
}


def raw_schema(*, headers: bool) -> pa.Schema:
    """Return the raw columns; `headers` only if asked for."""
    return pa.schema([(name, kind) for name, (kind, _) in RAW_COLUMNS.items() if headers or name != "headers"])


def _timestamp_us(message: Message) -> int:
    kind, timestamp_ms = message.timestamp()
    return (timestamp_ms if kind else _NO_TIMESTAMP_MS) * 1_000


def _headers(message: Message) -> list[dict[str, object]] | None:
    headers = message.headers()
    return None if headers is None else [{"key": key, "value": value} for key, value in headers]
