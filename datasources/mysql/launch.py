"""From where a new query starts, and whether one that ran before can go on."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from datasources.mysql.connection import connect
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.readiness import require_columns, require_ready
from datasources.mysql.reading import MySqlReading
from datasources.mysql.server_view import ServerView
from datasources.mysql.state import MySqlState
from datasources.mysql.tables import read_schemas

__all__ = ["Launch"]

_LONGEST_GTIDS: Final = 16_384


class Launch:
    """Starts queries of one scan.

    Args:
        wanted: the options that the preflight judges.
        reading: of the scan.
    """

    def __init__(self, wanted: Wanted, reading: MySqlReading) -> None:
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
        end = view.end()
        return MySqlState(
            reader=reader,
            server=end.server,
            place=end.place,
            gtid=_kept(end.gtid),
            mark_us=end.clock_us,
            prepared={},
        )

    def check(self, view: ServerView, state: MySqlState) -> MySqlState:
        """Return the state from which a query goes on: the given one, or the same place at another server."""
        self._require_ready()
        return state

    def _require_ready(self) -> None:
        require_ready(self._wanted)
        with closing(connect(self._reading.connection, doing="looking at the tables' columns")) as connection:
            for schema in read_schemas(connection, self._reading.captured):
                require_columns(schema, self._reading.data)


def _kept(gtid: str | None) -> str | None:
    return gtid if gtid is not None and len(gtid) <= _LONGEST_GTIDS else None
