"""Positions in a binlog: file and position, and the encoding of GTID sets for a dump."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from functools import total_ordering
from typing import Final

from datasources.errors import OptionError
from datasources.mysql.binlog.positions.gtid_set import GtidSet

FIRST_POSITION: Final = 4
"""The position of a file's first event, behind the magic number."""

_POSITION: Final = re.compile(r"(.+\.[0-9]{6,}):([0-9]{1,19})")
_TAGGED_FORMAT: Final = 1
_TAGGED_SHIFT: Final = 8


@total_ordering
@dataclass(frozen=True, slots=True)
class BinlogPosition:
    """A position between two events.

    Units: ``pos`` is bytes from the beginning of the file; it may exceed 4 GiB.
    """

    file: str
    pos: int

    @property
    def file_number(self) -> int:
        """The number at the end of the file's name, which orders files."""
        return int(self.file.rpartition(".")[2])

    def __lt__(self, other: BinlogPosition) -> bool:
        return (self.file_number, self.pos) < (other.file_number, other.pos)

    def __str__(self) -> str:
        return f"{self.file}:{self.pos}"

    @classmethod
    def parse(cls, text: str) -> BinlogPosition:
        """Parse ``binlog.000012:345``.

        Raises:
            OptionError: it is no position.
        """
        match = _POSITION.fullmatch(text.strip())
        if match is None:
            raise OptionError(f"'{text}' is no position in a binlog such as 'binlog.000012:345'.")
        return cls(match[1], int(match[2]))


def encode_gtid_set(text: str) -> bytes:
    """Return a GTID set in the form that a dump command carries.

    The text is as the server prints it: ``uuid:1-5:7,uuid:tag:1-3``.

    Raises:
        OptionError: it is no GTID set.
    """
    sources = GtidSet.parse(text).sources
    is_tagged = any(":" in source for source, _ in sources)
    count = len(sources)
    # With tags, the first and the last of the eight bytes are the format, and the count is between them.
    head = (_TAGGED_FORMAT << 56 | count << _TAGGED_SHIFT | _TAGGED_FORMAT) if is_tagged else count
    parts = [head.to_bytes(8, "little")]
    for source, intervals in sources:
        server, _, tag = source.partition(":")
        parts.append(uuid.UUID(server).bytes)
        if is_tagged:
            parts.append(bytes([len(tag) << 1]) + tag.encode())
        parts.append(len(intervals).to_bytes(8, "little"))
        parts += [first.to_bytes(8, "little") + (last + 1).to_bytes(8, "little") for first, last in intervals]
    return b"".join(parts)
