"""Reads one event's fields in order."""

from __future__ import annotations

from typing import Final

from datasources.errors import RecordError

_PREFIXED: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}


class ByteCursor:
    """A position in bytes that advances with every read; numbers are little-endian."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    def number(self, width: int) -> int:
        """Return an unsigned number of so many bytes."""
        return int.from_bytes(self.take(width), "little")

    def counted(self) -> int:
        """Return a length-encoded integer: one byte, or a marker and 2, 3 or 8 bytes."""
        first = self.number(1)
        width = _PREFIXED.get(first)
        return first if width is None else self.number(width)

    def text(self) -> bytes:
        """Return a length-encoded string."""
        return self.take(self.counted())

    def take(self, count: int) -> bytes:
        """Return so many bytes.

        Raises:
            RecordError: there are fewer.
        """
        end = self.at + count
        if end > len(self._data):
            raise RecordError(
                f"an event of the binlog ends after {len(self._data)} bytes where {end} were announced: it is damaged, "
                f"or of a form that is not known here."
            )
        taken = self._data[self.at : end]
        self.at = end
        return taken

    @property
    def has_more(self) -> bool:
        """Whether unread bytes are left."""
        return self.at < len(self._data)
