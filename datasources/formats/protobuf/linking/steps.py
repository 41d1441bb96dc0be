"""What to do with each field of a message.

Both paths follow the same steps: the slow path in Python, the native path as a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from datasources.formats.columns.column_tree import ColumnTree

MAX_LEVELS: Final = 100
"""Messages within the record's that are open at once, as in Google's readers."""


class Form(IntEnum):
    """How a value is written, and what becomes of it (`protobuf_rows.c`)."""

    BOOL = 0
    INT32 = 1
    INT64 = 2
    UINT32 = 3
    UINT64 = 4
    SINT32 = 5
    SINT64 = 6
    ENUM = 7
    FIXED32 = 8
    SFIXED32 = 9
    FLOAT = 10
    FIXED64 = 11
    SFIXED64 = 12
    DOUBLE = 13
    STRING = 14
    BYTES = 15
    MESSAGE = 16
    GROUP = 17
    MAP = 18
    TIMESTAMP = 19
    SKIPPED = 20
    """Only whether it came matters."""


class Wire(IntEnum):
    """The types of values on the wire, the lowest three bits of a tag."""

    VARINT = 0
    WORD64 = 1
    SIZED = 2
    BEGIN_GROUP = 3
    END_GROUP = 4
    WORD32 = 5


class Target(IntEnum):
    """What the buffer of a column receives (`protobuf_rows.c`)."""

    NOTHING = 0
    BITS = 1
    NUMBER32 = 2
    NUMBER64 = 3
    REAL32 = 4
    REAL64 = 5
    DECIMAL = 6
    TEXT = 7


class Absent(IntEnum):
    """What the column of a field that does not come receives (`protobuf_rows.c`)."""

    NULL = 0
    DEFAULT = 1
    BAD = 2
    """The record is bad."""


_WORDS: Final = {
    **dict.fromkeys((Form.FIXED32, Form.SFIXED32, Form.FLOAT), Wire.WORD32),
    **dict.fromkeys((Form.FIXED64, Form.SFIXED64, Form.DOUBLE), Wire.WORD64),
    **dict.fromkeys((Form.STRING, Form.BYTES, Form.MESSAGE, Form.MAP, Form.TIMESTAMP), Wire.SIZED),
    Form.GROUP: Wire.BEGIN_GROUP,
}


@dataclass(slots=True, eq=False)
class Step:
    """What to do with a field.

    Attributes:
        form: how the value is written.
        number: of the field.
        name: of the field.
        wire: type of the value on the wire.
        column: what receives the value, or each element; 0 = nothing does.
        target: what the column's buffer receives.
        is_repeated: whether there may be any number of values; of a MAP they are its entries.
        list_column: the ARRAY or MAP that receives repeated values; 0 = nothing does.
        position: where in the STRUCT the value goes; -1 = nowhere.
        absent: what happens if the field does not come; without meaning if it is repeated.
        is_required: absent: whether the message's type, and not the column, is the reason.
        default: what the field has if it is absent, as it would be read.
        oneof: the name of the oneof that it is a member of; empty = it is in none.
        enum_name: ENUM: the name of its type.
        symbols: ENUM: the text of each number.
        is_closed: ENUM: whether other numbers do not count.
        scale: DECIMAL: zeros that are appended.
        is_wrapper: MESSAGE: whether the value is that of its only child.
        columns: MESSAGE, GROUP: the names of the STRUCT's fields.
        children: MESSAGE, GROUP: fields, by number; MAP: key and value.
    """

    form: Form
    number: int
    name: str
    wire: Wire = Wire.VARINT
    column: int = 0
    target: Target = Target.NOTHING
    is_repeated: bool = False
    list_column: int = 0
    position: int = -1
    absent: Absent = Absent.NULL
    is_required: bool = False
    default: bool | int | float | str | bytes = 0
    oneof: str = ""
    enum_name: str = ""
    symbols: dict[int, str] = field(default_factory=dict)
    is_closed: bool = False
    scale: int = 0
    is_wrapper: bool = False
    columns: tuple[str, ...] = ()
    children: list[Step] = field(default_factory=list)

    @property
    def is_packable(self) -> bool:
        """Whether several values may come as one."""
        return self.is_repeated and self.wire in {Wire.VARINT, Wire.WORD32, Wire.WORD64}


def wire_of(form: Form) -> Wire:
    """Return the type on the wire of a form but SKIPPED."""
    return _WORDS.get(form, Wire.VARINT)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a record's message, whose columns are those of `tree`."""

    root: Step
    tree: ColumnTree
