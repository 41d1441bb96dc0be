"""Values without parts, and the column types that hold them without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from datasources.arrow_types import BIGINT, BINARY, BOOLEAN, DOUBLE, FLOAT, INT, STRING
from datasources.formats.protobuf.linking.steps import Form, Step, Target, wire_of
from datasources.formats.protobuf.schema.field_kinds import FieldKind, kind_of_field
from datasources.formats.protobuf.schema.protobuf_columns import column_type
from datasources.formats.schema_text.ddl_types import type_text

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor


class Incompatible(ValueError):
    """A field does not fit; the message is the reason.

    Attributes:
        path: of the field, with its parents.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path


_DIGITS: Final = {
    **dict.fromkeys((FieldKind.INT32, FieldKind.SINT32, FieldKind.SFIXED32), 10),
    **dict.fromkeys((FieldKind.UINT32, FieldKind.FIXED32), 10),
    **dict.fromkeys((FieldKind.INT64, FieldKind.SINT64, FieldKind.SFIXED64), 19),
    **dict.fromkeys((FieldKind.UINT64, FieldKind.FIXED64), 20),
}
"""How many decimal digits hold each number of a kind."""
_WIDER: Final = {
    INT: (BIGINT,),
    FLOAT: (DOUBLE,),
    STRING: (BINARY,),
}
"""Types that hold the values of another one besides it."""
_TARGETS: Final = {
    BOOLEAN: Target.BITS,
    INT: Target.NUMBER32,
    BIGINT: Target.NUMBER64,
    FLOAT: Target.REAL32,
    DOUBLE: Target.REAL64,
    STRING: Target.TEXT,
    BINARY: Target.TEXT,
}


def conversion(field: FieldDescriptor, arrow: pa.DataType, path: str) -> Step:
    """Return the step for a value without parts.

    Args:
        field: its field.
        arrow: the type of the column.
        path: of the field, for the error.

    Raises:
        Incompatible: the column does not hold each value exactly.
    """
    kind = kind_of_field(field)
    found = column_type(kind)
    assert found is not None
    form = Form[kind.name]
    step = Step(form, field.number, field.name, wire_of(form))
    if pa.types.is_decimal128(arrow) and arrow.precision - arrow.scale >= _DIGITS.get(kind, arrow.precision + 1):
        step.target, step.scale = Target.DECIMAL, arrow.scale
    elif kind is FieldKind.ENUM and arrow in {STRING, INT, BIGINT}:
        step.target = _TARGETS[arrow]
    elif kind is not FieldKind.ENUM and (arrow == found or arrow in _WIDER.get(found, ())):
        step.target = _TARGETS.get(arrow, Target.DECIMAL)
        step.form = Form.BYTES if arrow == BINARY else form
    else:
        raise Incompatible(path, _refusal(kind, arrow, found))
    return _with_symbols(step, field)


def unread(field: FieldDescriptor) -> Step:
    """Return the step for a field of which only matters whether it came."""
    kind = kind_of_field(field)
    form = Form.SKIPPED if field.message_type is not None else Form[kind.name]
    form = Form.BYTES if form == Form.STRING else form
    wire = wire_of(Form[kind.name])
    return _with_symbols(Step(form, field.number, field.name, wire), field)


def _with_symbols(step: Step, field: FieldDescriptor) -> Step:
    if field.enum_type is not None:
        step.enum_name, step.is_closed = field.enum_type.name, field.enum_type.is_closed
        step.symbols = {each.number: each.name for each in reversed(field.enum_type.values)}
    return step


def _refusal(kind: FieldKind, arrow: pa.DataType, found: pa.DataType) -> str:
    hint = "STRING or INT" if kind is FieldKind.ENUM else type_text(found)
    return f"its type {kind.name.lower()} does not fit a column of type {type_text(arrow)}; declare the column {hint}"
