"""Where ranges of the binlog end, which transactions are in them, and how one of those is skipped."""

from __future__ import annotations

import itertools
import random
from contextlib import closing
from typing import Any

import pytest

from datasources.errors import RecordError
from datasources.mysql.binlog import (
    BinlogPosition,
    BinlogRangeInfo,
    BinlogRows,
    Capture,
    Statement,
    StopRule,
    XaChange,
    scan_range,
)
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet
from datasources.mysql.binlog.statements.statements import StatementKind
from tests.support.mysql.mysql_binlog import everything, images, position, read_changes, reader_at, rows_of
from tests.support.mysql.mysql_history import write_history
from tests.support.mysql.mysql_server import MySqlServer, every_mysql, every_server

pytestmark = pytest.mark.mysql


def _scan(server: MySqlServer, start: BinlogPosition, capture: Any, **how: Any) -> BinlogRangeInfo:
    with closing(reader_at(server, start, capture, decodes=False, verify_checksums=False, **how)) as reader:
        return scan_range(reader)


def _rule(chance: random.Random, positions: list[BinlogPosition], row_count: int) -> StopRule:
    lengths = sum(b.pos - a.pos for a, b in itertools.pairwise(positions) if a.file == b.file)
    to = chance.choice(positions)
    if chance.random() < 0.3:
        to = BinlogPosition(to.file, to.pos + chance.randrange(1, 500))
    return StopRule(
        to=to if chance.random() < 0.4 else None,
        max_bytes=chance.randrange(lengths) if chance.random() < 0.5 else None,
        max_rows=chance.randrange(row_count) if chance.random() < 0.5 else None,
    )


@every_server
def test_a_scan_ends_where_decoding_ends_with_the_same_counts(mysql: MySqlServer):
    database = mysql.create_database("range")
    positions = write_history(mysql, database, steps=45, seed=7)

    def capture(name: str, table: str) -> Capture | None:
        return Capture() if name == database and table != "not_captured" else None

    row_count = _scan(mysql, positions[0], capture).changed_rows
    assert row_count > 100
    chance = random.Random(11)
    ends = set()
    for _ in range(30):
        start, rule = chance.choice(positions[:-1]), _rule(chance, positions, row_count)
        with closing(reader_at(mysql, start, capture, stop=rule)) as reader:
            changes = list(reader)
            info = _scan(mysql, start, capture, stop=rule)
            assert info == BinlogRangeInfo(
                position=reader.position,
                is_done=reader.is_done,
                passed_bytes=reader.passed_bytes,
                changed_rows=sum(batch.changes for batch in rows_of(changes)),
                first_gtid=reader.first_gtid,
                gtids=reader.gtids,
                last_commit_us=reader.commit_us,
                next_commit_us=reader.next_commit_us,
                format_time_us=reader.format_time_us,
                xa=tuple(change for change in changes if isinstance(change, XaChange)),
                statements=tuple(change for change in changes if isinstance(change, Statement)),
            )
            whole, rest = (_scan(mysql, at, capture) for at in (start, info.position))
            assert whole.changed_rows == info.changed_rows + rest.changed_rows
            assert whole.passed_bytes == info.passed_bytes + rest.passed_bytes
            assert info.passed_bytes == reader.passed_at(reader.position.pos)
        ends.add(info.position)
        if rule.max_rows is None:
            unseen = _scan(mysql, start, lambda *_: None, stop=rule)
            assert (unseen.position, unseen.passed_bytes, unseen.gtids) == (
                info.position, info.passed_bytes, info.gtids,
            )  # fmt: skip
            assert unseen.changed_rows == 0
    assert len(ends) > 10


def _check_within(
    mysql: MySqlServer, start: BinlogPosition, capture: Any, wanted: tuple[BinlogPosition, str, Any], *, is_last: bool
) -> None:
    """A rule with the GTID set before a position ends there, decoding or not; not at MariaDB."""
    end, known, expected = wanted
    for decodes in () if mysql.is_mariadb else (False, True):
        stop = StopRule(within=GtidSet.parse(known))
        with closing(reader_at(mysql, start, capture, stop=stop, decodes=decodes)) as reader:
            found = scan_range(reader)
        assert found.gtids == expected
        assert found.position >= end  # at the head of the next file if the next transaction is there
        assert found.is_done != is_last


@every_server
def test_the_transactions_of_a_range_are_those_between_its_ends(mysql: MySqlServer):
    executed = "SELECT @@GLOBAL.gtid_binlog_pos" if mysql.is_mariadb else "SELECT @@GLOBAL.gtid_executed"
    database = mysql.create_database("gtids")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))")
    steps = [
        ["INSERT INTO t (v) VALUES ('a'), ('b')"],
        ["BEGIN", "INSERT INTO t (v) VALUES ('c')", "UPDATE t SET v = 'd'", "COMMIT"],
        ["ALTER TABLE t ADD COLUMN w INT"],
        ["CREATE TABLE made AS SELECT * FROM t"],
        ["FLUSH BINARY LOGS"],
        ["DELETE FROM t"],
    ]
    if not mysql.is_mariadb:
        steps.insert(1, ["SET binlog_transaction_compression = 1", "INSERT INTO t (v) VALUES ('z'), ('z')"])
    if mysql.version.value == "newest":
        steps.insert(
            2, ["SET gtid_next = 'AUTOMATIC:bulk'", "INSERT INTO t (v) VALUES ('t')", "SET gtid_next='AUTOMATIC'"]
        )
    states = [(position(mysql), mysql.execute(executed)[0][0])]
    with closing(mysql.connect(database=database)) as connection, connection.cursor() as cursor:
        for step in steps:
            for statement in step:
                cursor.execute(statement)
            states.append((position(mysql), mysql.execute(executed)[0][0]))
    for (start, before), (end, after) in itertools.combinations(states, 2):
        info = _scan(mysql, start, everything(database), stop=StopRule(to=end))
        assert info.position == end
        if mysql.is_mariadb:
            expected = DomainPositions.parse(after) if before != after else GtidSet()
        else:
            expected = GtidSet.parse(after).minus(GtidSet.parse(before))
        assert info.gtids == expected
        assert (info.first_gtid is None) == (before == after)
        if info.first_gtid is not None:
            assert expected.has_gtid(info.first_gtid)
        _check_within(mysql, start, everything(database), (end, after, expected), is_last=after == states[-1][1])


@every_server
def test_images_know_where_their_transaction_begins(mysql: MySqlServer):
    database = mysql.create_database("begins")
    positions = write_history(mysql, database, steps=40, seed=3)
    begins_seen: list[BinlogPosition] = []
    for batch in rows_of(read_changes(mysql, positions[0], everything(database))):
        begins = [BinlogPosition(batch.file, pos) for pos in batch.begin.tolist()]
        gtids = batch.transactions.texts().to_pylist()
        assert all(begin.pos < pos for begin, pos in zip(begins, batch.pos.tolist(), strict=True))
        assert len(set(begins)) == len(set(zip(begins, gtids, strict=True))) == len(set(gtids))
        begins_seen += begins
    mysql.execute("FLUSH BINARY LOGS")  # a file that the server writes may end in a part of an event
    events = {
        BinlogPosition(file, int(row[1]))
        for file in {position.file for position in begins_seen}
        for row in mysql.execute(f"SHOW BINLOG EVENTS IN '{file}'")
        if row[2] == "Gtid"
    }
    assert set(begins_seen) <= events
    assert len(set(begins_seen)) > 10


@every_server
def test_skipping_leaves_the_other_transactions_unchanged(mysql: MySqlServer):
    database = mysql.create_database("skips")
    start = write_history(mysql, database, steps=25, seed=19)[0]
    if not mysql.is_mariadb:  # partial JSON documents
        mysql.execute(
            f'INSERT INTO {database}.u (j) VALUES (\'{{"a": 1, "b": "{"z" * 60}"}}\')',
            "SET binlog_row_value_options = 'PARTIAL_JSON'",
            f"UPDATE {database}.u SET j = JSON_SET(j, '$.a', 9)",
        )

    def rows(skip: frozenset[BinlogPosition]) -> list[tuple[BinlogPosition, int, int, str, str]]:
        with closing(reader_at(mysql, start, everything(database), skip=skip)) as reader:
            found = [
                (BinlogPosition(b.file, begin), pos, row, b.table.table, str(image))
                for b in rows_of(list(reader))
                for begin, pos, row, image in zip(b.begin.tolist(), b.pos.tolist(), b.row.tolist(), b.images.to_pylist(), strict=True)
            ]  # fmt: skip
            info = _scan(mysql, start, everything(database), skip=skip)
            assert (info.changed_rows, info.position, info.gtids) == (
                reader.changed_rows, reader.position, reader.gtids,
            )  # fmt: skip
            return sorted(found)

    everything_there = rows(frozenset())
    begins = sorted({begin for begin, *_ in everything_there})
    chance = random.Random(23)
    assert len(begins) > 10
    for share in (0.1, 0.5, 0.9, 0.5, 1.0):
        skip = frozenset(begin for begin in begins if chance.random() < share)
        assert rows(skip) == [row for row in everything_there if row[0] not in skip]


def _poisoned(server: MySqlServer) -> tuple[str, BinlogPosition, list[BinlogPosition]]:
    """Three transactions, of which the second has an invalid date; the positions before each."""
    database = server.create_database("poison")
    server.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, d DATE)")
    begins = []
    for number, day in enumerate(("2024-01-01", "2024-02-00", "2024-03-01")):
        begins.append(position(server))
        server.execute("SET sql_mode = 'ALLOW_INVALID_DATES'", f"INSERT INTO {database}.t VALUES ({number}, '{day}')")
    return database, begins[0], begins


@every_server
def test_an_undecodable_transaction_is_named_and_earlier_ones_are_emitted(mysql: MySqlServer):
    database, start, begins = _poisoned(mysql)
    with closing(reader_at(mysql, start, everything(database))) as reader:
        changes = iter(reader)
        assert [row["id"] for _, row in images([next(changes)])] == [0]
        assert reader.position == begins[1]
        with pytest.raises(RecordError, match=rf"begins at {begins[1]}; 'scan.skip-transactions' = '{begins[1]}'"):
            next(changes)


@every_server
def test_a_transaction_is_skipped_by_its_begin(mysql: MySqlServer):
    database, start, begins = _poisoned(mysql)
    skip = frozenset({begins[1]})
    with closing(reader_at(mysql, start, everything(database), skip=skip)) as reader:
        assert [row["id"] for _, row in images(list(reader))] == [0, 2]
        assert reader.changed_rows == 2
        end = reader.position
        passed = reader.gtids
    assert _scan(mysql, start, everything(database), skip=skip).gtids == passed
    assert _scan(mysql, start, everything(database), skip=skip, stop=StopRule(max_rows=2)).position == end
    assert _scan(mysql, start, everything(database), stop=StopRule(max_rows=2)).position == begins[2]


@every_mysql
def test_statements_and_compressed_transactions_are_skipped_too(mysql: MySqlServer):
    database = mysql.create_database("skipped")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    start = position(mysql)
    mysql.execute("SET binlog_format = 'STATEMENT'", f"INSERT INTO {database}.t VALUES (1)")
    second = position(mysql)
    mysql.execute("SET binlog_transaction_compression = ON", f"INSERT INTO {database}.t VALUES (2), (3)")
    third = position(mysql)
    mysql.execute(f"ALTER TABLE {database}.t ADD COLUMN v INT")
    fourth = position(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (4, 4)")
    written = read_changes(mysql, start, everything(database))[0]
    assert isinstance(written, Statement)
    assert (written.kind, written.begin) == (StatementKind.ROWS, start)
    changes = read_changes(mysql, start, everything(database), skip=frozenset({start}))
    assert [row["id"] for _, row in images(changes)] == [2, 3, 4]
    assert len(changes) == 3
    assert isinstance(changes[1], Statement)
    changes = read_changes(mysql, start, everything(database), skip=frozenset({start, second, third}))
    assert [type(change) for change in changes] == [BinlogRows]
    assert [BinlogPosition(start.file, int(pos)) for pos in changes[0].begin] == [fourth]
    assert images(changes) == [("+I", {"id": 4, "v": 4})]
    # A position inside a transaction skips nothing.
    other = BinlogPosition(start.file, second.pos + 1)
    assert len(read_changes(mysql, second, everything(database), skip=frozenset({other}))) == 3


@every_server
def test_a_table_made_from_a_query_is_one_transaction(mysql: MySqlServer):
    database = mysql.create_database("made")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)", f"INSERT INTO {database}.t VALUES (1), (2)")
    start = position(mysql)
    mysql.execute(f"CREATE TABLE {database}.made AS SELECT id FROM {database}.t")
    end = position(mysql)
    info = _scan(mysql, start, everything(database), stop=StopRule(max_bytes=1))
    assert (info.position, info.changed_rows, len(info.statements)) == (end, 2, 1)
