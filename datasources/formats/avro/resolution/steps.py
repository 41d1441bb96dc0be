"""What to do with each value of a writer's record, in the order in which the values are written.

Both paths follow the same steps: the slow path in Python, the native path as a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from datasources.formats.avro.schema.avro_types import AvroType
from datasources.formats.columns.column_tree import ColumnTree

MAX_LEVELS: Final = 200
"""Records, arrays and maps of a record that are open at once."""
MAX_EMPTY_VALUES: Final = 1_000
"""Items of arrays, and records, that take no bytes; a few bytes of a record could announce any number of nulls."""
PREFIXED: Final = -1
"""The size of bytes that follow their length."""


class Form(IntEnum):
    """How a value is written, and what becomes of it (`avro_rows.c`)."""

    NULL = 0
    REFUSED = 1
    BOOLEAN = 2
    INTEGER = 3
    FLOAT = 4
    DOUBLE = 5
    BYTES = 6
    UUID = 7
    ENUM = 8
    DECIMAL = 9
    RECORD = 10
    ARRAY = 11
    MAP = 12
    UNION = 13
    DEFAULT = 14


class Number(IntEnum):
    """The type of a number in its column (`avro_rows.c`)."""

    INT32 = 0
    INT64 = 1
    FLOAT32 = 2
    FLOAT64 = 3
    ROUNDED = 4
    """FLOAT64, of a number that the reader's schema declares a float."""


@dataclass(slots=True, eq=False)
class Step:
    """What to do with a value.

    Attributes:
        form: how the value is written.
        type: of the value.
        column: what receives it; 0 = nothing does.
        size: INTEGER: bytes of the writer's type; BYTES, DECIMAL: how many follow, or `PREFIXED`.
        number: INTEGER, FLOAT: the type in the column.
        factor: INTEGER: by which the value is multiplied; DECIMAL: the writer's precision; BYTES: 1 = they must be
            UTF-8.
        scale: DECIMAL: zeros that are appended.
        symbols: ENUM: the text of each symbol; None = the record is bad.
        names: RECORD: of each child, in error messages.
        positions: RECORD: where in the STRUCT the values of the children go; -1 = nowhere.
        columns: RECORD: the names of the STRUCT's fields; None = it is no column.
        children: RECORD: the writer's fields, then defaults; ARRAY: its elements; MAP: keys and values; UNION: its
            branches; DEFAULT: its value.
        content: DEFAULT: the encoded value.
        reason: REFUSED: why the record is bad.
    """

    form: Form
    type: AvroType
    column: int = 0
    size: int = 0
    number: Number = Number.INT64
    factor: int = 1
    scale: int = 0
    symbols: tuple[str | None, ...] = ()
    names: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()
    columns: tuple[str, ...] | None = None
    children: list[Step] = field(default_factory=list)
    content: bytes = b""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a record, whose columns are those of `tree`."""

    root: Step
    tree: ColumnTree
