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

_LARGE_OBJECT: Final = 1
_LARGE_ARRAY: Final = 3
_OBJECTS: Final = (0, 1)
_CONTAINERS: Final = (0, 1, 2, 3)
_LITERAL: Final = 4
_DEPTH: Final = 100  # what servers accept
_LENGTH_BYTES: Final = 5
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
# Types whose value is inline in the entry, in the small and in the large form.
_INLINE_SMALL: Final = frozenset({4, 5, 6})
_INLINE_LARGE: Final = frozenset({4, 5, 6, 7, 8})


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a type that JSON does not have: DECIMAL, a date or time, bytes."""

    code: int
    data: bytes


JsonValue = None | bool | int | float | str | Opaque
JsonTree = JsonValue | dict[str, "JsonTree"] | list["JsonTree"]


def parse_json(document: bytes) -> JsonTree:
    """Return the tree of a stored document.

    Raises:
        RecordError: it is no binary JSON, or deeper than a server stores.
    """
    if not document:
        return None  # as the server reads a column that was never set
    try:
        return _Document(document).value(document[0], 1, 1)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise _damaged(document, str(error)) from error


def _damaged(document: bytes, what: str) -> RecordError:
    return RecordError(f"a JSON column holds {len(document)} bytes that are no binary JSON: {what}.")


class _Document:
    """Reads one document.

    Entries and texts are stored without overlap. A damaged document may point to the same ones
    repeatedly, or to itself, so the bytes read are counted: there are never more than in the document.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = len(data)

    def value(self, code: int, at: int, depth: int) -> JsonTree:
        """Return the value of a type at a position."""
        number = _NUMBERS.get(code)
        if number is not None:
            return number.unpack_from(self._data, at)[0]  # type: ignore[no-any-return]
        if code == _STRING:
            return self._take(*self._length(at)).decode()
        if code in _CONTAINERS:
            return self._container(code, at, depth)
        if code == _LITERAL:
            return _LITERALS[self._data[at]]
        if code == _OPAQUE:
            return Opaque(self._data[at], self._take(*self._length(at + 1)))
        raise _damaged(self._data, f"there is a value of the unknown type {code}")

    def _take(self, begin: int, length: int) -> bytes:
        self._spend(length)
        if begin + length > len(self._data):
            raise IndexError(f"a text of {length} bytes begins at {begin}")
        return self._data[begin : begin + length]

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _damaged(self._data, "its parts are larger than the whole")

    def _length(self, at: int) -> tuple[int, int]:
        """Return where a text begins, and its length: seven bits a byte, least significant first."""
        length = 0
        for index in range(_LENGTH_BYTES):
            byte = self._data[at + index]
            length |= (byte & 0x7F) << 7 * index
            if byte < 0x80:  # noqa: PLR2004
                return at + index + 1, length
        raise _damaged(self._data, f"the length at {at} does not end")

    def _container(self, code: int, base: int, depth: int) -> JsonTree:
        if depth > _DEPTH:
            raise _damaged(self._data, f"it is more than {_DEPTH} levels deep")
        is_large = code in (_LARGE_OBJECT, _LARGE_ARRAY)
        sizes, width = (_LARGE, 4) if is_large else (_SMALL, 2)
        count, _ = sizes.unpack_from(self._data, base)
        at = base + 2 * width
        self._spend(2 * width + count * (width + 1 + (width + 2 if code in _OBJECTS else 0)))
        keys = None
        if code in _OBJECTS:
            keys = [self._key(base, at + index * (width + 2), width) for index in range(count)]
            at += count * (width + 2)
        entries = range(at, at + count * (width + 1), width + 1)
        values = [self._entry(base, entry, depth, is_large=is_large) for entry in entries]
        return values if keys is None else dict(zip(keys, values, strict=True))

    def _key(self, base: int, at: int, width: int) -> str:
        begin = base + int.from_bytes(self._data[at : at + width], "little")
        length = int.from_bytes(self._data[at + width : at + width + 2], "little")
        return self._take(begin, length).decode()

    def _entry(self, base: int, at: int, depth: int, *, is_large: bool) -> JsonTree:
        code = self._data[at]
        if code in (_INLINE_LARGE if is_large else _INLINE_SMALL):
            return self.value(code, at + 1, depth)
        width = 4 if is_large else 2
        return self.value(code, base + int.from_bytes(self._data[at + 1 : at + 1 + width], "little"), depth + 1)
