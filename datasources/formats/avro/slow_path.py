"""The slow path: record by record, in Python, for records that the native path does not decode.

It has the same rules as `avro_rows.c` and knows the reason why a record is bad. It is a reader of its own because
fastavro and Avro's library accept what is refused here: bytes behind the record, any byte as a boolean, negative
indexes of symbols and branches, numbers beyond their type. Both also make Python objects of logical types, which lack
some values that columns have.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Final

import numpy as np

from datasources.formats.avro.resolution.steps import (
    MAX_EMPTY_VALUES,
    MAX_LEVELS,
    PREFIXED,
    Form,
    Number,
    Plan,
    Step,
)


class BadRecord(ValueError):
    """The record cannot be decoded; the message is the reason."""


class _BadValue(Exception):
    """A value cannot be decoded; `path` leads to it, and receives names from the innermost one on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path: list[str] = []


_MAX_PATH: Final = 120
_MORE: Final = 0x80
_LAST_SHIFT: Final = 63
_SIGN: Final = 2**63
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_EXACT: Final = Context(prec=60)


class SlowPathDecoder:
    """Decodes single records, behind `skip` bytes that are not theirs."""

    def __init__(self, plan: Plan, skip: int = 0) -> None:
        self._root = plan.root
        self._skip = skip

    def row(self, payload: bytes) -> list[object]:
        """Return the record's values, one for each column, as `pa.array` takes them.

        Raises:
            BadRecord: it cannot be decoded.
        """
        raw = payload[self._skip :]
        datum = _Datum(raw)
        try:
            values = _record_values(datum, self._root)
        except _BadValue as bad:
            path = _shortened("".join(reversed(bad.path)).removeprefix("."))
            raise BadRecord(f"field '{path}': {bad}" if path else str(bad)) from None
        if datum.at != len(raw):
            raise BadRecord(f"{_count(len(raw) - datum.at, 'byte')} behind the end of the record")
        return values


class _Datum:
    """The bytes of a record, and how far they are read."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.at = 0
        self._levels = MAX_LEVELS
        self._empty_values = 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        found = self._raw[self.at : self.at + size]
        if len(found) != size:
            raise _BadValue(f"the record ends after {len(found)} of {_count(size, 'byte')}")
        self.at += size
        return found

    def number(self) -> int:
        """Return the next number of variable length."""
        bits = 0
        for shift in range(0, _LAST_SHIFT + 1, 7):
            if self.at >= len(self._raw):
                raise _BadValue("the record ends within a number" if shift else "the record ends before a number")
            byte = self._raw[self.at]
            self.at += 1
            if shift == _LAST_SHIFT and byte > 1:
                break
            bits |= (byte & ~_MORE) << shift
            if byte < _MORE:
                return (bits >> 1) ^ -(bits & 1)
        raise _BadValue("a number has more than 64 bits")

    def sized(self, size: int) -> bytes:
        """Return so many bytes; if `PREFIXED`, as many as the number before them says."""
        if size == PREFIXED:
            size = self.number()
            if size < 0:
                raise _BadValue(f"its length is {size} bytes")
        return self.take(size)

    def open(self) -> int:
        """Begin a record, array or map; return where."""
        if not self._levels:
            raise _BadValue(f"values are nested more than {MAX_LEVELS} levels deep")
        self._levels -= 1
        return self.at

    def close(self) -> None:
        """End a record, array or map."""
        self._levels += 1

    def count_if_empty(self, begin: int) -> None:
        """Count a value that began at a position and may have taken no bytes."""
        if self.at == begin:
            self._empty_values += 1
            if self._empty_values > MAX_EMPTY_VALUES:
                raise _BadValue(f"more than {MAX_EMPTY_VALUES} values take no bytes")

    def inner(self, content: bytes) -> _Datum:
        """Return other bytes at the same level."""
        datum = _Datum(content)
        datum._levels = self._levels
        datum._empty_values = -(2**63)
        return datum


def _shortened(path: str) -> str:
    return path if len(path) <= _MAX_PATH else f"{path[: _MAX_PATH // 2]}...{path[-_MAX_PATH // 2 :]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _null(_: _Datum, __: Step) -> None:
    return None


def _refused(_: _Datum, step: Step) -> object:
    raise _BadValue(step.reason)


def _boolean(datum: _Datum, _: Step) -> bool:
    byte = datum.take(1)[0]
    if byte > 1:
        raise _BadValue(f"a boolean is {byte}, not 0 or 1")
    return byte == 1


def _integer(datum: _Datum, step: Step) -> int | float:
    found = datum.number()
    limit = 2 ** (8 * step.size - 1)
    if not -limit <= found < limit:
        raise _BadValue(f"the number {found} is beyond the range of {step.type.kind.value}")
    found *= step.factor
    if not -_SIGN <= found < _SIGN:
        raise _BadValue("the time is beyond the range of a timestamp in microseconds")
    if step.number in {Number.FLOAT32, Number.ROUNDED}:
        return float(np.int64(found).astype(np.float32))
    return float(found) if step.number == Number.FLOAT64 else found


def _float(datum: _Datum, _: Step) -> float:
    return float(_FLOAT.unpack(datum.take(_FLOAT.size))[0])


def _double(datum: _Datum, _: Step) -> float:
    return float(_DOUBLE.unpack(datum.take(_DOUBLE.size))[0])


def _bytes(datum: _Datum, step: Step) -> bytes | str:
    found = datum.sized(step.size)
    if not step.factor:
        return found
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        raise _BadValue(f"the text is not UTF-8: byte {error.start} is 0x{found[error.start]:02x}") from None


def _uuid(datum: _Datum, step: Step) -> str:
    return str(uuid.UUID(bytes=datum.take(step.size)))


def _enum(datum: _Datum, step: Step) -> str:
    index = datum.number()
    if not 0 <= index < len(step.symbols):
        raise _BadValue(f"the {step.type} has no symbol {index}")
    found = step.symbols[index]
    if found is None:
        raise _BadValue(f"the reader's enum lacks the symbol '{step.type.symbols[index]}' and has no default")
    return found


def _decimal(datum: _Datum, step: Step) -> Decimal:
    found = datum.sized(step.size)
    if not found:
        raise _BadValue("the decimal has no bytes")
    number = int.from_bytes(found, "big", signed=True)
    if abs(number) >= 10**step.factor:
        raise _BadValue(f"the decimal has more than {_count(step.factor, 'digit')}")
    assert step.type.logical is not None
    return Decimal(number).scaleb(-step.type.logical.scale, _EXACT)


def _record_values(datum: _Datum, step: Step) -> list[object]:
    """Return the values of a STRUCT's fields, or of the columns."""
    begin = datum.open()
    values: list[object] = [None] * len(step.columns or ())
    for name, position, child in zip(step.names, step.positions, step.children, strict=True):
        try:
            value = _READERS[child.form](datum, child)
        except _BadValue as bad:
            bad.path.append(f".{name}")
            raise
        if position >= 0:
            values[position] = value
    datum.count_if_empty(begin)
    datum.close()
    return values


def _record(datum: _Datum, step: Step) -> dict[str, object] | None:
    values = _record_values(datum, step)
    return None if step.columns is None else dict(zip(step.columns, values, strict=True))


def _items(datum: _Datum, step: Step) -> list[object]:
    """Return the items of an array, or keys and values of a map as pairs."""
    datum.open()
    found: list[object] = []
    while count := datum.number():
        size = None
        if count < 0:
            count, size = -count, datum.number()
            if size < 0 or count == _SIGN:
                raise _BadValue(f"a block of {count} items has {size} bytes")
        begin = datum.at
        _read_block(datum, step, count, found)
        if size is not None and datum.at - begin != size:
            raise _BadValue(f"a block of items has {_count(datum.at - begin, 'byte')} and not {size}")
    datum.close()
    return found


def _read_block(datum: _Datum, step: Step, count: int, found: list[object]) -> None:
    readers = [(_READERS[child.form], child) for child in step.children]
    first, number = len(found), 0
    try:
        while number < count:
            begin = datum.at
            values = [read(datum, child) for read, child in readers]
            found.append(values[0] if len(values) == 1 else tuple(values))
            datum.count_if_empty(begin)
            number += 1
    except _BadValue as bad:
        bad.path.append(f"[{first + number}]")
        raise


def _union(datum: _Datum, step: Step) -> object:
    index = datum.number()
    if not 0 <= index < len(step.children):
        raise _BadValue(f"the union has no branch {index}")
    child = step.children[index]
    return _READERS[child.form](datum, child)


def _default(datum: _Datum, step: Step) -> object:
    (child,) = step.children
    return _READERS[child.form](datum.inner(step.content), child)


_READERS: Final[dict[Form, Callable[[_Datum, Step], object]]] = {
    Form.NULL: _null,
    Form.REFUSED: _refused,
    Form.BOOLEAN: _boolean,
    Form.INTEGER: _integer,
    Form.FLOAT: _float,
    Form.DOUBLE: _double,
    Form.BYTES: _bytes,
    Form.UUID: _uuid,
    Form.ENUM: _enum,
    Form.DECIMAL: _decimal,
    Form.RECORD: _record,
    Form.ARRAY: _items,
    Form.MAP: _items,
    Form.UNION: _union,
    Form.DEFAULT: _default,
}
