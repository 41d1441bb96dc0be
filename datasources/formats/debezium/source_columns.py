"""The metadata of a Debezium event: when it was captured, and its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.arrow_types import TIMESTAMP, map_of

DEBEZIUM_METADATA: Mapping[str, pa.DataType] = {
    "ingestion-timestamp": TIMESTAMP,
    "source.timestamp": TIMESTAMP,
    "source.database": pa.string(),
    "source.schema": pa.string(),
    "source.table": pa.string(),
    "source.properties": map_of(pa.string(), pa.string()),
}
"""Keys and types. Source: Flink DebeziumJsonDecodingFormat."""

_INGESTION, PROPERTIES = "ingestion-timestamp", "source.properties"
_MEMBERS = {
    "source.timestamp": "ts_ms",
    "source.database": "db",
    "source.schema": "schema",
    "source.table": "table",
}
_MEMBER_TYPES = {"ts_ms": pa.int64(), "db": pa.string(), "schema": pa.string(), "table": pa.string()}
_WHOLE = r"^-?[0-9]{1,18}$"
_MAX_MS = (2**63 - 1) // 1_000


def envelope_metadata(keys: Sequence[str]) -> pa.Schema:
    """Return the members of the envelope that hold the metadata of these keys.

    The properties are the whole of `source` as text, so with them the other keys are read from there.
    """
    fields = [pa.field("ts_ms", pa.int64())] if _INGESTION in keys else []
    members = [_MEMBERS[key] for key in _MEMBERS if key in keys]
    if PROPERTIES in keys:
        fields.append(pa.field("source", DEBEZIUM_METADATA[PROPERTIES]))
    elif members:
        fields.append(pa.field("source", pa.struct([pa.field(name, _MEMBER_TYPES[name]) for name in members])))
    return pa.schema(fields)


def metadata_column(key: str, parts: Mapping[str, pa.Array]) -> pa.Array:
    """Return the metadata of each event.

    A time beyond the range of TIMESTAMP, and a text that is no whole number, are null.
    """
    if key == _INGESTION:
        return _instants(parts["ts_ms"])
    source = parts["source"]
    if key == PROPERTIES:
        return source
    member = _MEMBERS[key]
    if pa.types.is_map(source.type):
        found = pc.map_lookup(source, pa.scalar(member), "last")
    else:
        found = source.flatten()[source.type.get_field_index(member)]
    return _instants(found) if member == "ts_ms" else found


def _instants(millis: pa.Array) -> pa.Array:
    if pa.types.is_string(millis.type):
        is_whole = pc.match_substring_regex(millis, pattern=_WHOLE).fill_null(False)
        millis = pc.if_else(is_whole, millis, pa.scalar(None, pa.string())).cast(pa.int64())
    whole = millis.fill_null(0).to_numpy(zero_copy_only=False)
    is_out = ~np.asarray(millis.is_valid()) | (whole > _MAX_MS) | (whole < -_MAX_MS)
    micros = np.where(is_out, 0, whole) * 1_000
    return pa.array(micros, pa.int64(), mask=is_out).cast(TIMESTAMP)
