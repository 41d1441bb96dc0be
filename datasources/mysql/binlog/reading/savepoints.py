"""Savepoints in the binlog: rows behind one that a transaction went back to were never committed.

A server cuts such rows off before it writes a transaction, unless something stands behind the savepoint that cannot be
taken back (a temporary table, a table without transactions). Then the rows stay, and ``ROLLBACK TO`` stands behind
them: seen on MariaDB.
"""

from __future__ import annotations

from datasources.errors import RecordError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.reading.run_reader import RunReader
from datasources.mysql.binlog.statements.statement_tokens import unquoted
from datasources.mysql.binlog.statements.statements import Statement, StatementKind

__all__ = ["Savepoints"]


class Savepoints:
    """The savepoints of the transaction that is being read."""

    def __init__(self) -> None:
        self._begin: BinlogPosition | None = None
        self._rows: dict[str, int] = {}

    def pass_statement(self, statement: Statement, runs: RunReader, changed_rows: int) -> None:
        """Note a savepoint, or check that no row of a captured table stands behind the one that was gone back to.

        ``changed_rows`` are rows of captured tables, so far.

        Raises:
            RecordError: rows stand there, which were delivered or held already.
        """
        if statement.kind not in (StatementKind.SAVEPOINT, StatementKind.ROLLBACK_TO):
            return
        if runs.log.begin != self._begin:
            self._begin, self._rows = runs.log.begin, {}
        name = unquoted(statement.tokens()[-1]).lower()
        if statement.kind is StatementKind.SAVEPOINT:
            self._rows[name] = changed_rows
        elif runs.held is not None or self._rows.get(name) != changed_rows:
            raise RecordError(
                f"the transaction at {runs.log.begin} went back to its savepoint '{name}', and rows of captured tables "
                f"behind it stay in the binlog though they were never committed. Pass over the transaction, then read "
                f"the tables that it changed again ('scan.snapshot.again')"
            )
