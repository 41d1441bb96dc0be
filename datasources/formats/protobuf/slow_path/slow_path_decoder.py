"""Makes rows of messages: what absent fields have, and whether a required one is missing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from datasources.formats.protobuf.linking.steps import Absent, Form, Plan, Step, Target
from datasources.formats.protobuf.slow_path.messages import NANOS, SECONDS, Message, read_message
from datasources.formats.protobuf.slow_path.wire import BadValue, Datum

_MAX_PATH: Final = 120
_MICROS: Final = 1_000_000
_NANOS_PER_MICRO: Final = 1_000
_NANOS_PER_SECOND: Final = 1_000_000_000
_MAX_MICROS: Final = 2**63


class BadRecord(ValueError):
    """The record cannot be decoded; the message is the reason."""


class SlowPathDecoder:
    """Decodes single records."""

    def __init__(self, plan: Plan) -> None:
        self._root = plan.root

    def row(self, raw: bytes) -> list[object]:
        """Return the record's values, one for each column, as `pa.array` takes them.

        Raises:
            BadRecord: it cannot be decoded.
        """
        message = Message()
        try:
            read_message(Datum(raw), self._root, message)
            return _values(message, self._root)
        except BadValue as bad:
            path = _shortened("".join(reversed(bad.path)).removeprefix("."))
            raise BadRecord(f"field '{path}': {bad}" if path else str(bad)) from None


def _shortened(path: str) -> str:
    return path if len(path) <= _MAX_PATH else f"{path[: _MAX_PATH // 2]}...{path[-_MAX_PATH // 2 :]}"


def _values(message: Message, step: Step) -> list[object]:
    """Return the values of a STRUCT's fields, or of the columns."""
    values: list[object] = [None] * len(step.columns)
    for child in step.children:
        try:
            value = _field_value(message, child)
        except BadValue as bad:
            bad.path.append(f".{child.name}")
            raise
        if child.position >= 0:
            values[child.position] = value
    return values


def _field_value(message: Message, step: Step) -> object:
    found = message.values.get(step.number)
    if step.form == Form.MAP:
        return _entries(found, step)
    if step.is_repeated:
        return _elements(found, step)
    if step.number in message.values:
        return _column_value(found, step)
    if step.absent == Absent.BAD:
        raise BadValue("it is required and missing" if step.is_required else "it is missing and the column is NOT NULL")
    return _column_value(step.default, step) if step.absent == Absent.DEFAULT else None


def _elements(found: object, step: Step) -> list[object]:
    values: list[object] = []
    for each in found if isinstance(found, list) else ():
        try:
            values.append(_column_value(each, step))
        except BadValue as bad:
            bad.path.append(f"[{len(values)}]")
            raise
    return values


def _entries(found: object, step: Step) -> list[tuple[object, object]]:
    key, value = step.children
    entries: list[tuple[object, object]] = []
    for each, content in found.items() if isinstance(found, dict) else ():
        try:
            entries.append((_column_value(each, key), _column_value(content, value)))
        except BadValue as bad:
            bad.path.append(f"[{len(entries)}]")
            raise
    return entries


def _column_value(value: object, step: Step) -> object:
    """Return a value as its column has it."""
    if isinstance(value, Message):
        return _timestamp(value) if step.form == Form.TIMESTAMP else _struct(value, step)
    convert = _BY_TARGET.get(step.target)
    return value if convert is None else convert(value, step)


def _struct(message: Message, step: Step) -> object:
    values = _values(message, step)
    return values[0] if step.is_wrapper else dict(zip(step.columns, values, strict=True))


def _timestamp(message: Message) -> int:
    """Return microseconds since 1970; the last three digits of the nanoseconds are cut off."""
    seconds, nanos = message.values.get(SECONDS, 0), message.values.get(NANOS, 0)
    assert isinstance(seconds, int)
    assert isinstance(nanos, int)
    if not 0 <= nanos < _NANOS_PER_SECOND:
        raise BadValue(f"a timestamp has {nanos} nanoseconds")
    found = seconds * _MICROS + nanos // _NANOS_PER_MICRO
    if not -_MAX_MICROS <= seconds * _MICROS < _MAX_MICROS or found >= _MAX_MICROS:
        raise BadValue("the time is beyond the range of a timestamp in microseconds")
    return found


def _decimal(value: object, _: Step) -> Decimal:
    assert isinstance(value, int)
    return Decimal(value)


def _text(value: object, step: Step) -> object:
    if step.form != Form.ENUM:
        return value
    assert isinstance(value, int)
    return step.symbols.get(value, f"UNKNOWN_ENUM_VALUE_{step.enum_name}_{value}")


_BY_TARGET: Final[dict[Target, Callable[[object, Step], object]]] = {
    Target.DECIMAL: _decimal,
    Target.TEXT: _text,
}
