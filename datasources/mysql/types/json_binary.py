"""MySQL's binary JSON as a Python tree.

A document is a type byte and a value. Objects and arrays begin with their element count and size, then entries for the
keys (offset, length) and the values (type, offset or, where it fits, the value itself), then what these point to. All
numbers are little-endian; in the small form counts and offsets have two bytes, in the large form four.

Source: the MySQL server's sql-common/json_binary.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from datasources.errors import RecordError

__all__ = ["JsonTree", "JsonValue", "Opaque", "parse_json"]

_LARGE_OBJECT: Final = 1
_LARGE_ARRAY: Final = 3
_OBJECTS: Final = (0, 1)
_CONTAINERS: Final = (0, 1, 2, 3)
_LITERAL: Final = 4
_LITERALS: Final = (None, True, False)
_NUMBERS: Final = {
    5: struct.Struct("<h"),
    6: struct.Struct("<H"),
    7: struct.Struct("<i"),
    8: struct.Struct("<I"),
    9: struct.Struct("<q"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<d"),
}
_STRING: Final = 12
_OPAQUE: Final = 15
_SMALL: Final = struct.Struct("<HH")
_LARGE: Final = struct.Struct("<II")
# Types whose value stands in the entry itself, in the small and in the large form.
_INLINE_SMALL: Final = frozenset({4, 5, 6})
_INLINE_LARGE: Final = frozenset({4, 5, 6, 7, 8})


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a type that JSON does not have: DECIMAL, a date or time, bytes.

    Attributes:
        code: MySQL's number of the type.
        data: the value as stored.
    """

    code: int
    data: bytes


JsonValue = None | bool | int | float | str | Opaque
JsonTree = JsonValue | dict[str, "JsonTree"] | list["JsonTree"]


def parse_json(document: bytes) -> JsonTree:
    """Return the tree of a stored document.

    Raises:
        RecordError: it is no binary JSON.
    """
    if not document:
        return None  # what the server makes of a column that was never set
    try:
        return _value(document[0], document, 1)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise RecordError(f"a JSON column holds {len(document)} bytes that are no binary JSON: {error}.") from error


def _value(code: int, data: bytes, at: int) -> JsonTree:
    number = _NUMBERS.get(code)
    if number is not None:
        return number.unpack_from(data, at)[0]  # type: ignore[no-any-return]
    if code == _STRING:
        length, at = _length(data, at)
        return data[at : at + length].decode()
    if code in _CONTAINERS:
        return _container(code, data, at)
    if code == _LITERAL:
        return _LITERALS[data[at]]
    if code == _OPAQUE:
        length, begin = _length(data, at + 1)
        return Opaque(data[at], data[begin : begin + length])
    raise RecordError(f"a JSON column holds a value of the unknown binary type {code}.")


def _length(data: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, least significant first."""
    length = shift = 0
    while True:
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004
            return length, at
        shift += 7


def _container(code: int, data: bytes, base: int) -> JsonTree:
    is_large = code in (_LARGE_OBJECT, _LARGE_ARRAY)
    sizes, width = (_LARGE, 4) if is_large else (_SMALL, 2)
    count, _ = sizes.unpack_from(data, base)
    at = base + 2 * width
    keys = None
    if code in _OBJECTS:
        keys = [_key(data, base, at + index * (width + 2), width) for index in range(count)]
        at += count * (width + 2)
    values = [_entry(data, base, at + index * (width + 1), is_large=is_large) for index in range(count)]
    return values if keys is None else dict(zip(keys, values, strict=True))


def _key(data: bytes, base: int, at: int, width: int) -> str:
    begin = base + int.from_bytes(data[at : at + width], "little")
    length = int.from_bytes(data[at + width : at + width + 2], "little")
    return data[begin : begin + length].decode()


def _entry(data: bytes, base: int, at: int, *, is_large: bool) -> JsonTree:
    code = data[at]
    if code in (_INLINE_LARGE if is_large else _INLINE_SMALL):
        return _value(code, data, at + 1)
    width = 4 if is_large else 2
    return _value(code, data, base + int.from_bytes(data[at + 1 : at + 1 + width], "little"))
