"""Statements about captured tables, as a batch meets them: passed, a truncate row, or the end of the query."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from datasources.mysql.binlog import Statement, StatementKind
from datasources.mysql.binlog.statements import name_at, statement_tokens
from datasources.mysql.ddl import Action, judge
from datasources.mysql.reading import MySqlReading
from datasources.mysql.row_options import RewritePolicy
from datasources.mysql.state import MySqlState
from datasources.mysql.sweep import TableName

__all__ = ["TableStatements"]

_logger: Final = logging.getLogger(__name__)


class TableStatements:
    """Judges statements for one scan.

    Args:
        reading: of the scan.
        state: of the batch.
    """

    def __init__(self, reading: MySqlReading, state: MySqlState) -> None:
        self._reading = reading
        # They will be read again as soon as the batch is done: what happened to them before does not matter.
        self._to_read_again = frozenset(reading.again[1]) if reading.again[0] != state.again else frozenset()
        self._columns = dict.fromkeys(reading.data.names)

    def truncated(self, statement: Statement) -> Iterator[TableName]:
        """Yield the tables that a statement empties.

        Raises:
            SchemaError: it changes what the changelog does not tell; with the ways out.
        """
        if statement.kind is StatementKind.DATABASE:
            names = _databases(statement)
            verdict = judge(statement, dict.fromkeys(names), lambda database, _: self._reading.captured.names(database))
        else:
            declared = dict.fromkeys(statement.tables, self._columns)
            verdict = judge(statement, declared, self._reading.captured)
        if verdict.action is Action.TRUNCATE:
            yield from verdict.tables
        elif verdict.action is Action.STOP:
            if self._reading.on_rewrite is RewritePolicy.FAIL and not self._to_read_again.issuperset(verdict.tables):
                raise verdict.error(statement)
            _logger.warning("rewrite_ddl passed=true position=%s reason=%r", statement.position, verdict.reason)


def _databases(statement: Statement) -> list[TableName]:
    words = statement_tokens(statement.text)
    return [(statement.database, ""), (name_at(words, len(words) - 1, "")[0][1], "")]
