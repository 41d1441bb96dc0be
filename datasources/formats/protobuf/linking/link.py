"""The steps that lead from a message to columns.

A column takes the field of its name, at any depth. Fields that no column takes are skipped, unread, but for those that
decide about others: the members of a column's oneof, and required fields of a message that a column takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP
from datasources.errors import SchemaError
from datasources.formats.columns.column_tree import ColumnTree, parts_of
from datasources.formats.protobuf.linking.conversions import Incompatible, conversion, unread
from datasources.formats.protobuf.linking.steps import Absent, Form, Plan, Step, Target, Wire, wire_of
from datasources.formats.protobuf.schema.field_kinds import is_map, is_timestamp, kind_of_field, wrapped
from datasources.formats.schema_text.ddl_types import type_text
from datasources.near_matches import near_matches

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

_KEY, _VALUE = 1, 2
_NOT_NULL: Final = "the column is NOT NULL and the message has no such field"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRules:
    """How columns find their values.

    Attributes:
        reads_defaults: whether a field that is absent has its default, also where the message knows that it is absent.
        lacks_fields: whether a column of which the message has no field is null, and not refused.
    """

    reads_defaults: bool = False
    lacks_fields: bool = False


def link(message: Descriptor, columns: pa.Schema, rules: LinkRules) -> Plan:
    """Return the steps that decode messages into columns.

    Args:
        message: the type of the records.
        columns: the columns, with their nullability.
        rules: how they find their values.

    Raises:
        SchemaError: a column cannot take its field's values; the message names the field and why.
    """
    tree = ColumnTree(columns)
    root = Step(Form.MESSAGE, 0, "", Wire.SIZED)
    try:
        _Linker(tree, rules).message(root, message, "")
    except Incompatible as problem:
        raise SchemaError(
            f"the message '{message.full_name}' does not fit the columns: field '{problem.path}': {problem}"
        ) from None
    return Plan(root, tree)


class _Linker:
    def __init__(self, tree: ColumnTree, rules: LinkRules) -> None:
        self._tree = tree
        self._rules = rules

    def message(self, step: Step, message: Descriptor, path: str) -> None:
        """Give a step, whose column is a STRUCT, the fields of a message."""
        parts = parts_of(self._tree.fields[step.column].type)
        linked: dict[str, Step] = {}
        for position, part in enumerate(parts):
            inner = f"{path}.{part.name}" if path else part.name
            field = message.fields_by_name.get(part.name)
            if field is None:
                self._require_no_field(message, part, inner)
            else:
                linked[part.name] = self._field(field, self._tree.first_parts[step.column] + position, inner)
                linked[part.name].position = position
        step.columns = tuple(part.name for part in parts)
        oneofs = {each.oneof for each in linked.values()} - {""}
        for field in message.fields:
            if field.name not in linked and (field.is_required or _oneof(field) in oneofs):
                linked[field.name] = self._unread(field)
        step.children = sorted(linked.values(), key=lambda each: each.number)

    def _require_no_field(self, message: Descriptor, part: pa.Field, path: str) -> None:
        if not self._rules.lacks_fields:
            hint = near_matches(part.name, message.fields_by_name.keys())
            raise Incompatible(path, f"the message '{message.full_name}' has no such field.{hint}")
        if not part.nullable:
            raise Incompatible(path, _NOT_NULL)

    def _unread(self, field: FieldDescriptor) -> Step:
        step = unread(field)
        step.oneof = _oneof(field)
        if field.is_required:
            step.absent, step.is_required = Absent.BAD, True
        return step

    def _field(self, field: FieldDescriptor, column: int, path: str) -> Step:
        arrow = self._tree.fields[column].type
        if is_map(field):
            return self._map(field, column, path)
        if field.is_repeated:
            if not pa.types.is_list(arrow):
                raise Incompatible(path, f"it is repeated, which a column of type {type_text(arrow)} does not hold")
            step = self._value(field, self._tree.first_parts[column], f"{path}[]")
            step.is_repeated, step.list_column = True, column
            return step
        step = self._value(field, column, path)
        step.oneof = _oneof(field)
        self._set_absent(step, field, is_nullable=self._tree.fields[column].nullable)
        return step

    def _set_absent(self, step: Step, field: FieldDescriptor, *, is_nullable: bool) -> None:
        has_default = field.message_type is None and (self._rules.reads_defaults or not field.has_presence)
        step.is_required = field.is_required
        if has_default and not field.is_required:
            step.absent, step.default = Absent.DEFAULT, field.default_value
        elif field.is_required or not is_nullable:
            step.absent = Absent.BAD

    def _map(self, field: FieldDescriptor, column: int, path: str) -> Step:
        arrow = self._tree.fields[column].type
        if not pa.types.is_map(arrow):
            raise Incompatible(path, f"it is a map, which a column of type {type_text(arrow)} does not hold")
        first = self._tree.first_parts[column]
        numbers = field.message_type.fields_by_number
        key = self._value(numbers[_KEY], first, f"{path}[]")
        value = self._value(numbers[_VALUE], first + 1, f"{path}[]")
        for child in (key, value):
            child.absent, child.default = Absent.DEFAULT, numbers[child.number].default_value
        if numbers[_VALUE].message_type is not None:
            value.absent = Absent.BAD
        return Step(
            Form.MAP,
            field.number,
            field.name,
            Wire.SIZED,
            is_repeated=True,
            list_column=column,
            children=[key, value],
        )

    def _value(self, field: FieldDescriptor, column: int, path: str) -> Step:
        """Return the step for one value of a field."""
        arrow, message = self._tree.fields[column].type, field.message_type
        if message is None:
            step = conversion(field, arrow, path)
            step.column = column
            return step
        if is_timestamp(message) and arrow in {TIMESTAMP, NTZ}:
            return Step(Form.TIMESTAMP, field.number, field.name, Wire.SIZED, column, Target.NUMBER64)
        form = Form[kind_of_field(field).name]
        step = Step(form, field.number, field.name, wire_of(form))
        value = wrapped(message)
        if value is not None and not pa.types.is_struct(arrow):
            return self._wrapper(step, value, column, path)
        if not pa.types.is_struct(arrow):
            raise Incompatible(path, _message_refusal(message, arrow))
        step.column = column
        self.message(step, message, path)
        return step

    def _wrapper(self, step: Step, value: FieldDescriptor, column: int, path: str) -> Step:
        child = conversion(value, self._tree.fields[column].type, path)
        child.column, child.position, child.absent, child.default = column, 0, Absent.DEFAULT, value.default_value
        step.is_wrapper, step.columns, step.children = True, (value.name,), [child]
        return step


def _oneof(field: FieldDescriptor) -> str:
    return "" if field.containing_oneof is None else field.containing_oneof.name


def _message_refusal(message: Descriptor, arrow: pa.DataType) -> str:
    reason = f"the message '{message.full_name}' does not fit a column of type {type_text(arrow)}"
    return f"{reason}; declare the column {'TIMESTAMP' if is_timestamp(message) else 'STRUCT<...>'}"
