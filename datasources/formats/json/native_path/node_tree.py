"""A schema as the C library reads it: a table with one row for each node of its types.

The root, which stands for the documents, comes first, and the children of a node side by side: the fields of a STRUCT,
the element of an ARRAY, name and value of a MAP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.grammar.zones import FixedOffset, Zone
from datasources.native.json_rows import MAX_NAME_BYTES, NodeField

_NOT_PLAIN: Final = re.compile(rb'[\x00-\x1f"\\]')


class _Form(IntEnum):
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


_FORMS: Final[Mapping[pa.DataType, _Form]] = {
    pa.bool_(): _Form.BOOLEAN,
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), _Form.INTEGER),
    pa.float32(): _Form.FLOAT,
    pa.float64(): _Form.DOUBLE,
    pa.string(): _Form.STRING,
    pa.binary(): _Form.BINARY,
    pa.date32(): _Form.DATE,
    NTZ: _Form.LOCAL,
    TIMESTAMP: _Form.INSTANT,
}
_NESTED: Final = (
    (pa.types.is_decimal128, _Form.DECIMAL),
    (pa.types.is_struct, _Form.STRUCT),
    (pa.types.is_list, _Form.ARRAY),
    (pa.types.is_map, _Form.MAP),
)


def has_parts(arrow: pa.DataType) -> bool:
    """Return whether a value has any number of parts, each with a slot of its own."""
    return bool(pa.types.is_list(arrow) or pa.types.is_map(arrow))


def is_text(arrow: pa.DataType) -> bool:
    """Return whether a value is a text or bytes."""
    return arrow in {pa.string(), pa.binary()}


def parts_of(arrow: pa.DataType) -> list[pa.Field]:
    """Return the fields of a type whose values consist of others."""
    if pa.types.is_struct(arrow):
        return list(arrow)
    if pa.types.is_list(arrow):
        return [arrow.value_field.with_nullable(True)]
    return [arrow.key_field, arrow.item_field.with_nullable(True)] if pa.types.is_map(arrow) else []


class NodeTree:
    """The nodes of a schema.

    Args:
        schema: validates documents.
        zone: of timestamps without a zone; None rejects them.

    Attributes:
        types: of each node; the root's is a STRUCT.
        table: rows of `NodeField`, without buffers.
        names: the names of the nodes, one after the other.
    """

    def __init__(self, schema: pa.Schema, zone: Zone | None) -> None:
        fields = [pa.field("", pa.struct(list(schema)))]
        rows: list[dict[NodeField, int]] = [{}]
        names, at = b"", 0
        while at < len(fields):
            children = parts_of(fields[at].type)
            domain = at if has_parts(fields[at].type) else rows[at].get(NodeField.DOMAIN, 0)
            rows[at] |= _numbers(fields[at], children, len(fields), zone)
            rows[at] |= {NodeField.NAME_AT: len(names), NodeField.NAME_BYTES: _name_bytes(fields[at].name.encode())}
            names += fields[at].name.encode()
            fields += children
            rows += [{NodeField.DOMAIN: domain} for _ in children]
            at += 1
        self.types = [field.type for field in fields]
        self.names = np.frombuffer(names + b"\0", np.uint8)
        self.table = np.array([[row.get(each, 0) for each in NodeField] for row in rows], np.int64)

    def domain(self, node: int) -> int:
        """Return the ARRAY or MAP to whose parts a node belongs; 0 = to the documents."""
        return int(self.table[node, NodeField.DOMAIN])

    def children(self, node: int) -> range:
        """Return the children of a node."""
        first, count = (int(self.table[node, each]) for each in (NodeField.FIRST, NodeField.COUNT))
        return range(first, first + count)

    def child(self, node: int, position: int, wanted: pa.Field) -> int:
        """Return the child that a wanted field is: of a STRUCT that of its name, otherwise that at its position."""
        arrow = self.types[node]
        return self.children(node)[arrow.get_field_index(wanted.name) if pa.types.is_struct(arrow) else position]

    def wanted_nodes(self, wanted: Sequence[pa.Field]) -> set[int]:
        """Return the nodes of wanted columns; a STRUCT in a wanted type may have fewer fields than the schema's."""
        return set(self._below(0, wanted))

    def _below(self, node: int, wanted: Sequence[pa.Field]) -> Iterator[int]:
        for position, field in enumerate(wanted):
            child = self.child(node, position, field)
            yield child
            yield from self._below(child, parts_of(field.type))


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


def _form(arrow: pa.DataType) -> _Form:
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
