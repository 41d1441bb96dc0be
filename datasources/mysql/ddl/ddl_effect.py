"""The effect of a statement about captured tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from datasources.errors import SchemaError
from datasources.mysql.binlog.positions.transaction_errors import SKIP_OPTION
from datasources.mysql.binlog.statements.statements import Statement

_SHOWN: Final = 300


class Action(Enum):
    """What a query does at a statement."""

    PASS = "pass"  # noqa: S105 - no password
    """Nothing: the table's rows are the same, or row events have the changes."""
    TRUNCATE = "truncate"
    """The tables are empty from here on: emit a marker row for each."""
    STOP = "stop"
    """Stop: rows changed, or may have, without row events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DdlEffect:
    """The effect of a statement on captured tables.

    Attributes:
        action: what the query does.
        tables: database and name of the captured tables that it affects; for PASS none.
        reason: the stop reason, as the second half of a sentence; for other actions empty.
        is_emptied: of a STOP: the tables' former rows are no longer under their names.
    """

    action: Action
    tables: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    is_emptied: bool = False

    def error(self, statement: Statement) -> SchemaError:
        """Return the error of a STOP: the statement, its position, the reason, and hints."""
        text = " ".join(statement.text.split())
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        hint = "" if statement.begin is None else f" '{SKIP_OPTION}' = '{statement.begin}' skips this one alone."
        if not self.tables:
            return SchemaError(
                f"the statement at {statement.position} {self.reason}: {shown!r}. Views, triggers and functions may "
                f"lead it to captured tables. Set binlog_format=ROW for all sessions. To continue, skip the "
                f"statement; if it changed a captured table, read that again ('scan.snapshot.again').{hint}"
            )
        tables = ", ".join(".".join(filter(None, name)) for name in self.tables)
        return SchemaError(
            f"the statement at {statement.position} about {tables} {self.reason}: {shown!r}. Rows that were read "
            f"before may no longer be those of the table. Either read the table again from here on "
            f"('scan.snapshot.again' = '{tables}'; 'on-rewrite-ddl' = 'reread' does it by itself), or, if you know "
            f"that no column that is read changed, continue with 'on-rewrite-ddl' = 'ignore'.{hint}"
        )
