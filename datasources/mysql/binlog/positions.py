"""Places in a binlog: file and position, and sets of GTIDs."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from functools import total_ordering
from typing import Final

from datasources.errors import OptionError

__all__ = ["FIRST_POSITION", "BinlogPosition", "encode_gtid_set"]

FIRST_POSITION: Final = 4
"""Where the first event of a file stands, behind the magic number."""

_TAG: Final = re.compile(r"[a-z_][a-z0-9_]{0,31}$")
_INTERVAL: Final = re.compile(r"(\d+)(?:-(\d+))?$")
_TAGGED_FORMAT: Final = 1
_TAGGED_SHIFT: Final = 8


@total_ordering
@dataclass(frozen=True, slots=True)
class BinlogPosition:
    """A place between two events.

    Attributes:
        file: the name of the binlog file.
        pos: bytes from its beginning; may exceed 4 GiB.
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


def encode_gtid_set(text: str) -> bytes:
    """Return a GTID set in the form that a dump command carries.

    Args:
        text: as the server prints it: ``uuid:1-5:7,uuid:tag:1-3``.

    Raises:
        OptionError: it is no GTID set.
    """
    by_source = _parse(text)
    is_tagged = any(tag for _, tag in by_source)
    count = len(by_source)
    # With tags, the first byte and the last of the eight say so, and the count stands between them.
    head = (_TAGGED_FORMAT << 56 | count << _TAGGED_SHIFT | _TAGGED_FORMAT) if is_tagged else count
    parts = [head.to_bytes(8, "little")]
    for (source, tag), intervals in sorted(by_source.items()):
        parts.append(source)
        if is_tagged:
            parts.append(bytes([len(tag) << 1]) + tag.encode())
        parts.append(len(intervals).to_bytes(8, "little"))
        parts += [first.to_bytes(8, "little") + (last + 1).to_bytes(8, "little") for first, last in intervals]
    return b"".join(parts)


def _parse(text: str) -> dict[tuple[bytes, str], list[tuple[int, int]]]:
    by_source: dict[tuple[bytes, str], list[tuple[int, int]]] = {}
    for each in filter(None, (part.strip() for part in text.replace("\n", "").split(","))):
        name, *rest = each.split(":")
        try:
            source = uuid.UUID(name.strip()).bytes
        except ValueError as error:
            raise OptionError(f"'{each}' in the GTID set '{text}' does not begin with a server's UUID.") from error
        tag = ""
        for part in rest:
            interval = _INTERVAL.match(part.strip())
            if interval is not None:
                first = int(interval[1])
                by_source.setdefault((source, tag), []).append((first, int(interval[2] or first)))
            elif _TAG.match(part.strip().lower()):
                tag = part.strip().lower()
            else:
                raise OptionError(f"'{part}' in the GTID set '{text}' is neither an interval nor a tag.")
    return {key: sorted(intervals) for key, intervals in by_source.items()}
