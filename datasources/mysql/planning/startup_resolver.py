"""From where a new query starts, and whether one that ran before can go on."""

from __future__ import annotations

from contextlib import closing

from datasources.mysql.connection.connection import connect
from datasources.mysql.planning.startup_modes import resolve_start
from datasources.mysql.preflight.readiness import require_columns, require_ready
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.server.reconciled_state import storable_gtids
from datasources.mysql.server.server_switch import resume_state
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.tables.table_schema import read_schemas

__all__ = ["Launch"]


class Launch:
    """Starts queries of one scan.

    Args:
        wanted: the options that the preflight judges.
        reading: of the scan.
    """

    def __init__(self, wanted: Wanted, reading: MySqlScanSettings) -> None:
        self._wanted = wanted
        self._reading = reading

    def start(self, view: ServerView, reader: str) -> MySqlState:
        """Return the state of a new query, without a sweep.

        Args:
            view: the server.
            reader: names the query's readers.

        Raises:
            SourceUnavailable: the server, the login or a table is not as it must be.
            SchemaError: a table does not hold what was declared.
            DataLossError, OptionError: the start does not exist.
        """
        self._require_ready()
        end = view.end()  # its clock is read before the start is looked up: what is committed later is not older
        found = resolve_start(self._reading.connection, self._wanted.startup, view.version)
        return MySqlState(
            reader=reader,
            server=end.server,
            place=found.position,
            gtid=storable_gtids(found.gtid),
            by_gtid=found.by_gtid,
            gtid_until=found.settled if found.by_gtid else None,
            mark_us=end.clock_us,
            prepared={},
        )

    def check(self, view: ServerView, state: MySqlState) -> MySqlState:
        """Return the state from which a query goes on: the given one, or the same place at another server.

        Args:
            view: the server.
            state: of a batch that was planned, or the rest after one.

        Raises:
            DataLossError: what comes next is gone.
            SourceUnavailable: the server is not as it must be, or lacks what was read and stays behind.
        """
        self._require_ready()
        return resume_state(self._reading, view, state)

    def _require_ready(self) -> None:
        require_ready(self._wanted)
        with closing(connect(self._reading.connection, doing="looking at the tables' columns")) as connection:
            for schema in read_schemas(connection, self._reading.captured):
                require_columns(schema, self._reading.data)
