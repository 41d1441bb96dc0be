"""A schema as the C library reads it: a table with one row for each node of its types.

The root, which stands for the documents, comes first, and the children of a node side by side: the fields of a STRUCT,
the element of an ARRAY, name and value of a MAP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
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
_WITHOUT_WIDTH: Final = frozenset((Form.STRING, Form.BINARY, Form.STRUCT, Form.ARRAY, Form.MAP))


def parts_of(arrow: pa.DataType) -> list[pa.Field]:
    """Return the fields of a type whose values consist of others."""
    if pa.types.is_struct(arrow):
        return list(arrow)
    if pa.types.is_list(arrow):
        return [arrow.value_field.with_nullable(True)]
    return [arrow.key_field, arrow.item_field.with_nullable(True)] if pa.types.is_map(arrow) else []


@dataclass(frozen=True, slots=True)
class WantedNode:
    """A node whose values are kept.

    Attributes:
        index: its row in the table of nodes.
        type: of the column, or of the part of one, that it becomes.
        form: how C converts a value.
        domain: the ARRAY or MAP to whose parts it belongs; 0 = to the documents.
        width: bytes of a value; 0 where the values have offsets or are those of other nodes.
        children: those of the type's parts that are wanted.
    """

    index: int
    type: pa.DataType
    form: Form
    domain: int
    width: int
    children: tuple[WantedNode, ...]

    @property
    def has_parts(self) -> bool:
        """Whether a value has any number of parts, each with a slot of its own."""
        return self.form in {Form.ARRAY, Form.MAP}

    @property
    def is_text(self) -> bool:
        """Whether a value is a text or bytes."""
        return self.form in {Form.STRING, Form.BINARY}

    def with_all_below(self) -> Iterator[WantedNode]:
        """Yield it and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.with_all_below()


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
            rows[at] |= _numbers(fields[at], children, len(fields), zone)
            domain = at if rows[at][NodeField.FORM] in {Form.ARRAY, Form.MAP} else rows[at].get(NodeField.DOMAIN, 0)
            rows[at] |= {NodeField.NAME_AT: len(names), NodeField.NAME_BYTES: _name_bytes(fields[at].name.encode())}
            names += fields[at].name.encode()
            fields += children
            rows += [{NodeField.DOMAIN: domain} for _ in children]
            at += 1
        self.types = [field.type for field in fields]
        self.names = np.frombuffer(names + b"\0", np.uint8)
        self.table = np.array([[row.get(each, 0) for each in NodeField] for row in rows], np.int64)

    def wanted(self, fields: Sequence[pa.Field]) -> tuple[WantedNode, ...]:
        """Return the nodes of wanted columns; a STRUCT in a wanted type may have fewer fields than in the schema."""
        return self._wanted(0, fields)

    def _wanted(self, parent: int, fields: Sequence[pa.Field]) -> tuple[WantedNode, ...]:
        arrow, first = self.types[parent], int(self.table[parent, NodeField.FIRST])
        positions: Sequence[int] = range(len(fields))
        if pa.types.is_struct(arrow):
            positions = [arrow.get_field_index(field.name) for field in fields]
            assert -1 not in positions
        return tuple(
            self._wanted_node(first + position, field.type) for position, field in zip(positions, fields, strict=True)
        )

    def _wanted_node(self, index: int, arrow: pa.DataType) -> WantedNode:
        children = self._wanted(index, parts_of(arrow))
        form, domain = Form(int(self.table[index, NodeField.FORM])), int(self.table[index, NodeField.DOMAIN])
        width = 0 if form in _WITHOUT_WIDTH else max(1, arrow.bit_width // 8)
        return WantedNode(index, arrow, form, domain, width, children)


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
