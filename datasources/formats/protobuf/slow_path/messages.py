"""The fields of a message, collected until its end: a later value replaces an earlier one, messages are merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.formats.protobuf.linking.steps import Form, Step, Wire
from datasources.formats.protobuf.slow_path.wire import READERS, BadValue, Datum

SECONDS, NANOS = 1, 2
"""The fields of a Timestamp."""


class Message:
    """The values of a message's fields so far.

    Attributes:
        values: by the field's number; those of a repeated field are a list, of a map a dict.
    """

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[int, object] = {}


def read_message(datum: Datum, step: Step, into: Message, group: int = 0) -> None:
    """Read the fields of a message up to its last byte, or to the end of the group of a number.

    Raises:
        BadValue: it is malformed.
    """
    fields = {child.number: child for child in step.children}
    while not datum.is_at_end:
        number, wire = datum.tag()
        if wire == Wire.END_GROUP and number == group:
            return
        child = fields.get(number)
        if child is None or not _takes(child, wire):
            datum.skip(number, wire)
            continue
        try:
            _read_field(datum, child, wire, into, step)
        except BadValue as bad:
            bad.path.append(f".{child.name}")
            raise
    if group:
        raise BadValue("the message ends within a group")


def _takes(step: Step, wire: Wire) -> bool:
    return wire == step.wire or (wire == Wire.SIZED and step.is_packable)


def _read_field(datum: Datum, step: Step, wire: Wire, into: Message, parent: Step) -> None:
    if step.form == Form.MAP:
        _read_entry(datum, step, into)
    elif step.is_repeated:
        found = into.values.setdefault(step.number, [])
        assert isinstance(found, list)
        _read_elements(datum, step, wire, found)
    elif _is_kept(value := _value(datum, step, into.values.get(step.number)), step):
        for other in parent.children:
            if step.oneof and other.oneof == step.oneof and other is not step:
                into.values.pop(other.number, None)
        into.values[step.number] = value


def _read_elements(datum: Datum, step: Step, wire: Wire, found: list[object]) -> None:
    is_packed = wire != step.wire
    values = datum.values() if is_packed else datum
    try:
        while not is_packed or not values.is_at_end:
            value = _value(values, step, None)
            if _is_kept(value, step):
                found.append(value)
            if not is_packed:
                break
    except BadValue as bad:
        bad.path.append(f"[{len(found)}]")
        raise


def _read_entry(datum: Datum, step: Step, into: Message) -> None:
    found = into.values.setdefault(step.number, {})
    assert isinstance(found, dict)
    entry = Message()
    key, value = step.children
    unknown: list[object] = []
    try:
        _read_entry_fields(datum.inner(), step, entry, unknown)
    except BadValue as bad:
        bad.path.append(f"[{len(found)}]")
        raise
    if not unknown:
        absent = Message() if value.form in _NESTED else value.default
        found[entry.values.get(key.number, key.default)] = entry.values.get(value.number, absent)


def _read_entry_fields(datum: Datum, step: Step, entry: Message, unknown: list[object]) -> None:
    """Read key and value; with a number that the value's enum does not have, the whole entry does not count."""
    fields = {child.number: child for child in step.children}
    while not datum.is_at_end:
        number, wire = datum.tag()
        child = fields.get(number)
        if child is None or wire != child.wire:
            datum.skip(number, wire)
            continue
        value = _value(datum, child, entry.values.get(number))
        if _is_kept(value, child):
            entry.values[number] = value
        else:
            unknown.append(value)


def _is_kept(value: object, step: Step) -> bool:
    return not step.is_closed or value in step.symbols


def _value(datum: Datum, step: Step, earlier: object) -> object:
    """Return a value; of a message, the earlier one with the fields of this one."""
    read = READERS.get(step.form)
    return _NESTED[step.form](datum, step, earlier) if read is None else read(datum)


def _message(datum: Datum, step: Step, earlier: object) -> Message:
    message = earlier if isinstance(earlier, Message) else Message()
    read_message(datum.inner(), step, message)
    return message


def _group(datum: Datum, step: Step, earlier: object) -> Message:
    message = earlier if isinstance(earlier, Message) else Message()
    datum.open()
    read_message(datum, step, message, step.number)
    datum.close()
    return message


def _skipped(datum: Datum, step: Step, _: object) -> bool:
    datum.skip(step.number, step.wire)
    return True


_TIMESTAMP: Final = Step(
    Form.MESSAGE,
    0,
    "",
    Wire.SIZED,
    children=[Step(Form.INT64, SECONDS, "seconds"), Step(Form.INT32, NANOS, "nanos")],
)
_NESTED: Final[dict[Form, Callable[[Datum, Step, object], object]]] = {
    Form.MESSAGE: _message,
    Form.GROUP: _group,
    Form.TIMESTAMP: lambda datum, _, earlier: _message(datum, _TIMESTAMP, earlier),
    Form.SKIPPED: _skipped,
}
