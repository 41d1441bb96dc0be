"""What a query over the twenty tables leaves behind: states of batches, and rows of each attempt at them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from datasources.mysql.state.mysql_state import MySqlState
from tests.support.mysql_consistency.tables import COLUMNS, TRUNCATED, Row
from tests.support.spark.recording import QueryDirectory

__all__ = ["Delivered", "Recording", "equal_attempts"]


@dataclass(frozen=True, slots=True, order=True)
class Delivered:
    """One row as it was delivered.

    Attributes:
        seq: its `_seq`.
        kind: its row kind.
        table: its table's name.
        row: its data columns.
        snapshot: whether it was read from the table.
        position: file, pos and GTID.
    """

    seq: tuple[int, ...]
    kind: str
    table: str
    row: Row
    snapshot: bool
    position: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Recording(QueryDirectory):
    """The directory of a query over the twenty tables."""

    def state(self, batch: int) -> MySqlState:
        """Return the state in the end offset of a batch."""
        return MySqlState.from_json(self.offset(batch)["state"])

    def attempts(self) -> dict[int, list[list[Delivered]]]:
        """Return the rows of each attempt at each batch, in the order of the attempts."""
        stored = self.stored()
        return {batch: [[_delivered(row) for row in rows] for rows in tries] for batch, tries in stored.items()}


def equal_attempts(attempts: dict[int, list[list[Delivered]]]) -> dict[int, list[Delivered]]:
    """Return the rows of the last attempt at each batch; all of them must have given the same.

    Rows of a table that is emptied after the position may be missing in a later attempt: its truncate row follows.
    """
    found = {}
    for batch, tries in attempts.items():
        first, *others = tries
        for other in others:
            more, less = Counter(other) - Counter(first), Counter(first) - Counter(other)
            wrong = [
                *more.elements(),
                *(row for row in less.elements() if not (row.snapshot and row.table == TRUNCATED)),
            ]
            assert not wrong, f"batch {batch} was delivered differently: {wrong[:5]} is new or gone"
        found[batch] = tries[-1]
    return found


def _delivered(row: dict[str, Any]) -> Delivered:
    return Delivered(
        seq=tuple(row["_seq"].values()),
        kind=row["row_kind"],
        table=row["table_name"],
        row=tuple(row[name] for name in COLUMNS),
        snapshot=row["snapshot"],
        position=(row["file"], row["pos"], row["gtid"]),
    )
