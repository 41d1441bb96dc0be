"""Where a new query starts, and whether an earlier one can resume."""

from __future__ import annotations

from contextlib import closing

from datasources.mysql.connection.connection import connect
from datasources.mysql.planning.startup_modes import resolve_start
from datasources.mysql.preflight.readiness import require_columns, require_no_other_columns, require_ready
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.server.reconciled_state import storable_gtids
from datasources.mysql.server.server_switch import resume_state
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.tables.table_schema import TableSchema, read_schemas


class StartupResolver:
    """Starts queries of one scan."""

    def __init__(self, wanted: Wanted, settings: MySqlScanSettings) -> None:
        self._wanted = wanted
        self._settings = settings

    def start(self, view: ServerView, reader: str) -> MySqlState:
        """Return the state of a new query, without a snapshot scan.

        Raises:
            SourceUnavailable: the server, the login or a table does not meet a requirement.
            SchemaError: a table does not match the declared columns.
            DataLossError, OptionError: the start does not exist.
        """
        self._require_ready()
        end = view.end()  # its clock is read before the start is resolved: later commits are not older
        found = resolve_start(self._settings.connection, self._wanted.startup, view.version)
        if self._settings.stops_at_new_columns:  # one that is added from here on is added in the log
            self._require_no_other_columns()
        return MySqlState(
            reader=reader,
            server=end.server,
            position=found.position,
            gtid=storable_gtids(found.gtid),
            by_gtid=found.by_gtid,
            gtid_until=found.log_end if found.by_gtid else None,
            end_clock_us=end.clock_us,
            prepared={},
        )

    def check(self, view: ServerView, state: MySqlState) -> MySqlState:
        """Return the state from which a query resumes: the given one, or its equivalent at another server.

        The state is of a planned batch, or one after a batch.

        Raises:
            DataLossError: the log no longer holds the next transaction.
            SourceUnavailable: the server does not meet a requirement, or lacks what was read.
        """
        self._require_ready()
        return resume_state(self._settings, view, state)

    def _require_ready(self) -> None:
        require_ready(self._wanted)
        for schema in self._schemas():
            require_columns(schema, self._settings.data)

    def _require_no_other_columns(self) -> None:
        for schema in self._schemas():
            require_no_other_columns(schema, self._settings.data)

    def _schemas(self) -> list[TableSchema]:
        with closing(connect(self._settings.connection, doing="looking at the tables' columns")) as connection:
            return read_schemas(connection, self._settings.captured)
