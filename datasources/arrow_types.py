"""The types of Spark SQL as Arrow types, and Spark's rules for combining them.

The one home of these constants. One Arrow type stands for each Spark type, the one in which Spark itself exchanges
data with Python: timestamp[us, UTC] is TIMESTAMP, timestamp[us] is TIMESTAMP_NTZ, duration[us] is INTERVAL DAY TO
SECOND, null is VOID, a list's item is called `element`, a map's parts `key` and `value`. Decimal precision and scale
follow Spark's DecimalPrecision; a result that Spark would have to round to fit 38 digits has no type here (None).
`pruned` and what follows it are about STRUCTs of which only some fields are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa

BOOLEAN: Final = pa.bool_()
TINYINT: Final = pa.int8()
SMALLINT: Final = pa.int16()
INT: Final = pa.int32()
BIGINT: Final = pa.int64()
FLOAT: Final = pa.float32()
DOUBLE: Final = pa.float64()
STRING: Final = pa.string()
BINARY: Final = pa.binary()
DATE: Final = pa.date32()
TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
NTZ: Final = pa.timestamp("us")
INTERVAL: Final = pa.duration("us")
VOID: Final = pa.null()

INTEGER_BITS: Final[dict[pa.DataType, int]] = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
MAX_DECIMAL_DIGITS: Final = 38
_INTEGER_DIGITS: Final[dict[pa.DataType, int]] = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
COLUMN_TYPES: Final[dict[str, pa.DataType]] = {
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "BIGINT": BIGINT,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "BINARY": BINARY,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMP_NTZ": NTZ,
}
"""Types without parameters that a column can have, by Spark's names."""
SPELLINGS: Final = {"BYTE": "TINYINT", "SHORT": "SMALLINT", "INTEGER": "INT", "LONG": "BIGINT", "REAL": "FLOAT"}
"""Other names that Spark takes for some of them."""
_NAMES: Final[dict[pa.DataType, str]] = {
    **{data_type: name for name, data_type in COLUMN_TYPES.items()},
    INTERVAL: "INTERVAL DAY TO SECOND",
    VOID: "VOID",
}


def list_of(element: pa.DataType) -> pa.DataType:
    """Return the Arrow type of ARRAY<element>."""
    return pa.list_(pa.field("element", element))


def map_of(key: pa.DataType, value: pa.DataType) -> pa.DataType:
    """Return the Arrow type of MAP<key, value>."""
    return pa.map_(pa.field("key", key, nullable=False), pa.field("value", value))


def canonical(data_type: pa.DataType) -> pa.DataType | None:
    """Return the type under which values of a schema's type are computed; None if there is none.

    A microsecond timestamp with any zone is Spark's TIMESTAMP: Arrow's zone is only how it is shown.
    """
    if pa.types.is_timestamp(data_type) and data_type.unit == "us":
        return NTZ if data_type.tz is None else TIMESTAMP
    if pa.types.is_decimal128(data_type) and data_type.scale >= 0:
        return data_type
    return data_type if data_type in _NAMES and data_type != BINARY else None


def spark_name(data_type: pa.DataType) -> str:
    """Return the name that Spark SQL has for a type."""
    if pa.types.is_decimal(data_type):
        return f"DECIMAL({data_type.precision},{data_type.scale})"
    if pa.types.is_struct(data_type):
        return "STRUCT"
    found = _NAMES.get(canonical(data_type) or data_type)
    return found or str(data_type).upper()


def is_integral(data_type: pa.DataType) -> bool:
    """Return whether the type is TINYINT, SMALLINT, INT or BIGINT."""
    return data_type in INTEGER_BITS


def is_numeric(data_type: pa.DataType) -> bool:
    """Return whether the type is a number."""
    return is_integral(data_type) or data_type in (FLOAT, DOUBLE) or pa.types.is_decimal(data_type)


def is_time(data_type: pa.DataType) -> bool:
    """Return whether the type is TIMESTAMP or TIMESTAMP_NTZ."""
    return data_type in (TIMESTAMP, NTZ)


def wider_integral(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the integral type that Spark widens both to."""
    return left if INTEGER_BITS[left] >= INTEGER_BITS[right] else right


def as_decimal(data_type: pa.DataType, literal: int | None = None) -> pa.DataType:
    """Return the decimal that stands for an integral type next to a decimal.

    Of a literal Spark takes just the digits it has.
    """
    if not is_integral(data_type):
        return data_type
    digits = len(str(abs(literal))) if literal is not None else _INTEGER_DIGITS[data_type]
    return pa.decimal128(digits, 0)


def decimal_of(precision: int, scale: int) -> pa.DataType | None:
    """Return the decimal type, or None where Spark would have to adjust precision and scale."""
    if not 0 < precision <= MAX_DECIMAL_DIGITS or not 0 <= scale <= precision:
        return None
    return pa.decimal128(precision, scale)


def decimal_sum(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type of a sum or difference of decimals."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return decimal_of(whole + scale + 1, scale)


def decimal_product(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type of a product of decimals."""
    return decimal_of(left.precision + right.precision + 1, left.scale + right.scale)


Path = tuple[str, ...]
"""A column, or a field inside of STRUCTs, as the names that lead to it."""


def pruned(schema: pa.Schema, paths: Iterable[Path]) -> pa.Schema:
    """Return the columns to which paths lead, in the order of the schema; of a STRUCT only the fields that are led to.

    Paths lead into STRUCTs only, and each leads to something.
    """
    return pa.schema(_pruned(list(schema), list(paths)))


def _pruned(fields: Sequence[pa.Field], paths: Sequence[Path]) -> list[pa.Field]:
    kept = []
    for field in fields:
        below = [path[1:] for path in paths if path[0] == field.name]
        if below and all(below) and pa.types.is_struct(field.type):
            kept.append(field.with_type(pa.struct(_pruned(list(field.type), below))))
        elif below:
            kept.append(field)
    return kept


def paths_of(fields: Iterable[pa.Field]) -> Iterator[Path]:
    """Yield the paths to all that columns consist of: `pruned` with them gives the same columns."""
    for field in fields:
        if pa.types.is_struct(field.type) and field.type.num_fields:
            yield from ((field.name, *path) for path in paths_of(field.type))
        else:
            yield (field.name,)


def widened(column: pa.Array, whole: pa.DataType) -> pa.Array:
    """Return a column under a type whose STRUCTs have more fields, which are null."""
    if column.type == whole:
        return column
    known = {field.name: at for at, field in enumerate(column.type)}
    children = [
        widened(column.field(known[each.name]), each.type) if each.name in known else pa.nulls(len(column), each.type)
        for each in whole
    ]
    return _struct(column, children, whole)


def narrowed(column: pa.Array, narrow: pa.DataType) -> pa.Array:
    """Return a column under a type whose STRUCTs have fewer fields."""
    if column.type == narrow or not pa.types.is_struct(narrow):
        return column
    known = {field.name: at for at, field in enumerate(column.type)}
    return _struct(column, [narrowed(column.field(known[each.name]), each.type) for each in narrow], narrow)


def _struct(like: pa.Array, children: Sequence[pa.Array], data_type: pa.DataType) -> pa.Array:
    mask = like.is_null() if like.null_count else None
    if not children:
        return pa.array([{}] * len(like), data_type, mask=mask)
    fields = [each.with_type(child.type) for each, child in zip(data_type, children, strict=True)]
    return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
