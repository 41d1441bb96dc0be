"""XA transactions that were prepared before the query: the position of their rows in the binlog is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pymysql

from datasources.mysql.connection.connection_errors import error_number
from datasources.mysql.preflight.finding import Finding, Severity

_MAY_NOT_ASK: Final = frozenset({1401, 1227})
_SHOWN: Final = 3


def check_prepared(connection: Any) -> Iterator[Finding]:
    """Yield a finding about XA transactions that are prepared and not decided.

    Args:
        connection: an open connection; without the privilege XA_RECOVER_ADMIN there is no finding.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("XA RECOVER CONVERT XID")
            names = [str(row[3]) for row in cursor.fetchall()]
    except pymysql.MySQLError as error:
        if error_number(error) in _MAY_NOT_ASK:
            return
        raise
    if not names:
        return
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    yield Finding(
        check="xa",
        found=f"{len(names)} prepared: {shown}",
        severity=Severity.WARNING,
        why=(
            "their rows are in the binlog before the begin of a query that starts now, which reads them there when "
            "they are committed, and stops if the server has purged that part by then"
        ),
        fix=("XA COMMIT or XA ROLLBACK them before a new query begins",),
    )
