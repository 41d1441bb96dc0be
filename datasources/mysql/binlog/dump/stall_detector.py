"""Detects a dump that does not reach its end position: the server sends nothing but heartbeats."""

from __future__ import annotations

from typing import Final

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog.positions.positions import BinlogPosition

_MAX_HEARTBEATS: Final = 60  # heartbeats, of a second each as a rule


class StallDetector:
    """Counts heartbeats without an event between them.

    Args:
        start: where reading begins.
        to: the end position; None = there is none.
    """

    def __init__(self, start: BinlogPosition, to: BinlogPosition | None) -> None:
        self._at, self._to, self._count = start, to, 0

    def heartbeat(self, position: BinlogPosition) -> None:
        """Count a heartbeat. A position that was the log's end once arrives within the time of a commit, or never.

        Raises:
            SourceUnavailable: the end position is no longer expected.
        """
        self._count = self._count + 1 if self._at == position else 1
        self._at = position
        if self._to is not None and self._count > _MAX_HEARTBEATS:
            raise SourceUnavailable(
                f"the binlog should reach {self._to}, and the server has sent nothing behind {position} for "
                f"{self._count} heartbeats: its log was reset, or a commit hangs (SHOW PROCESSLIST)."
            )
