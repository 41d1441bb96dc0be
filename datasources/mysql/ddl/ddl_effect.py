"""What becomes of a statement about captured tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from datasources.errors import SchemaError
from datasources.mysql.binlog.positions.transaction_errors import SKIP_OPTION
from datasources.mysql.binlog.statements.statements import Statement

__all__ = ["Action", "Verdict"]

_SHOWN: Final = 300


class Action(Enum):
    """What to do about a statement."""

    PASS = "pass"  # noqa: S105 - no password
    """Nothing: the rows that the changelog stands for are the same, or row events say what changed."""
    TRUNCATE = "truncate"
    """The tables are empty from here on: a marker row each."""
    STOP = "stop"
    """Rows changed, or may have, without row events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a statement means.

    Attributes:
        action: what to do.
        tables: database and name of the captured tables that it is about; for PASS none.
        reason: why the query stops, as the second half of a sentence; for other actions empty.
        is_emptied: of a STOP: none of the rows that the tables had is under their names any more.
    """

    action: Action
    tables: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    is_emptied: bool = False

    def error(self, statement: Statement) -> SchemaError:
        """Return the error of a STOP: the statement, its place, why, and the ways out."""
        text = " ".join(statement.text.split())
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        place = "" if statement.begin is None else f" '{SKIP_OPTION}' = '{statement.begin}' passes over this one alone."
        if not self.tables:
            return SchemaError(
                f"the statement at {statement.position} {self.reason}: {shown!r}. Views, triggers and functions may "
                f"lead it to captured tables. Set binlog_format=ROW for all sessions. To go on, pass over the "
                f"statement; if it changed a captured table, read that again ('scan.snapshot.again').{place}"
            )
        tables = ", ".join(".".join(filter(None, name)) for name in self.tables)
        return SchemaError(
            f"the statement at {statement.position} about {tables} {self.reason}: {shown!r}. Rows that were read "
            f"before may no longer be those of the table. Either read the table again from here on "
            f"('scan.snapshot.again' = '{tables}'; 'on-rewrite-ddl' = 'reread' does it by itself), or, if you know "
            f"that no column that is read changed, go on with 'on-rewrite-ddl' = 'ignore'.{place}"
        )
