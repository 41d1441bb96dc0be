"""PARTITION BY keys: which columns are allowed, the bucket of a key, and which rows have equal keys.

Equality is that of GROUP BY: NULL equals NULL, -0.0 equals 0.0, every NaN equals every other. CHAR columns are padded
and decimals have their column's scale, so their bytes are canonical.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import DataType, DoubleType, FloatType, StringType, StructType

from datasources.errors import QueryError

HASH_VERSION: Final = "xxhash64-42-1"
"""Version of the mapping from key to bucket; stored in the state, since another mapping would look in other buckets."""

_REFUSED: Final = frozenset({"array", "map", "struct", "variant", "calendar_interval", "void"})
_MAX_CODES: Final = 1 << 31


def require_keys(schema: StructType, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the keys as the schema spells them; a text is one key.

    Raises:
        QueryError: there is no such column, or its type cannot be a key.
    """
    names = {field.name.lower(): field for field in schema.fields}
    found = []
    for key in (keys,) if isinstance(keys, str) else keys:
        field = names.get(key.lower())
        if field is None:
            raise QueryError(f"there is no column '{key}' to partition by; columns: {', '.join(schema.names)}.")
        require_key_type(field.name, field.dataType)
        found.append(field.name)
    return tuple(found)


def require_key_type(
    name: str, data_type: DataType, *, key: str = "a key", use: str = "partition by", of: str = "by"
) -> None:
    """Raise a QueryError unless values of a type are equal where their bytes are.

    The message is made of the column's role ``key``, the verb for it ``use``, and its last word ``of``.
    """
    if data_type.typeName() in _REFUSED:
        raise QueryError(
            f"column '{name}' of type {data_type.simpleString().upper()} cannot be {key}: {use} plain columns, for a "
            f"struct {of} its fields."
        )
    if is_collated(data_type):
        raise QueryError(
            f"column '{name}' has the collation {data_type.collation}, under which different texts are equal: "
            f"{use} {as_bytes(name)}."
        )


def is_collated(data_type: DataType) -> TypeGuard[StringType]:
    """Return whether different bytes of a text may be equal."""
    return isinstance(data_type, StringType) and getattr(data_type, "collation", "UTF8_BINARY") != "UTF8_BINARY"


def as_bytes(name: str) -> str:
    """Return how to write a text with a collation so that equal values are equal bytes; lower() keeps a collation."""
    return f"{name} COLLATE UTF8_BINARY, or lower({name} COLLATE UTF8_BINARY)"


def bucket_of(schema: StructType, keys: Sequence[str], buckets: int) -> Column:
    """Return the bucket of a row, 0 to `buckets` - 1, as a Spark expression; without keys there is one bucket."""
    if not keys:
        return F.lit(0)
    return F.pmod(key_hash(schema, keys), F.lit(buckets)).cast("int")


def key_hash(schema: StructType, keys: Sequence[str]) -> Column:
    """Return the hash of a key as a BIGINT: equal keys have equal hashes; there is at least one column."""
    return F.xxhash64(*(canonical(F.col(f"`{key}`"), schema[key].dataType) for key in keys))


def canonical(column: Column, data_type: DataType) -> Column:
    """Return the column with one representation per equal value: -0.0 as 0.0, a single NaN."""
    if not isinstance(data_type, FloatType | DoubleType):
        return column
    typed = str(data_type.simpleString())
    zero, nan = F.lit(0).cast(typed), F.lit("NaN").cast(typed)
    return F.when(F.isnan(column), nan).when(column == zero, zero).otherwise(column)


def equal_codes(columns: Sequence[pa.ChunkedArray], rows: int) -> NDArray[np.int64]:
    """Return a code per row, equal where all columns are equal; without columns all rows are equal."""
    codes = np.zeros(rows, dtype=np.int64)
    highest = 1
    for column in columns:
        found, count = _column_codes(column)
        if highest * count > _MAX_CODES:
            _, codes = np.unique(codes, return_inverse=True)
            highest = int(codes.max(initial=0)) + 1
        codes = codes * count + found
        highest *= count
    return codes


def as_array(column: Any) -> Any:
    """Return a column as one Arrow array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    found: Any = column.combine_chunks()
    if isinstance(found, pa.ChunkedArray):
        found = pa.concat_arrays(found.chunks) if found.num_chunks else pa.array([], type=found.type)
    return found


def canonical_floats(array: Any) -> Any:
    """Return numbers with one representation of each: 0.0 for -0.0, a single NaN; other types as they are."""
    if not pa.types.is_floating(array.type):
        return array
    not_a_number = pa.scalar(float("nan"), type=array.type)
    return pc.if_else(pc.is_nan(array), not_a_number, pc.add(array, pa.scalar(0.0, type=array.type)))


def python_values(array: Any) -> list[Any]:
    """Return the values of an array as Python's, times in it as integers: Python's end with the year 9999."""
    values: list[Any] = array.cast(_without_times(array.type)).to_pylist()
    return values


def _without_times(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_times(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_without_times(kind.key_type), kind.item_field.with_type(_without_times(kind.item_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_times(kind.value_type)))
    if pa.types.is_date32(kind):
        return pa.int32()
    is_time = pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time64(kind)
    return pa.int64() if is_time else kind


def value_key(value: Any) -> tuple[Any, ...]:
    """Return a key of a value that is equal, hashed and ordered as the value: NULL first, then values, then NaN."""
    if value is None:
        return (0,)
    if isinstance(value, dict):
        return (1, tuple(map(value_key, value.values())))
    if isinstance(value, list | tuple):
        return (1, tuple(map(value_key, value)))
    if isinstance(value, float):
        return (2,) if math.isnan(value) else (1, value + 0.0)
    return (1, value)


def _column_codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], int]:
    array = as_array(column)
    if pa.types.is_nested(array.type):
        codes: dict[Any, int] = {}
        found = [codes.setdefault(value_key(value), len(codes)) for value in python_values(array)]
        return np.array(found, dtype=np.int64), len(codes) or 1
    encoded = canonical_floats(array).dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary) or 1
