"""Metadata columns: what a record says about itself beside its key and value.

Source: Flink's Kafka table source; `row_kind` is Tidemark's own, because Spark's rows have no kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pyarrow as pa
from confluent_kafka import Message

from datasources.formats.ddl_types import list_of, map_of, timestamp_ltz
from datasources.formats.debezium_source import DEBEZIUM_METADATA

__all__ = ["FACTS", "METADATA_TYPES", "ROW_KIND", "VALUE_PREFIX", "facts_of"]

ROW_KIND = "row_kind"
VALUE_PREFIX = "value."
"""What the keys of a value format's metadata begin with."""

_HEADER = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_TIMESTAMP_TYPES = ("NoTimestampType", "CreateTime", "LogAppendTime")

FACTS: Mapping[str, tuple[pa.DataType, Callable[[list[Message]], list[object]]]] = MappingProxyType(
    {
        "topic": (pa.string(), lambda ms: [m.topic() for m in ms]),
        "partition": (pa.int32(), lambda ms: [m.partition() for m in ms]),
        "headers": (map_of(pa.string(), pa.binary()), lambda ms: [dict(m.headers() or ()) for m in ms]),
        "header-list": (list_of(_HEADER), lambda ms: [_headers(m) for m in ms]),
        "leader-epoch": (pa.int32(), lambda ms: [m.leader_epoch() for m in ms]),
        "offset": (pa.int64(), lambda ms: [m.offset() for m in ms]),
        "timestamp": (timestamp_ltz, lambda ms: [_timestamp_us(m) for m in ms]),
        "timestamp-type": (pa.string(), lambda ms: [_TIMESTAMP_TYPES[m.timestamp()[0]] for m in ms]),
    }
)
"""Keys with their types and values, one for each record."""

METADATA_TYPES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        **{key: kind for key, (kind, _) in FACTS.items()},
        ROW_KIND: pa.string(),
        **{VALUE_PREFIX + key: kind for key, kind in DEBEZIUM_METADATA.items()},
    }
)
"""Every key that a metadata column may name, and its type."""


def facts_of(key: str, messages: list[Message]) -> pa.Array:
    """Return a fact of each record."""
    kind, values = FACTS[key]
    found = values(messages)
    if pa.types.is_map(kind):
        found = [list(entries.items()) for entries in found if isinstance(entries, dict)]
    return pa.array(found, type=kind)


def _headers(message: Message) -> list[dict[str, object]]:
    return [{"key": key, "value": value} for key, value in message.headers() or ()]


def _timestamp_us(message: Message) -> int | None:
    kind, timestamp_ms = message.timestamp()
    return timestamp_ms * 1_000 if kind else None
