"""Savepoints in the binlog: rows behind one that a transaction rolled back to were never committed.

A server removes such rows before it writes a transaction, unless a change behind the savepoint cannot be
rolled back (a temporary table, a table without transactions). Then the rows stay, and ``ROLLBACK TO`` follows
them: seen on MariaDB.
"""

from __future__ import annotations

from datasources.errors import RecordError
from datasources.mysql.binlog.positions.positions import BinlogPosition
from datasources.mysql.binlog.reading.run_reader import RunReader
from datasources.mysql.binlog.statements.statement_tokens import unquoted
from datasources.mysql.binlog.statements.statements import Statement, StatementKind


class Savepoints:
    """The savepoints of the transaction that is being read."""

    def __init__(self) -> None:
        self._begin: BinlogPosition | None = None
        self._rows: dict[str, int] = {}

    def pass_statement(self, statement: Statement, runs: RunReader, changed_rows: int) -> None:
        """Record a savepoint, or check that no row of a captured table is behind the one that was rolled back to.

        Args:
            statement: any.
            runs: the reader of the transaction.
            changed_rows: rows of captured tables that were changed so far.

        Raises:
            RecordError: there are such rows, which were emitted or buffered already.
        """
        if statement.kind not in (StatementKind.SAVEPOINT, StatementKind.ROLLBACK_TO):
            return
        if runs.log.begin != self._begin:
            self._begin, self._rows = runs.log.begin, {}
        name = unquoted(statement.tokens()[-1]).lower()
        if statement.kind is StatementKind.SAVEPOINT:
            self._rows[name] = changed_rows
        elif runs.buffered is not None or self._rows.get(name) != changed_rows:
            raise RecordError(
                f"the transaction at {runs.log.begin} rolled back to its savepoint '{name}', and rows of captured "
                f"tables behind it stay in the binlog though they were never committed. Skip the transaction, then "
                f"read the tables that it changed again ('scan.snapshot.again')"
            )
