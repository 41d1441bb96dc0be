"""Rows of XA transactions come where those are committed, once, whatever ends between."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

from datasources.errors import DataLossError, RecordError
from datasources.mysql.binlog import BinlogPosition, BinlogRows, ChangeReader, Idle, Statement, StopRule
from datasources.mysql.binlog.reading.committed import MAX_PREPARED, CommittedChange, CommittedChanges
from datasources.mysql.binlog.rows import buffered_events
from tests.support.mysql.mysql_binlog import everything, images, position, reader_at
from tests.support.mysql.mysql_server import MySqlServer, every_server
from tests.support.mysql.mysql_xa import commit_in_one_phase, decide, prepare

pytestmark = pytest.mark.mysql


def changes_of(
    server: MySqlServer,
    database: str,
    start: BinlogPosition,
    prepared: Mapping[str, BinlogPosition] | None = None,
    stop: StopRule | None = None,
    *,
    opened: list[Any] | None = None,
) -> CommittedChanges:
    def open_reader(at: Any, rule: StopRule | None, released: frozenset[BinlogPosition]) -> ChangeReader:
        if opened is not None:
            opened.append(at)
        return reader_at(server, at, everything(database), stop=rule, released=released)

    return CommittedChanges(open_reader, start=start, stop=stop, prepared=prepared or {})


@pytest.fixture(autouse=True, params=["buffered in memory", "read again"])
def buffering(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to the rows of a transaction that is decided later."""
    if request.param == "read again":
        monkeypatch.setattr(buffered_events, "_MAX_BYTES", 0)


def kinds_and_ids(changes: list[CommittedChange]) -> list[tuple[str, int]]:
    return [(kind, row["id"]) for kind, row in images([c for c in changes if isinstance(c, BinlogRows)])]


def order_keys(changes: list[CommittedChange]) -> list[tuple[int, int, int]]:
    """File number, position and row of each change."""
    found: dict[tuple[int, int, int], None] = {}
    for batch in changes:
        if isinstance(batch, BinlogRows):
            number = BinlogPosition(batch.file, 4).file_number
            found |= dict.fromkeys((number, *at) for at in zip(batch.pos.tolist(), batch.row.tolist(), strict=True))
    return list(found)


@pytest.fixture
def database(mysql: MySqlServer) -> str:
    name = mysql.create_database("xa")
    mysql.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v INT)", f"CREATE TABLE {name}.u (id INT PRIMARY KEY)")
    return name


@every_server
def test_rows_are_emitted_with_the_position_of_their_commit(mysql: MySqlServer, database: str):
    mysql.execute(f"INSERT INTO {database}.t VALUES (1, 0), (2, 0), (3, 0)")
    start = position(mysql)
    first, second, gone = (f"{database}_{n}" for n in range(3))
    prepare(
        mysql, database, first,
        "INSERT INTO t VALUES (10, 0), (11, 0)", "INSERT INTO u VALUES (12)", "UPDATE t SET v = 1 WHERE id < 3",
    )  # fmt: skip
    prepare(mysql, database, second, "INSERT INTO t VALUES (20, 0)")
    prepare(mysql, database, gone, "INSERT INTO t VALUES (30, 0)")
    mysql.execute(f"INSERT INTO {database}.t VALUES (4, 0)")
    decide(mysql, "COMMIT", second)
    commit_in_one_phase(mysql, database, f"{database}_one", "INSERT INTO t VALUES (40, 0)", "DELETE FROM t WHERE id=40")
    decide(mysql, "ROLLBACK", gone)
    before = position(mysql)
    decide(mysql, "COMMIT", first)
    after = position(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (5, 0)")

    with closing(changes_of(mysql, database, start)) as reader:
        changes = list(reader)
        assert dict(reader.prepared) == {}
        assert reader.changed_rows == 10
        assert reader.position == position(mysql)
        assert reader.passed_bytes == reader.position.pos - start.pos
        assert reader.gtid == _gtid_at(mysql, after)
    assert kinds_and_ids(changes) == [
        ("+I", 4), ("+I", 20), ("+I", 40), ("-D", 40),
        ("+I", 10), ("+I", 11), ("-U", 1), ("+U", 1), ("-U", 2), ("+U", 2), ("+I", 12), ("+I", 5),
    ] or kinds_and_ids(changes) == [
        ("+I", 4), ("+I", 20), ("+I", 40), ("-D", 40),
        ("+I", 10), ("+I", 11), ("+I", 12), ("-U", 1), ("+U", 1), ("-U", 2), ("+U", 2), ("+I", 5),
    ]  # fmt: skip
    # The order of sinks: each change has its own key, in the order in which they were emitted.
    assert order_keys(changes) == sorted(set(order_keys(changes)))
    assert len(order_keys(changes)) == 10
    moved = [c for c in changes if isinstance(c, BinlogRows) and before.pos < c.pos[0] < after.pos]
    assert sum(batch.changes for batch in moved) == 5
    for batch in moved:
        assert len(set(batch.pos.tolist())) == 1
        assert set(batch.transactions.texts().to_pylist()) == {_gtid_at(mysql, before)}
    times = [int(t) for c in changes if isinstance(c, BinlogRows) for t in c.op_ts_us]
    assert times == sorted(times)


def _gtid_at(server: MySqlServer, at: BinlogPosition) -> str:
    info = str(server.execute(f"SHOW BINLOG EVENTS IN '{at.file}' FROM {at.pos} LIMIT 1")[0][5])
    return info.split("GTID ")[1] if server.is_mariadb else info.split("'")[1]


def test_transactions_decided_in_their_range_cost_no_second_dump(mysql: MySqlServer, database: str, request):
    opened: list[Any] = []
    start = position(mysql)
    for number in range(5):
        commit_in_one_phase(mysql, database, f"{database}_{number}", f"INSERT INTO t VALUES ({number}, 0)")
    prepare(mysql, database, f"{database}_5", "INSERT INTO t VALUES (5, 0)")
    decide(mysql, "COMMIT", f"{database}_5")
    reader = changes_of(mysql, database, start, opened=opened)
    with closing(reader):
        assert kinds_and_ids(list(reader)) == [("+I", number) for number in range(6)]
        assert reader.changed_rows == 6
    assert len(opened) == (7 if "read again" in request.node.name else 1)


@every_server
@pytest.mark.parametrize("max_bytes", [1, 700])
def test_ranges_hand_over_open_transactions_and_can_be_read_again(mysql: MySqlServer, database: str, max_bytes: int):
    start = position(mysql)
    names = [f"{database}_{n}" for n in range(4)]
    for number, name in enumerate(names):
        prepare(mysql, database, name, f"INSERT INTO t VALUES ({number}, 0), (10{number}, 0)")
        mysql.execute(f"INSERT INTO {database}.t VALUES (5{number}, 0)")
        if number == 1:
            mysql.execute("FLUSH BINARY LOGS")
            decide(mysql, "COMMIT", names[0])
    decide(mysql, "COMMIT", names[3])
    decide(mysql, "ROLLBACK", names[1])
    end = position(mysql)
    seen, prepared, at, max_prepared = [], {}, start, 0
    while at < end:
        rounds = []
        for _ in range(2):
            with closing(changes_of(mysql, database, at, prepared, StopRule(max_bytes=max_bytes))) as reader:
                rounds.append((kinds_and_ids(list(reader)), dict(reader.prepared), reader.position))
        assert rounds[0] == rounds[1]
        seen += rounds[0][0]
        _, prepared, at = rounds[0]
        max_prepared = max(max_prepared, len(prepared))
    assert [id_ for _, id_ in seen] == [50, 51, 0, 100, 52, 53, 3, 103]
    assert max_prepared >= 2
    assert list(prepared) == [f"X'{names[2].encode().hex()}',X'',1"]
    decide(mysql, "COMMIT", names[2])
    with closing(changes_of(mysql, database, end, prepared)) as reader:
        assert kinds_and_ids(list(reader)) == [("+I", 2), ("+I", 102)]
        assert dict(reader.prepared) == {}


@every_server
def test_a_commit_of_a_transaction_prepared_before_the_start_is_refused(mysql: MySqlServer, database: str):
    prepare(mysql, database, database, "INSERT INTO t VALUES (1, 0)")
    start = position(mysql)
    prepare(mysql, database, f"{database}_2", "INSERT INTO t VALUES (2, 0)")
    decide(mysql, "ROLLBACK", f"{database}_2")
    decide(mysql, "COMMIT", database)
    reader = changes_of(mysql, database, start)
    name = f"X'{database.encode().hex()}',X'',1"
    with (
        closing(reader),
        pytest.raises(DataLossError, match=f"transaction {name} is committed, which was prepared bef"),
    ):
        list(reader)


@every_server
def test_more_open_transactions_than_an_offset_may_have_are_refused(mysql: MySqlServer, database: str):
    start = position(mysql)
    names = [f"{database}_{n}" for n in range(MAX_PREPARED + 1)]
    for number, name in enumerate(names):
        prepare(mysql, database, name, f"INSERT INTO t VALUES ({number}, 0)")
    try:
        with (
            closing(changes_of(mysql, database, start)) as reader,
            pytest.raises(RecordError, match="XA RECOVER lists"),
        ):
            list(reader)
        decide(mysql, "ROLLBACK", names.pop())
        reader = changes_of(mysql, database, start, stop=StopRule(to=position(mysql)))
        with closing(reader), pytest.raises(RecordError, match="more than 64 XA transactions"):
            list(reader)
    finally:
        for name in names:
            decide(mysql, "ROLLBACK", name)


@every_server
def test_statements_and_idleness_pass_through(mysql: MySqlServer, database: str):
    start = position(mysql)
    mysql.execute(f"TRUNCATE {database}.t")

    def open_reader(at: Any, rule: StopRule | None, released: frozenset[BinlogPosition]) -> ChangeReader:
        return reader_at(mysql, at, everything(database), stop=rule, released=released, is_bounded=False)

    with closing(CommittedChanges(open_reader, start=start, stop=None, prepared={})) as reader:
        changes = iter(reader)
        found = [next(changes), next(changes)]
    assert [type(each) for each in found if not isinstance(each, Idle)] == [Statement]
    assert not reader.is_done


@every_server
def test_order_of_two_readers_is_that_of_one(mysql: MySqlServer, database: str):
    """The same log, cut anywhere, gives the same keys."""
    start = position(mysql)
    marks = [start]
    for number in range(3):
        prepare(mysql, database, f"{database}_{number}", f"INSERT INTO t VALUES ({number}, 0)", "DELETE FROM u")
        decide(mysql, "COMMIT", f"{database}_{number}")
        marks.append(position(mysql))
    with closing(changes_of(mysql, database, start)) as reader:
        whole = order_keys(list(reader))
    parts: list[tuple[int, int, int]] = []
    for begin, end in pairwise(marks):
        with closing(changes_of(mysql, database, begin, stop=StopRule(to=end))) as reader:
            parts += order_keys(list(reader))
    assert parts == whole
    assert len(whole) == 3
