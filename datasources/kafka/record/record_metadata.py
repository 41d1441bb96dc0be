"""Metadata columns: the fields of a record besides its key and value.

Source: Flink's Kafka table source; `row_kind` is Tidemark's own, because Spark's rows have no kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from datasources.arrow_types import TIMESTAMP, list_of, map_of
from datasources.formats.format_table import FORMATS
from datasources.kafka.client.record_columns import RecordColumn, RecordFields, Records
from datasources.kafka.record.header_columns import header_lists, header_maps

ROW_KIND = "row_kind"
VALUE_PREFIX = "value."
"""The prefix of metadata keys that the value format provides."""

_HEADER_LIST = list_of(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
_HEADER_MAP = map_of(pa.string(), pa.binary())
_TIMESTAMP_TYPES = ("NoTimestampType", "CreateTime", "LogAppendTime")
_US_PER_MS = 1_000


def _timestamps(records: Records) -> pa.Array:
    mask = records.timestamp_kinds() == 0
    return pa.array(records.timestamps_ms() * _US_PER_MS, mask=mask if mask.any() else None).cast(TIMESTAMP)


def _timestamp_types(records: Records) -> pa.Array:
    return pa.array(_TIMESTAMP_TYPES).take(pa.array(records.timestamp_kinds()))


RECORD_METADATA: Mapping[str, RecordColumn] = MappingProxyType(
    {
        "topic": RecordColumn(pa.string(), RecordFields.NOTHING, lambda records: records.topics()),
        "partition": RecordColumn(pa.int32(), RecordFields.NOTHING, lambda records: records.partitions()),
        "headers": RecordColumn(_HEADER_MAP, RecordFields.HEADERS, lambda records: header_maps(records, _HEADER_MAP)),
        "header-list": RecordColumn(
            _HEADER_LIST, RecordFields.HEADERS, lambda records: header_lists(records, _HEADER_LIST, nulls=False)
        ),
        "leader-epoch": RecordColumn(pa.int32(), RecordFields.LEADER_EPOCH, lambda records: records.leader_epochs()),
        "offset": RecordColumn(pa.int64(), RecordFields.NOTHING, lambda records: records.offsets()),
        "timestamp": RecordColumn(TIMESTAMP, RecordFields.TIMESTAMP, _timestamps),
        "timestamp-type": RecordColumn(pa.string(), RecordFields.TIMESTAMP, _timestamp_types),
    }
)
"""Metadata keys with type and value, one value per record."""

METADATA_TYPES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        **{key: column.type for key, column in RECORD_METADATA.items()},
        ROW_KIND: pa.string(),
        **{VALUE_PREFIX + key: kind for each in FORMATS.values() for key, kind in each.metadata.items()},
    }
)
"""All metadata keys and their types."""


def formats_with(key: str) -> str:
    """Return the quoted names of the formats that have a metadata key, for messages."""
    name = key.removeprefix(VALUE_PREFIX)
    return " or ".join(f"'{each.name}'" for each in FORMATS.values() if name in each.metadata)
