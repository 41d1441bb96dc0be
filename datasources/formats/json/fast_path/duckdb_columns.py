"""Converts DuckDB's columns to those of the schema: types, local timestamps, seconds and base64.

Units: local times and instants in microseconds since 1970-01-01 00:00:00.
"""

from __future__ import annotations

import binascii

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.formats.json.fast_path.value_patterns import TimestampText
from datasources.grammar.zones import MICROS_PER_SECOND, Zone

_BUCKET_US = 900 * MICROS_PER_SECOND
_MAX_BUCKETS = 50_000

_DUCKDB_NAMES: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.binary(): "VARCHAR",
    pa.date32(): "DATE",
    NTZ: "TIMESTAMP",
    # DuckDB ignores the offset of a text that it reads as TIMESTAMP.
    TIMESTAMP: "TIMESTAMPTZ",
}


class LocalTimes:
    """Instants of local times in one zone, many at a time.

    A zone's offset is looked up once for each quarter of an hour that occurs; where it changes within one, each time is
    looked up by itself.
    """

    def __init__(self, zone: Zone) -> None:
        self._zone = zone
        self._offset_us: dict[int, int | None] = {}

    def instants(self, local_us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the instants, by the rules of `Region.offset_s`."""
        buckets, inverse = np.unique(local_us // _BUCKET_US, return_inverse=True)
        if len(self._offset_us) > _MAX_BUCKETS:
            self._offset_us.clear()
        known = [self._of_bucket(bucket) for bucket in buckets.tolist()]
        offsets = np.array([0 if offset is None else offset for offset in known], dtype=np.int64)[inverse]
        changes = np.array([offset is None for offset in known], dtype=np.bool_)[inverse]
        for row in np.flatnonzero(changes).tolist():
            offsets[row] = self._zone.offset_s(int(local_us[row])) * MICROS_PER_SECOND
        return local_us - offsets

    def _of_bucket(self, bucket: int) -> int | None:
        if bucket not in self._offset_us:
            first = bucket * _BUCKET_US
            start_s, end_s = self._zone.offset_s(first), self._zone.offset_s(first + _BUCKET_US - 1)
            self._offset_us[bucket] = start_s * MICROS_PER_SECOND if start_s == end_s else None
        return self._offset_us[bucket]


def duckdb_structure(arrow: pa.DataType, kind: TimestampText | None = None) -> object:
    """Return the entry for a type in the structure argument of `json_transform`.

    Args:
        arrow: a type for which `json_patterns.can_use_fast_path` holds.
        kind: how a TIMESTAMP column is written, where that is known.
    """
    if kind is TimestampText.SECONDS and arrow == TIMESTAMP:
        return "BIGINT"
    if pa.types.is_struct(arrow):
        return {f.name: duckdb_structure(f.type) for f in arrow}
    if pa.types.is_list(arrow):
        return [duckdb_structure(arrow.value_type)]
    return _duckdb_type(arrow)


def _duckdb_type(arrow: pa.DataType) -> str:
    if pa.types.is_map(arrow):
        return f"MAP(VARCHAR, {_duckdb_type(arrow.item_type)})"
    if pa.types.is_list(arrow):
        return f"{_duckdb_type(arrow.value_type)}[]"
    if pa.types.is_struct(arrow):
        fields = (f'"{f.name.replace(chr(34), chr(34) * 2)}" {_duckdb_type(f.type)}' for f in arrow)
        return f"STRUCT({', '.join(fields)})"
    if pa.types.is_decimal128(arrow):
        return f"DECIMAL({arrow.precision}, {arrow.scale})"
    return _DUCKDB_NAMES[arrow]


def finished(array: pa.Array, arrow: pa.DataType, kind: TimestampText | None, local: LocalTimes | None) -> pa.Array:
    """Return a column as the schema declares it.

    Args:
        array: the column that came from the structure of `duckdb_structure(arrow, kind)`.
        arrow: the declared type.
        kind: how a TIMESTAMP column is written; None for other columns.
        local: converts local times into instants; needed for `TimestampText.LOCAL`.
    """
    if kind is TimestampText.SECONDS:
        return _timestamps(array, _int64(array) * MICROS_PER_SECOND)
    if kind is TimestampText.LOCAL:
        assert local is not None
        return _timestamps(array, local.instants(_int64(array)))
    if pa.types.is_binary(arrow):
        return pa.array([None if v is None else binascii.a2b_base64(v) for v in array.to_pylist()], arrow)
    if pa.types.is_struct(arrow) and array.type != arrow:
        parts = [finished(part, f.type, None, None) for part, f in zip(array.flatten(), arrow, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(arrow), mask=array.is_null())
    return array.cast(arrow)


def _int64(array: pa.Array) -> npt.NDArray[np.int64]:
    whole: npt.NDArray[np.int64] = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return whole


def _timestamps(array: pa.Array, micros: npt.NDArray[np.int64]) -> pa.Array:
    mask = np.asarray(array.is_null()) if array.null_count else None
    return pa.array(micros, pa.int64(), mask=mask).cast(TIMESTAMP)
