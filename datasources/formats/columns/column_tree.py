"""The columns of a schema and all that they consist of, numbered as C reads them.

The root, which stands for the rows, comes first, and the parts of a column side by side: the fields of a STRUCT, the
element of an ARRAY, key and value of a MAP.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.native.column_words import ColumnWord


class ColumnKind(Enum):
    """What the buffers of a column are."""

    BITS = auto()
    NUMBERS = auto()
    TEXTS = auto()
    STRUCT = auto()
    ARRAY = auto()
    MAP = auto()


_KINDS: Final = (
    (pa.types.is_boolean, ColumnKind.BITS),
    (pa.types.is_string, ColumnKind.TEXTS),
    (pa.types.is_binary, ColumnKind.TEXTS),
    (pa.types.is_struct, ColumnKind.STRUCT),
    (pa.types.is_list, ColumnKind.ARRAY),
    (pa.types.is_map, ColumnKind.MAP),
)
_WITH_PARTS: Final = frozenset((ColumnKind.ARRAY, ColumnKind.MAP))


def kind_of(arrow: pa.DataType) -> ColumnKind:
    """Return what the buffers of a type are."""
    return next((kind for is_kind, kind in _KINDS if is_kind(arrow)), ColumnKind.NUMBERS)


def parts_of(arrow: pa.DataType) -> list[pa.Field]:
    """Return the fields of a type whose values consist of others."""
    if pa.types.is_struct(arrow):
        return list(arrow)
    if pa.types.is_list(arrow):
        return [arrow.value_field.with_nullable(True)]
    return [arrow.key_field, arrow.item_field.with_nullable(True)] if pa.types.is_map(arrow) else []


@dataclass(frozen=True, slots=True)
class WantedColumn:
    """A column whose values are kept.

    Attributes:
        index: its row in the table of columns.
        type: of the column, or of the part of one, that it becomes.
        kind: what its buffers are.
        domain: the ARRAY or MAP to whose parts it belongs; 0 = to the rows.
        width: bytes of a value; 0 where the values have offsets or are those of other columns.
        children: those of the type's parts that are wanted.
    """

    index: int
    type: pa.DataType
    kind: ColumnKind
    domain: int
    width: int
    children: tuple[WantedColumn, ...]

    @property
    def has_parts(self) -> bool:
        """Whether a value has any number of parts, each with a slot of its own."""
        return self.kind in _WITH_PARTS

    @property
    def is_text(self) -> bool:
        """Whether a value is a text or bytes."""
        return self.kind is ColumnKind.TEXTS

    def with_all_below(self) -> Iterator[WantedColumn]:
        """Yield it and all columns below it."""
        yield self
        for child in self.children:
            yield from child.with_all_below()


class ColumnTree:
    """The columns of a schema.

    Attributes:
        fields: of each column; the root's is a STRUCT.
        first_parts: of each column the index of its first part.
        table: rows of `ColumnWord`, without buffers.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.fields = [pa.field("", pa.struct(list(schema)))]
        self.first_parts: list[int] = []
        domains = [0]
        for index, field in enumerate(self.fields):  # which grows meanwhile
            parts = parts_of(field.type)
            domain = index if kind_of(field.type) in _WITH_PARTS else domains[index]
            self.first_parts.append(len(self.fields))
            self.fields += parts
            domains += [domain] * len(parts)
        self.table = np.zeros((len(self.fields), len(ColumnWord)), np.int64)
        self.table[:, ColumnWord.DOMAIN] = domains

    def wanted(self, fields: Sequence[pa.Field]) -> tuple[WantedColumn, ...]:
        """Return the wanted columns; a STRUCT in a wanted type may have fewer fields than in the schema."""
        return self._wanted(0, fields)

    def _wanted(self, parent: int, fields: Sequence[pa.Field]) -> tuple[WantedColumn, ...]:
        arrow, first = self.fields[parent].type, self.first_parts[parent]
        positions: Sequence[int] = range(len(fields))
        if pa.types.is_struct(arrow):
            positions = [arrow.get_field_index(field.name) for field in fields]
            assert -1 not in positions
        return tuple(
            self._wanted_column(first + position, field.type) for position, field in zip(positions, fields, strict=True)
        )

    def _wanted_column(self, index: int, arrow: pa.DataType) -> WantedColumn:
        children = self._wanted(index, parts_of(arrow))
        kind, domain = kind_of(arrow), int(self.table[index, ColumnWord.DOMAIN])
        width = max(1, arrow.bit_width // 8) if kind in {ColumnKind.BITS, ColumnKind.NUMBERS} else 0
        return WantedColumn(index, arrow, kind, domain, width, children)
