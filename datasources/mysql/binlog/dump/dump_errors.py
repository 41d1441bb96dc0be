"""Maps the errors with which a server refuses or ends a dump to Tidemark's."""

from __future__ import annotations

import re
from typing import Final

from pymysql.err import MySQLError

from datasources.errors import DataLossError, SourceUnavailable, TidemarkError
from datasources.mysql.connection.connection_errors import ConnectionLost, is_unreachable

_FATAL_READ: Final = 1236
_ACCESS_DENIED: Final = frozenset({1045, 1227, 1142})
_PURGED: Final = re.compile(
    r"could not find first log|purged|missing transactions|not in the binary log|not available|is not in the",
    re.IGNORECASE,
)
_REPLACED: Final = re.compile(r"same server_uuid|same server[_-]id", re.IGNORECASE)
_OFF_BOUNDARY: Final = re.compile(
    r"impossible position|log event entry exceeded|bogus data|read error|truncated in the middle", re.IGNORECASE
)


def explain_dump(error: MySQLError) -> TidemarkError:
    """Return Tidemark's error for the server's answer to a dump."""
    number = error.args[0] if error.args else 0
    text = str(error.args[1]) if len(error.args) > 1 else str(error)
    if number == _FATAL_READ:
        return _explain_read(text)
    if number in _ACCESS_DENIED:
        return SourceUnavailable(
            f"the server refuses to send its binlog: {text}. GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO the "
            f"user."
        )
    kind = ConnectionLost if is_unreachable(error) else SourceUnavailable
    return kind(f"the server ended the dump of its binlog: {number} {text}.")


def _explain_read(text: str) -> TidemarkError:
    if _REPLACED.search(text):
        return SourceUnavailable(
            f"another reader replaced this one at the server: {text}. Two queries use the same server-id; give "
            f"each its own range (option server-id). It is not retried: they would end each other in turn."
        )
    if _PURGED.search(text):
        return DataLossError(
            f"the server no longer has the binlog from which to resume: {text}. SHOW BINARY LOGS lists its files; "
            f"keep more with SET PERSIST binlog_expire_logs_seconds; then start with a new snapshot."
        )
    if _OFF_BOUNDARY.search(text):
        return DataLossError(
            f"the position from which to resume is not between two events of the server's binlog: {text}. It is "
            f"another server's, or RESET was called: start with a new snapshot."
        )
    return SourceUnavailable(f"the server cannot read its binlog: {text}.")
