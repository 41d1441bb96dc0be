"""Raw columns, with the names and types of Spark's own Kafka source."""

from __future__ import annotations

import pyarrow as pa

from datasources.arrow_types import TIMESTAMP
from datasources.kafka.client.record_columns import RecordColumn, RecordFields, Records
from datasources.kafka.record.header_columns import header_lists

HEADERS = "headers"
"""The column of `includeHeaders`."""

_HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
_US_PER_MS = 1_000


def _timestamps(records: Records) -> pa.Array:
    return pa.array(records.timestamps_ms() * _US_PER_MS).cast(TIMESTAMP)


def _timestamp_types(records: Records) -> pa.Array:
    return pa.array(records.timestamp_kinds().astype("int32") - 1)  # librdkafka counts from 1


RAW_COLUMNS: dict[str, RecordColumn] = {
    "key": RecordColumn(pa.binary(), RecordFields.KEY, lambda records: records.keys()),
    "value": RecordColumn(pa.binary(), RecordFields.VALUE, lambda records: records.values()),
    "topic": RecordColumn(pa.string(), RecordFields.NOTHING, lambda records: records.topics()),
    "partition": RecordColumn(pa.int32(), RecordFields.NOTHING, lambda records: records.partitions()),
    "offset": RecordColumn(pa.int64(), RecordFields.NOTHING, lambda records: records.offsets()),
    "timestamp": RecordColumn(TIMESTAMP, RecordFields.TIMESTAMP, _timestamps),
    "timestampType": RecordColumn(pa.int32(), RecordFields.TIMESTAMP, _timestamp_types),
    HEADERS: RecordColumn(_HEADERS, RecordFields.HEADERS, lambda records: header_lists(records, _HEADERS, nulls=True)),
}


def raw_schema(*, headers: bool) -> pa.Schema:
    """Return the raw columns; `headers` only if requested."""
    return pa.schema([(name, column.type) for name, column in RAW_COLUMNS.items() if headers or name != HEADERS])
