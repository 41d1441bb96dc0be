"""The server's binlog files: the bytes between two positions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from datasources.errors import DataLossError
from datasources.mysql.binlog import FIRST_POSITION, BinlogPosition

_HINT: Final = (
    "Keep more with binlog_expire_logs_seconds. To continue without what is lost, start with a new checkpoint: mode "
    "initial reads the tables again."
)


class LogFiles:
    """Sizes of a server's binlog files; queried again only for an unknown file."""

    def __init__(self, query: Callable[[str], list[tuple[Any, ...]]]) -> None:
        self._query = query
        self._sizes: dict[str, int] = {}

    def bytes_between(self, start: BinlogPosition, end: BinlogPosition) -> int:
        """Return how many bytes a reader passes from `start` to `end`; 0 if `end` is not behind it.

        Raises:
            DataLossError: a file between them is gone.
        """
        if end <= start:
            return 0
        if start.file == end.file:
            return end.pos - start.pos
        files = self._files_between(start, end)
        passed = self._sizes[start.file] - start.pos
        passed += sum(self._sizes[file] - FIRST_POSITION for file in files[1:-1])
        return passed + end.pos - FIRST_POSITION

    def _files_between(self, start: BinlogPosition, end: BinlogPosition) -> list[str]:
        files = self._known(start, end)
        if files is None:
            self._ask()
            files = self._known(start, end)
        if files is None:
            raise DataLossError(
                f"the binlog from {start} on is needed, and the server's files are "
                f"{', '.join(sorted(self._sizes)) or 'none'}: it purged what was not read yet. {_HINT}"
            )
        return files

    def _known(self, start: BinlogPosition, end: BinlogPosition) -> list[str] | None:
        """Return the files from one position to another, if all are known and none is missing in between."""
        if start.file not in self._sizes or end.file not in self._sizes:
            return None
        low, high = start.file_number, end.file_number
        files = sorted((f for f in self._sizes if low <= _number(f) <= high), key=_number)
        return files if all(_number(b) == _number(a) + 1 for a, b in pairwise(files)) else None

    def _ask(self) -> None:
        self._sizes = {str(row[0]): int(row[1]) for row in self._query("SHOW BINARY LOGS")}


def _number(file: str) -> int:
    return BinlogPosition(file, FIRST_POSITION).file_number
