"""Holds a changelog against the truth, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import Coverage, SnapshotScan, coverage
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql_consistency.ledger import Ledger
from tests.support.mysql_consistency.recording import Delivered
from tests.support.mysql_consistency.tables import COLUMNS, INVISIBLE, TABLES, Row, Table, by_name
from tests.support.mysql_consistency.truth import Change, History

__all__ = ["Checked", "check_batches", "selected"]

_PADDED: Final = " AS CHAR(40)"


@dataclass(slots=True)
class Checked:
    """What a check went through.

    Attributes:
        faults: what is wrong, in the order in which it came up.
        batches, snapshot_batches: how many batches were checked, how many of them read tables.
        changes: images of changes that were held against the truth.
        void: how often a chunk was given up because its table was emptied after its position.
    """

    faults: list[str] = field(default_factory=list)
    batches: int = 0
    snapshot_batches: int = 0
    changes: int = 0
    void: int = 0


class _Covered:
    """Which rows a snapshot scan has covered; the server sorts text.

    Args:
        server: asked for weights.
        database: the tables'.
    """

    def __init__(self, server: MySqlServer, database: str) -> None:
        self._server, self.database = server, database
        self._weights: dict[tuple[str, str], bytes] = {}

    def __call__(self, snapshot: SnapshotScan | None, table: Table, row: Row, invisible: int | None) -> bool:
        covered = coverage(snapshot, (self.database, table.name))
        if covered is not Coverage.SOME_KEYS:
            return covered is Coverage.EVERYTHING
        assert snapshot is not None
        assert snapshot.bound is not None
        bound = [_read(column, text) for column, text in zip(table.key, snapshot.bound, strict=True)]
        return self._sort_key(table, table.key_of(row, invisible)) <= self._sort_key(table, bound)

    def _sort_key(self, table: Table, key: Any) -> list[Any]:
        return [self._weight(table, value) if isinstance(value, str) else value for value in key]

    def _weight(self, table: Table, text: str) -> bytes:
        found = self._weights.get((table.collation, text))
        if found is None:
            length = _PADDED if table.collation == "utf8mb4_general_ci" else ""
            with closing(self._server.connect(charset="utf8mb4")) as connection, connection.cursor() as cursor:
                cursor.execute(
                    f"SELECT WEIGHT_STRING(_utf8mb4 x'{text.encode().hex()}' COLLATE {table.collation}{length})"
                )
                found = self._weights[table.collation, text] = cursor.fetchone()[0]
        return found


def _read(column: str, text: str) -> Any:
    """Return the value of a bound's text."""
    readers: Mapping[str, Callable[[str], Any]] = {
        "i": int,
        INVISIBLE: int,
        "s": lambda text: bytes.fromhex(text).decode(),
        "d": Decimal,
        "t": datetime.fromisoformat,
    }
    return readers[column](text)


def check_batches(  # noqa: PLR0917 - what a run is
    server: MySqlServer,
    database: str,
    history: History,
    states: Mapping[int, MySqlState],
    rows: Mapping[int, list[Delivered]],
    end: BinlogPosition,
) -> Checked:
    """Hold every batch against the truth.

    Args:
        server: asked for the order of text.
        database: the tables'.
        history: from before the first row.
        states: of every batch, in its end offset.
        rows: of every batch that had some.
        end: of the last batch.
    """
    covered, ledger, checked = _Covered(server, database), Ledger(), Checked()
    history.advance(_begin(states[0]))
    for batch, state in sorted(states.items()):
        delivered = rows.get(batch, [])
        changes = history.advance(_begin(states[batch + 1]) if batch + 1 in states else end)
        _compare_changes(batch, state, changes, delivered, covered, checked)
        ledger.apply(batch, delivered)
        _compare_tables(batch, state, history, ledger, covered, checked)
        checked.faults += ledger.faults
        ledger.faults = []
        checked.batches += 1
        checked.snapshot_batches += bool(state.tables)
    checked.faults += [f"{table} was given up, and no truncate row came" for table in sorted(ledger.void)]
    return checked


def selected(server: MySqlServer, database: str, table: Table) -> Counter[Row]:
    """Return a table's rows."""
    with closing(server.connect(database=database, charset="utf8mb4")) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(COLUMNS)} FROM {table.name}")
        return Counter(cursor.fetchall())


def _begin(state: MySqlState) -> BinlogPosition:
    assert state.position is not None
    return state.position


def _compare_changes(  # noqa: PLR0917 - as above
    batch: int,
    state: MySqlState,
    changes: list[Change],
    delivered: list[Delivered],
    covered: _Covered,
    checked: Checked,
) -> None:
    """The changes of what was covered before the batch, each once."""
    names = {table.name for table in TABLES}
    expected: Counter[tuple[str, str, Row]] = Counter()
    for change in changes:
        if change.table in names and change.kind == "T":
            is_reported = coverage(state.snapshot, (covered.database, change.table)) is not Coverage.NOTHING
            expected[change.kind, change.table, (None,) * len(COLUMNS)] += is_reported
        elif change.table in names and change.kind not in (">", "x"):
            is_covered = covered(state.snapshot, by_name(change.table), change.row, change.invisible)
            expected[change.kind, change.table, change.row] += is_covered
    got = Counter((row.kind, row.table, row.row) for row in delivered if not row.snapshot)
    checked.changes += expected.total()
    lost, more = expected - got, got - expected  # without what is expected 0 times
    for what, found in (("lost", lost), ("too many", more)):
        checked.faults += [
            f"batch {batch}: {what}: {count} x {each}, batch: {_short(state)}" for each, count in found.items()
        ]


def _compare_tables(  # noqa: PLR0917 - as above
    batch: int, state: MySqlState, history: History, ledger: Ledger, covered: _Covered, checked: Checked
) -> None:
    """G2: the changelog so far is the tables' covered part as of the position.

    A table that is emptied after the position before a chunk was read may lack rows until its truncate row comes.
    """
    for table in TABLES:
        if table.name in ledger.void:
            continue
        expected: Counter[Row] = Counter()
        for (invisible, row), count in history.state[table.name].items():
            if covered(state.after, table, row, invisible):
                expected[row] += count
        got = ledger.table(table.name)
        is_read = any(planned.table[1] == table.name for planned in state.tables)
        if is_read and not got - expected and expected - got and history.later("T", table.name):
            ledger.void.add(table.name)
            checked.void += 1
            continue
        for what, found in (("lacks", expected - got), ("holds beyond", got - expected)):
            checked.faults += [
                f"batch {batch}: {table.name} {what}: {count} x {row}, batch: {_short(state)}"
                for row, count in list(found.items())[:5]
            ]


def _short(state: MySqlState) -> str:
    tables = [(each.table[1], each.lower, each.bounds, each.is_open) for each in state.tables]
    return f"{state.position} to {state.to}, after {state.snapshot and (state.snapshot.table[1], state.snapshot.bound)}, reads {tables}"
