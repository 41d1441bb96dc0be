"""Metadata columns: what a record says about itself beside its key and value.

Source: Flink's Kafka table source; `row_kind` is Tidemark's own, because Spark's rows have no kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from datasources.formats.debezium.source_columns import DEBEZIUM_METADATA
from datasources.formats.schema_text.ddl_types import list_of, map_of, timestamp_ltz
from datasources.kafka.client.record_columns import Part, RecordColumn, Records
from datasources.kafka.record.header_columns import header_lists, header_maps

__all__ = ["FACTS", "METADATA_TYPES", "ROW_KIND", "VALUE_PREFIX"]

ROW_KIND = "row_kind"
VALUE_PREFIX = "value."
"""What the keys of a value format's metadata begin with."""

_HEADER_LIST = list_of(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
_HEADER_MAP = map_of(pa.string(), pa.binary())
_TIMESTAMP_TYPES = ("NoTimestampType", "CreateTime", "LogAppendTime")
_US_PER_MS = 1_000


def _timestamps(records: Records) -> pa.Array:
    mask = records.timestamp_kinds() == 0
    return pa.array(records.timestamps_ms() * _US_PER_MS, mask=mask if mask.any() else None).cast(timestamp_ltz)


def _timestamp_types(records: Records) -> pa.Array:
    return pa.array(_TIMESTAMP_TYPES).take(pa.array(records.timestamp_kinds()))


FACTS: Mapping[str, RecordColumn] = MappingProxyType(
    {
        "topic": RecordColumn(pa.string(), Part.NOTHING, lambda records: records.topics()),
        "partition": RecordColumn(pa.int32(), Part.NOTHING, lambda records: records.partitions()),
        "headers": RecordColumn(_HEADER_MAP, Part.HEADERS, lambda records: header_maps(records, _HEADER_MAP)),
        "header-list": RecordColumn(
            _HEADER_LIST, Part.HEADERS, lambda records: header_lists(records, _HEADER_LIST, nulls=False)
        ),
        "leader-epoch": RecordColumn(pa.int32(), Part.LEADER_EPOCH, lambda records: records.leader_epochs()),
        "offset": RecordColumn(pa.int64(), Part.NOTHING, lambda records: records.offsets()),
        "timestamp": RecordColumn(timestamp_ltz, Part.TIMESTAMP, _timestamps),
        "timestamp-type": RecordColumn(pa.string(), Part.TIMESTAMP, _timestamp_types),
    }
)
"""Keys with their types and values, one for each record."""

METADATA_TYPES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        **{key: column.type for key, column in FACTS.items()},
        ROW_KIND: pa.string(),
        **{VALUE_PREFIX + key: kind for key, kind in DEBEZIUM_METADATA.items()},
    }
)
"""Every key that a metadata column may name, and its type."""
