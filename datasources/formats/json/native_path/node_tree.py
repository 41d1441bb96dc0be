"""A schema as the C library reads it: a table with one row for each node of its types.

The nodes have the order of the schema's columns (`ColumnTree`); the root stands for the documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.formats.columns.column_tree import ColumnTree, parts_of
from datasources.grammar.zones import FixedOffset, Zone
from datasources.native.json_rows import MAX_NAME_BYTES, NodeField

_NOT_PLAIN: Final = re.compile(rb'[\x00-\x1f"\\]')


class Form(IntEnum):
    """How C converts a value (json_rows.c)."""

    BOOLEAN = 0
    INTEGER = 1
    DOUBLE = 2
    STRING = 3
    DATE = 4
    LOCAL = 5
    INSTANT = 6
    FLOAT = 7
    DECIMAL = 8
    BINARY = 9
    STRUCT = 10
    ARRAY = 11
    MAP = 12


class _LocalTime(IntEnum):
    """What a TIMESTAMP without a zone means (json_rows.c)."""

    ZONE_NEEDED = 0
    ZONE_IS_UTC = 1
    ZONE_IS_KNOWN = 2


_FORMS: Final[Mapping[pa.DataType, Form]] = {
    pa.bool_(): Form.BOOLEAN,
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), Form.INTEGER),
    pa.float32(): Form.FLOAT,
    pa.float64(): Form.DOUBLE,
    pa.string(): Form.STRING,
    pa.binary(): Form.BINARY,
    pa.date32(): Form.DATE,
    NTZ: Form.LOCAL,
    TIMESTAMP: Form.INSTANT,
}
_NESTED: Final = (
    (pa.types.is_decimal128, Form.DECIMAL),
    (pa.types.is_struct, Form.STRUCT),
    (pa.types.is_list, Form.ARRAY),
    (pa.types.is_map, Form.MAP),
)


class NodeTree:
    """The nodes of a schema, one for each column of its `ColumnTree`.

    Args:
        schema: validates documents.
        zone: of timestamps without a zone; None rejects them.

    Attributes:
        columns: what receives the values of the nodes.
        table: rows of `NodeField`.
        names: the names of the nodes, one after the other.
    """

    def __init__(self, schema: pa.Schema, zone: Zone | None) -> None:
        self.columns = ColumnTree(schema)
        rows, names = [], b""
        for field, first in zip(self.columns.fields, self.columns.first_parts, strict=True):
            row = _numbers(field, parts_of(field.type), first, zone)
            name = field.name.encode()
            row |= {NodeField.NAME_AT: len(names), NodeField.NAME_BYTES: _name_bytes(name)}
            names += name
            rows.append(row)
        self.names = np.frombuffer(names + b"\0", np.uint8)
        self.table = np.array([[row.get(each, 0) for each in NodeField] for row in rows], np.int64)


def _numbers(field: pa.Field, children: Sequence[pa.Field], first: int, zone: Zone | None) -> dict[NodeField, int]:
    arrow = field.type
    is_decimal = pa.types.is_decimal128(arrow)
    return {
        NodeField.FORM: _form(arrow),
        NodeField.IS_NULLABLE: field.nullable,
        NodeField.DETAIL: arrow.precision if is_decimal else _detail(arrow, zone),
        NodeField.SCALE: arrow.scale if is_decimal else 0,
        NodeField.FIRST: first,
        NodeField.COUNT: len(children),
        NodeField.REQUIRED: sum(not each.nullable for each in children),
    }


def _form(arrow: pa.DataType) -> Form:
    return _FORMS[arrow] if arrow in _FORMS else next(form for is_kind, form in _NESTED if is_kind(arrow))


def _detail(arrow: pa.DataType, zone: Zone | None) -> int:
    if arrow == TIMESTAMP:
        if zone is None:
            return _LocalTime.ZONE_NEEDED
        return _LocalTime.ZONE_IS_UTC if zone == FixedOffset(0) else _LocalTime.ZONE_IS_KNOWN
    return arrow.bit_width // 8 if pa.types.is_integer(arrow) else 0


def _name_bytes(name: bytes) -> int:
    """Return the length of a name in bytes; -1 if C does not support it."""
    return -1 if _NOT_PLAIN.search(name) or len(name) > MAX_NAME_BYTES else len(name)
