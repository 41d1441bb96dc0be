"""Values without parts, and the column types that hold them without loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from datasources.arrow_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NTZ,
    STRING,
    TIMESTAMP,
)
from datasources.formats.avro.resolution.steps import PREFIXED, Form, Number, Step
from datasources.formats.avro.schema.avro_columns import column_type
from datasources.formats.avro.schema.avro_types import AvroKind, AvroType, LogicalType
from datasources.formats.schema_text.ddl_types import type_text


class Incompatible(ValueError):
    """A writer's type does not fit; the message is the reason.

    Attributes:
        path: of the field, with its parents; empty = it is that of the record itself.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path


@dataclass(frozen=True, slots=True)
class _Value:
    """The writer's type, the kind that Avro's resolution makes of it, and what the values mean."""

    writer: AvroType
    kind: AvroKind
    logical: LogicalType | None

    @property
    def meaning(self) -> str:
        return "" if self.logical is None else self.logical.name


_Convert = Callable[[_Value, pa.DataType], Step | None]
_INTEGERS: Final = {AvroKind.INT: 4, AvroKind.LONG: 8}
_FLOATS: Final = {AvroKind.FLOAT: Form.FLOAT, AvroKind.DOUBLE: Form.DOUBLE}
_MICROS_PER_UNIT: Final = {"millis": 1_000, "micros": 1}
PROMOTIONS: Final[Mapping[AvroKind, frozenset[AvroKind]]] = {
    AvroKind.INT: frozenset((AvroKind.LONG, AvroKind.FLOAT, AvroKind.DOUBLE)),
    AvroKind.LONG: frozenset((AvroKind.FLOAT, AvroKind.DOUBLE)),
    AvroKind.FLOAT: frozenset((AvroKind.DOUBLE,)),
    AvroKind.STRING: frozenset((AvroKind.BYTES,)),
    AvroKind.BYTES: frozenset((AvroKind.STRING,)),
}
"""Which kinds of a reader take the values of a kind of a writer, besides the same one."""


def conversion(writer: AvroType, reader: AvroType | None, arrow: pa.DataType, path: str) -> Step:
    """Return the step for a value without parts.

    Args:
        writer: its type.
        reader: what the reader's schema declares, of a kind that takes the writer's; None = there is none.
        arrow: the type of the column.
        path: of the field, for the error.

    Raises:
        Incompatible: the column does not hold each value exactly, or means something else.
    """
    value = _Value(writer, (reader or writer).kind, _meaning(writer, reader, arrow, path))
    convert = _decimal if pa.types.is_decimal128(arrow) else _BY_ARROW.get(arrow, _nothing)
    step = convert(value, arrow)
    if step is None:
        raise Incompatible(path, _refusal(writer, reader, arrow))
    return step


def _refusal(writer: AvroType, reader: AvroType | None, arrow: pa.DataType) -> str:
    whose, avro = ("writer", writer) if reader is None else ("reader", reader)
    reason = f"the {whose}'s type {avro} does not fit a column of type {type_text(arrow)}"
    if avro.kind in {AvroKind.RECORD, AvroKind.ARRAY, AvroKind.MAP, AvroKind.NULL}:
        return reason
    hint = column_type(avro) or BINARY
    return reason if hint == arrow else f"{reason}; declare the column {type_text(hint)}"


def _meaning(writer: AvroType, reader: AvroType | None, arrow: pa.DataType, path: str) -> LogicalType | None:
    if reader is None or reader.logical is None or writer.logical is None:
        return writer.logical or (None if reader is None else reader.logical)
    is_same = writer.logical == reader.logical
    has_units = arrow in {TIMESTAMP, NTZ} and _clock(writer.logical) == _clock(reader.logical)
    if not is_same and not has_units:
        raise Incompatible(path, f"the writer's {writer.logical} is not the reader's {reader.logical}")
    return writer.logical


def _clock(logical: LogicalType) -> str:
    return logical.name.rpartition("-")[0]


def _nothing(_: _Value, __: pa.DataType) -> None:
    return None


def _boolean(value: _Value, _: pa.DataType) -> Step | None:
    return Step(Form.BOOLEAN, value.writer) if value.kind is AvroKind.BOOLEAN else None


def _integer(value: _Value, arrow: pa.DataType) -> Step | None:
    if value.kind not in _INTEGERS or (arrow == INT and value.kind is AvroKind.LONG):
        return None
    number = Number.INT32 if arrow == INT else Number.INT64
    return Step(Form.INTEGER, value.writer, size=_INTEGERS[value.writer.kind], number=number)


def _floating(value: _Value, arrow: pa.DataType) -> Step | None:
    writer = value.writer
    if value.logical is not None or (arrow == FLOAT and value.kind is AvroKind.DOUBLE):
        return None
    number = Number.FLOAT32 if arrow == FLOAT else Number.FLOAT64
    if writer.kind in _INTEGERS:
        is_rounded = arrow == DOUBLE and value.kind is AvroKind.FLOAT
        return Step(Form.INTEGER, writer, size=_INTEGERS[writer.kind], number=Number.ROUNDED if is_rounded else number)
    return Step(_FLOATS[writer.kind], writer, number=number) if writer.kind in _FLOATS else None


def _bytes(value: _Value, arrow: pa.DataType) -> Step | None:
    if value.kind in {AvroKind.BYTES, AvroKind.STRING} and (arrow == BINARY or value.meaning != "decimal"):
        return Step(Form.BYTES, value.writer, size=PREFIXED, factor=int(arrow == STRING))
    if value.kind is AvroKind.FIXED and arrow == BINARY:
        return Step(Form.BYTES, value.writer, size=value.writer.size, factor=0)
    return None


def _string(value: _Value, arrow: pa.DataType) -> Step | None:
    if value.kind is AvroKind.ENUM:
        return Step(Form.ENUM, value.writer, symbols=value.writer.symbols)
    if value.kind is AvroKind.FIXED and value.meaning == "uuid":
        return Step(Form.UUID, value.writer, size=value.writer.size)
    return _bytes(value, arrow)


def _date(value: _Value, _: pa.DataType) -> Step | None:
    return _integer(value, INT) if value.meaning == "date" else None


def _timestamp(value: _Value, arrow: pa.DataType) -> Step | None:
    clock, _, unit = value.meaning.rpartition("-")
    clocks = {"timestamp"} if arrow == TIMESTAMP else {"timestamp", "local-timestamp"}
    step = _integer(value, BIGINT)
    if step is None or clock not in clocks or unit not in _MICROS_PER_UNIT:
        return None
    step.factor = _MICROS_PER_UNIT[unit]
    return step


def _decimal(value: _Value, arrow: pa.DataType) -> Step | None:
    logical, writer = value.logical, value.writer
    if logical is None or not logical.is_decimal or writer.kind not in {AvroKind.BYTES, AvroKind.FIXED}:
        return None
    scale = arrow.scale - logical.scale
    if scale < 0 or arrow.precision - arrow.scale < logical.precision - logical.scale:
        return None
    size = writer.size if writer.kind is AvroKind.FIXED else PREFIXED
    return Step(Form.DECIMAL, writer, size=size, factor=logical.precision, scale=scale)


_BY_ARROW: Final[Mapping[pa.DataType, _Convert]] = {
    BOOLEAN: _boolean,
    INT: _integer,
    BIGINT: _integer,
    FLOAT: _floating,
    DOUBLE: _floating,
    STRING: _string,
    BINARY: _bytes,
    DATE: _date,
    TIMESTAMP: _timestamp,
    NTZ: _timestamp,
}
