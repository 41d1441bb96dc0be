"""The default of a field, as JSON has it, in Avro's binary encoding.

A default that a writer's record lacks is then decoded like any other value, nested ones included.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from datasources.formats.avro.schema.avro_types import MAX_DEPTH, AvroKind, AvroType

_RANGES: Final = {AvroKind.INT: 2**31, AvroKind.LONG: 2**63}
_MAX_VALUES: Final = 100_000
_FLOATS: Final = {AvroKind.FLOAT: "<f", AvroKind.DOUBLE: "<d"}


class InvalidDefault(ValueError):
    """The value is none of its type; the message is the reason."""


class _Budget:
    """How many values a default may still have, and how deeply they may be nested.

    Defaults of fields count where they are used: some records that use each other twice would have billions.
    """

    def __init__(self) -> None:
        self._values = 0
        self.depth = 0

    def open(self) -> None:
        self._values += 1
        self.depth += 1
        if self.depth > MAX_DEPTH or self._values > _MAX_VALUES:
            raise InvalidDefault("it is too large")

    def close(self) -> None:
        self.depth -= 1


def encode_default(avro: AvroType, value: object) -> bytes:
    """Return the encoding of a default of a type.

    The default of a union belongs to the first branch that it fits.

    Raises:
        InvalidDefault: the value is none of the type.
    """
    return _encoded(avro, value, _Budget())


def _encoded(avro: AvroType, value: object, budget: _Budget) -> bytes:
    budget.open()
    encoded = _ENCODERS[avro.kind](avro, value, budget)
    budget.close()
    return encoded


def long_bytes(number: int) -> bytes:
    """Return the encoding of an int or a long."""
    remaining = (number << 1) ^ (number >> 63)
    encoded = bytearray()
    while remaining > 0x7F:  # noqa: PLR2004 - seven bits in a byte
        encoded.append(remaining & 0x7F | 0x80)
        remaining >>= 7
    encoded.append(remaining)
    return bytes(encoded)


def _refusal(avro: AvroType, value: object) -> InvalidDefault:
    return InvalidDefault(f"{value!r:.80} is no value of type {avro}")


def _null(avro: AvroType, value: object, _: _Budget) -> bytes:
    if value is not None:
        raise _refusal(avro, value)
    return b""


def _boolean(avro: AvroType, value: object, _: _Budget) -> bytes:
    if not isinstance(value, bool):
        raise _refusal(avro, value)
    return b"\1" if value else b"\0"


def _integer(avro: AvroType, value: object, _: _Budget) -> bytes:
    limit = _RANGES[avro.kind]
    if type(value) is not int or not -limit <= value < limit:
        raise _refusal(avro, value)
    return long_bytes(value)


def _float(avro: AvroType, value: object, _: _Budget) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refusal(avro, value)
    try:
        return struct.pack(_FLOATS[avro.kind], value)
    except (OverflowError, struct.error):
        raise _refusal(avro, value) from None


def _bytes(avro: AvroType, value: object, _: _Budget) -> bytes:
    """Encode a text of which each character stands for a byte."""
    try:
        content = value.encode("latin-1") if isinstance(value, str) else None
    except UnicodeEncodeError:
        content = None
    if content is None or (avro.kind is AvroKind.FIXED and len(content) != avro.size):
        raise _refusal(avro, value)
    return content if avro.kind is AvroKind.FIXED else long_bytes(len(content)) + content


def _string(avro: AvroType, value: object, _: _Budget) -> bytes:
    try:
        content = value.encode() if isinstance(value, str) else None
    except UnicodeEncodeError:  # half of a surrogate pair
        content = None
    if content is None:
        raise _refusal(avro, value)
    return long_bytes(len(content)) + content


def _enum(avro: AvroType, value: object, _: _Budget) -> bytes:
    if not isinstance(value, str) or value not in avro.symbols:
        raise _refusal(avro, value)
    return long_bytes(avro.symbols.index(value))


def _array(avro: AvroType, value: object, budget: _Budget) -> bytes:
    if not isinstance(value, list):
        raise _refusal(avro, value)
    return _block([_encoded(avro.items[0], each, budget) for each in value])


def _map(avro: AvroType, value: object, budget: _Budget) -> bytes:
    if not isinstance(value, dict):
        raise _refusal(avro, value)
    name = AvroType(AvroKind.STRING)
    return _block([_string(name, key, budget) + _encoded(avro.items[0], each, budget) for key, each in value.items()])


def _block(items: list[bytes]) -> bytes:
    return (long_bytes(len(items)) + b"".join(items) if items else b"") + b"\0"


def _record(avro: AvroType, value: object, budget: _Budget) -> bytes:
    if not isinstance(value, dict):
        raise _refusal(avro, value)
    encoded = b""
    for each in avro.fields:
        if each.name not in value and each.default is None:
            raise InvalidDefault(f"it has no value for '{each.name}'")
        content = value[each.name] if each.name in value or each.default is None else each.default.value
        encoded += _encoded(each.type, content, budget)
    return encoded


def _union(avro: AvroType, value: object, budget: _Budget) -> bytes:
    for index, branch in enumerate(avro.items):
        depth = budget.depth
        try:
            return long_bytes(index) + _encoded(branch, value, budget)
        except InvalidDefault:
            budget.depth = depth
    raise _refusal(avro, value)


_ENCODERS: Final[dict[AvroKind, Callable[[AvroType, object, _Budget], bytes]]] = {
    AvroKind.NULL: _null,
    AvroKind.BOOLEAN: _boolean,
    AvroKind.INT: _integer,
    AvroKind.LONG: _integer,
    AvroKind.FLOAT: _float,
    AvroKind.DOUBLE: _float,
    AvroKind.BYTES: _bytes,
    AvroKind.FIXED: _bytes,
    AvroKind.STRING: _string,
    AvroKind.ENUM: _enum,
    AvroKind.ARRAY: _array,
    AvroKind.MAP: _map,
    AvroKind.RECORD: _record,
    AvroKind.UNION: _union,
}
