"""How long a server may say nothing but heartbeats while a place of its log is waited for."""

from __future__ import annotations

from typing import Final

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog.positions.positions import BinlogPosition

__all__ = ["Silence"]

_MOST: Final = 60  # heartbeats, of a second each as a rule


class Silence:
    """Heartbeats without an event between them.

    ``to`` is the place that is waited for; None = nothing is.
    """

    def __init__(self, start: BinlogPosition, to: BinlogPosition | None) -> None:
        self._at, self._to, self._count = start, to, 0

    def heard(self, position: BinlogPosition) -> None:
        """Note a heartbeat. A place at which the log ended once comes within a commit's time, or never.

        Raises:
            SourceUnavailable: it is to be expected no more.
        """
        self._count = self._count + 1 if self._at == position else 1
        self._at = position
        if self._to is not None and self._count > _MOST:
            raise SourceUnavailable(
                f"the binlog should reach {self._to}, and the server has sent nothing behind {position} for "
                f"{self._count} heartbeats: its log was reset, or a commit hangs (SHOW PROCESSLIST)."
            )
