"""What a record is made of: tags, numbers of variable length, words and bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from datasources.formats.protobuf.linking.steps import MAX_LEVELS, Form, Wire

_MORE: Final = 0x80
_MAX_VARINT_BYTES: Final = 10
_MAX_SHORT_BYTES: Final = 5
_MAX_TAG: Final = 2**32 - 1
_MAX_SIZE: Final = 2**31 - 1
_TAG_BITS: Final = 3
_TAG_MASK: Final = 7
_LOW: Final = 2**32 - 1
_ALL: Final = 2**64 - 1
_TOO_DEEP: Final = f"messages are nested more than {MAX_LEVELS} levels deep"


class BadValue(Exception):
    """A value cannot be decoded; `path` leads to it, and receives names from the innermost one on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path: list[str] = []


class Datum:
    """The bytes of a message, and how far they are read.

    Args:
        raw: the bytes.
        levels: how many messages may still be opened in it.
    """

    def __init__(self, raw: bytes, levels: int = MAX_LEVELS) -> None:
        self._raw = raw
        self._at = 0
        self._levels = levels

    @property
    def is_at_end(self) -> bool:
        """Whether all is read."""
        return self._at == len(self._raw)

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        found = self._raw[self._at : self._at + size]
        if len(found) != size:
            raise BadValue(f"the message ends after {len(found)} of {counted(size, 'byte')}")
        self._at += size
        return found

    def varint(self) -> int:
        """Return the next number of variable length; bits beyond 64 are dropped, as Google's readers do."""
        return self._varint(_MAX_VARINT_BYTES) & _ALL

    def tag(self) -> tuple[int, Wire]:
        """Return number and type of the next field."""
        found = self._varint(_MAX_SHORT_BYTES)
        number, wire = found >> _TAG_BITS, found & _TAG_MASK
        if found > _MAX_TAG or not number:
            raise BadValue(f"a field has the number {number}")
        if wire > Wire.WORD32:
            raise BadValue(f"the field {number} has the type {wire}, which does not exist")
        return number, Wire(wire)

    def sized(self) -> bytes:
        """Return the bytes that follow their number."""
        size = self._varint(_MAX_SHORT_BYTES)
        if size > _MAX_SIZE:
            raise BadValue(f"its length is {size} bytes")
        return self.take(size)

    def inner(self) -> Datum:
        """Return the message that follows its length."""
        content = self.sized()
        if not self._levels:
            raise BadValue(_TOO_DEEP)
        return Datum(content, self._levels - 1)

    def values(self) -> Datum:
        """Return the values that follow their length, at the same level."""
        return Datum(self.sized(), self._levels)

    def open(self) -> None:
        """Begin a group."""
        if not self._levels:
            raise BadValue(_TOO_DEEP)
        self._levels -= 1

    def close(self) -> None:
        """End a group."""
        self._levels += 1

    def skip(self, number: int, wire: Wire) -> None:
        """Read a field that nobody needs, behind its tag."""
        if wire == Wire.VARINT:
            self.varint()
        elif wire == Wire.SIZED:
            self.sized()
        elif wire == Wire.BEGIN_GROUP:
            self._skip_group(number)
        elif wire == Wire.END_GROUP:
            raise BadValue(f"a group {number} ends that did not begin")
        else:
            self.take(_SIZES[wire])

    def _skip_group(self, number: int) -> None:
        self.open()
        while True:
            inner, wire = self.tag()
            if wire == Wire.END_GROUP:
                break
            self.skip(inner, wire)
        if inner != number:
            raise BadValue(f"the group {number} ends as the group {inner}")
        self.close()

    def _varint(self, max_bytes: int) -> int:
        found = 0
        for index in range(max_bytes):
            if self._at >= len(self._raw):
                raise BadValue("the message ends within a number" if index else "the message ends before a number")
            byte = self._raw[self._at]
            self._at += 1
            found |= (byte & ~_MORE) << 7 * index
            if byte < _MORE:
                return found
        raise BadValue(f"a number has more than {max_bytes} bytes")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _unzigzagged(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def _text(datum: Datum) -> str:
    found = datum.sized()
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        raise BadValue(f"the text is not UTF-8: byte {error.start} is 0x{found[error.start]:02x}") from None


def _word(layout: str) -> Callable[[Datum], int | float]:
    of = struct.Struct(layout)

    def read(datum: Datum) -> int | float:
        found: int | float = of.unpack(datum.take(of.size))[0]
        return found

    return read


_SIZES: Final = {Wire.WORD32: 4, Wire.WORD64: 8}
READERS: Final[dict[Form, Callable[[Datum], bool | int | float | str | bytes]]] = {
    Form.BOOL: lambda datum: datum.varint() != 0,
    Form.INT32: lambda datum: _signed(datum.varint(), 32),
    Form.INT64: lambda datum: _signed(datum.varint(), 64),
    Form.UINT32: lambda datum: datum.varint() & _LOW,
    Form.UINT64: lambda datum: datum.varint(),
    Form.SINT32: lambda datum: _unzigzagged(datum.varint() & _LOW),
    Form.SINT64: lambda datum: _unzigzagged(datum.varint()),
    Form.ENUM: lambda datum: _signed(datum.varint(), 32),
    Form.FIXED32: _word("<I"),
    Form.SFIXED32: _word("<i"),
    Form.FLOAT: _word("<f"),
    Form.FIXED64: _word("<Q"),
    Form.SFIXED64: _word("<q"),
    Form.DOUBLE: _word("<d"),
    Form.STRING: _text,
    Form.BYTES: Datum.sized,
}
"""What reads a value without parts."""
