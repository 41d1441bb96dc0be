"""How long a server keeps the files of its binlog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SECONDS: Final = "binlog_expire_logs_seconds"
_DAYS: Final = "expire_logs_days"
_AUTO_PURGE: Final = "binlog_expire_logs_auto_purge"
_DAY_S: Final = 24 * 60 * 60

LOG_RETENTION_STATEMENT: Final = (
    f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ('{_SECONDS}', '{_DAYS}', '{_AUTO_PURGE}')"
)


def log_retention_s(variables: Mapping[str, str]) -> int | None:
    """Return how long files are kept, seconds; None = until they are purged by hand.

    Args:
        variables: of the server, those that it has of `LOG_RETENTION_STATEMENT`.
    """
    if variables.get(_AUTO_PURGE, "").upper() == "OFF":
        return None
    return int(variables.get(_SECONDS) or 0) or round(float(variables.get(_DAYS) or 0) * _DAY_S) or None
