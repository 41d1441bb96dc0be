"""The tables' rows at every position of the binlog, read with another library."""

from __future__ import annotations

import logging
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import QueryEvent, XAPrepareEvent, XidEvent
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

from datasources.mysql.binlog import BinlogPosition
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql_consistency.tables import COLUMNS, INVISIBLE, Row

__all__ = ["Change", "History", "State", "Transaction", "read_history"]

_NAME: Final = r"`?(?:\w+`?\.`?)?(\w+)`?"
_TRUNCATE: Final = re.compile(rf"TRUNCATE\s+(?:TABLE\s+)?{_NAME}", re.IGNORECASE)
_RENAME: Final = re.compile(rf"{_NAME} TO {_NAME}", re.IGNORECASE)
_XA: Final = re.compile(r"XA (COMMIT|ROLLBACK) X'([0-9a-fA-F]*)',X''", re.IGNORECASE)
_DROP: Final = re.compile(rf"DROP TABLE {_NAME}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """One image of a row, or what a statement did to a table.

    Attributes:
        kind: of the row, as it is delivered; T = emptied, > = got the name in `row`, x = dropped.
        table: its table's name.
        row: its values.
        invisible: the value of the generated key, where there is one.
    """

    kind: str
    table: str
    row: Row = ()
    invisible: int | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """What became visible at one position.

    Attributes:
        end: the position after it.
        changes: in order.
    """

    end: BinlogPosition
    changes: tuple[Change, ...]


State = dict[str, "Counter[tuple[int | None, Row]]"]
"""Per table its rows, with the generated key where there is one."""


@dataclass(slots=True)
class History:
    """All transactions, in order, and the tables' state as far as it was read.

    Attributes:
        transactions: all.
        state: behind the last one that `advance` passed.
    """

    transactions: list[Transaction]
    state: State = field(default_factory=lambda: defaultdict(Counter))
    _at: int = 0

    def advance(self, to: BinlogPosition) -> list[Change]:
        """Advance to a position; return the changes up to there."""
        passed: list[Change] = []
        while self._at < len(self.transactions) and self.transactions[self._at].end <= to:
            passed += self.transactions[self._at].changes
            self._at += 1
        for change in passed:
            _apply(self.state, change)
        return passed

    def later(self, kind: str, table: str) -> bool:
        """Return whether a statement after the position concerns a table."""
        return any(c.kind == kind and c.table == table for t in self.transactions[self._at :] for c in t.changes)


def _apply(state: State, change: Change) -> None:
    if change.kind == "T":
        state[change.table] = Counter()
    elif change.kind == ">":
        state[change.row[0]] = state.pop(change.table, Counter())
    elif change.kind == "x":
        state.pop(change.table, None)
    else:
        counts, entry = state[change.table], (change.invisible, change.row)
        counts[entry] += 1 if change.kind in ("+I", "+U") else -1
        assert counts[entry] >= 0, f"the binlog takes away a row that is not there: {change}"
        if not counts[entry]:
            del counts[entry]


def read_history(server: MySqlServer, database: str, start: BinlogPosition) -> History:
    """Read the binlog from a position to its end."""
    logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
    login = server.administrator
    stream = BinLogStreamReader(
        connection_settings={
            "host": login.host,
            "port": login.port,
            "user": login.user,
            "password": login.password,
            "charset": "utf8mb4",
        },
        server_id=200_000 + uuid.uuid4().int % 1_000_000,
        resume_stream=True,
        log_file=start.file,
        log_pos=start.pos,
        only_schemas=[database],
        only_events=[QueryEvent, XidEvent, XAPrepareEvent, WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent],
        enable_logging=False,
    )
    with closing(stream):
        return History(list(_transactions(stream, database)))


def _transactions(stream: Any, database: str) -> Iterator[Transaction]:
    rows: list[Change] = []
    prepared: dict[str, list[Change]] = {}
    for event in stream:
        end = BinlogPosition(stream.log_file, event.packet.log_pos)
        if isinstance(event, XidEvent):
            yield Transaction(end, tuple(rows))
            rows = []
        elif isinstance(event, XAPrepareEvent):
            if event.one_phase:
                yield Transaction(end, tuple(rows))
            else:
                prepared[event.xid] = rows
            rows = []
        elif isinstance(event, QueryEvent):
            decided = _decided(event.query, prepared)
            if decided is None and event.schema.decode() == database:
                decided = list(_of_statement(event.query))
            if decided:
                yield Transaction(end, tuple(decided))
        else:
            rows += _of_rows(event)


def _decided(text: str, prepared: dict[str, list[Change]]) -> list[Change] | None:
    match = _XA.match(text)
    if match is None:
        return None
    rows = prepared.pop(bytes.fromhex(match[2]).decode(), [])
    return rows if match[1].upper() == "COMMIT" else []


def _of_statement(text: str) -> Iterator[Change]:
    if match := _TRUNCATE.match(text):
        yield Change("T", match[1])
    elif text.upper().startswith("RENAME TABLE"):
        for old, new in _RENAME.findall(text[len("RENAME TABLE") :]):
            yield Change(">", old, (new,))
    elif match := _DROP.match(text):
        yield Change("x", match[1])


def _of_rows(event: Any) -> Iterator[Change]:
    for row in event.rows:
        if isinstance(event, UpdateRowsEvent):
            yield _change("-U", event.table, row["before_values"])
            yield _change("+U", event.table, row["after_values"])
        else:
            yield _change("+I" if isinstance(event, WriteRowsEvent) else "-D", event.table, row["values"])


def _change(kind: str, table: str, values: dict[str, Any]) -> Change:
    return Change(kind, table, tuple(values[name] for name in COLUMNS), values.get(INVISIBLE))
