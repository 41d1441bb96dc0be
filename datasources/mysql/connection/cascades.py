"""Whether a server's binlog holds what foreign keys change."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.connection.server_dialect import read_variables, server_version

__all__ = ["logs_cascades"]

_NATIVE: Final = "innodb_native_foreign_keys"


def logs_cascades(settings: ConnectionSettings) -> bool:
    """Return whether the server writes down what its foreign keys change in other tables.

    Raises:
        SourceUnavailable: it does not answer.
    """
    with closing(connect(settings, doing="asking how foreign keys are logged")) as connection:
        if not server_version(connection).can_log_cascades:
            return False
        return read_variables(connection, [_NATIVE]).get(_NATIVE, "OFF").upper() == "OFF"
