"""Whether a server logs the changes of foreign keys."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.server_dialect import read_variables, server_version

_NATIVE: Final = "innodb_native_foreign_keys"


def logs_cascades(settings: ConnectionSettings) -> bool:
    """Return whether changes of other tables by foreign keys are in the server's binlog.

    Raises:
        SourceUnavailable: the server does not answer.
    """
    with closing(connect(settings, doing="asking how foreign keys are logged")) as connection:
        if not server_version(connection).can_log_cascades:
            return False
        return read_variables(connection, [_NATIVE]).get(_NATIVE, "OFF").upper() == "OFF"
