"""Changes of many small transactions come in full chunks and in commit order, whatever tables and kinds alternate."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.binlog.events import payload
from datasources.mysql.reader import change_chunks
from datasources.mysql.reader.reader_factory import MySqlReaderFactory
from datasources.mysql.scan.scan_settings import BINLOG
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.source import MySqlSource
from datasources.mysql.state.mysql_state import MySqlState
from datasources.source.api.connector import SessionInfo
from datasources.source.api.reader import Chunk, RangeEnd
from datasources.source.reading.split_run import SplitRun
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from tests.support.forms import full
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_history import write_history
from tests.support.mysql.mysql_server import MySqlServer, every_mysql, every_server
from tests.support.source.memory_source import MillisColumn, strategy
from watermark import MIN_WATERMARK

pytestmark = pytest.mark.mysql

TRANSACTIONS = 200
SHAPES = ("", ", a INT", ", b VARCHAR(40)", ", a INT, d DECIMAL(10,2), e DATETIME(3)", ", j JSON", ", z BLOB, y DOUBLE")


def write_mixed(mysql: MySqlServer, database: str, *session: str, before: str = "DO 0") -> int:
    """Write small transactions that alternate between tables and kinds, each change behind a statement.

    Returns:
        How many images they have.
    """
    chance, top, images = random.Random(7), [0] * len(SHAPES), 0
    with closing(mysql.connect(database=database, autocommit=False)) as connection, connection.cursor() as cursor:
        for statement in session:
            cursor.execute(statement)
        for _ in range(TRANSACTIONS):
            for _ in range(chance.randint(1, 4)):
                cursor.execute(before)
                table, kind = chance.randrange(len(SHAPES)), chance.random()
                row = f"WHERE id = {chance.randint(1, 1 + top[table])}"
                if kind < 0.5:
                    images += cursor.execute(f"INSERT INTO t{table} (v, k) VALUES ('x', 1), ('y', 2)")
                    top[table] += 2
                elif kind < 0.8:
                    images += 2 * cursor.execute(f"UPDATE t{table} SET k = k + 1 {row}")
                else:
                    images += cursor.execute(f"DELETE FROM t{table} {row}")
            connection.commit()
    return images


@pytest.fixture
def mixed(mysql: MySqlServer) -> str:
    database = mysql.create_database("mixed")
    for number, more in enumerate(SHAPES):
        mysql.execute(
            f"CREATE TABLE {database}.t{number} (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(50), k INT{more})"
        )
    return database


def open_reader(
    mysql: MySqlServer,
    database: str,
    start: BinlogPosition,
    to: BinlogPosition,
    *,
    schema: str = "id INT, v STRING, k INT",
    **more: str,
) -> Any:
    """Open a reader of a range."""
    who = mysql.reader
    options = {
        "hostname": who.host,
        "port": str(who.port),
        "username": who.user,
        "password": who.password,
        "ssl.mode": "disabled",
        "get-server-public-key": "true",
        "database-name": database,
        "table-name": "t.*|u",
        "schema": schema,
        **more,
    }
    settings = MySqlSource.create(options, SessionInfo(time_zone="UTC", ansi=True)).settings
    with closing(ServerView(settings.connection)) as view:
        server = view.server()
    state = MySqlState(reader="0" * 32, server=server, position=start, gtid=None, to=to, end_clock_us=0, prepared={})
    return MySqlReaderFactory(settings.for_batch(state.to_json())).open()


def chunks_of(mysql: MySqlServer, database: str, start: BinlogPosition, **how: Any) -> tuple[list[Chunk], RangeEnd]:
    """Read everything after a position."""
    with closing(open_reader(mysql, database, start, position(mysql), **how)) as reader:
        chunks = list(reader.read(BINLOG, 0, 1 << 60))
        return chunks, reader.range_end(BINLOG)


def rows_of(chunks: list[Chunk]) -> list[dict[str, Any]]:
    """All rows, in order, with their position and their place in errors."""
    return [
        {**row, "position": chunk.position(number), "place": chunk.describe_row(number)}
        for chunk in chunks
        for number, row in enumerate(chunk.columns.to_pylist())
    ]


def seq(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row["_seq"].values())


@every_server
def test_mixed_small_transactions_come_in_one_full_chunk_in_commit_order(mysql: MySqlServer, mixed: str):
    start = position(mysql)
    images = write_mixed(mysql, mixed)
    chunks, _ = chunks_of(mysql, mixed, start)
    rows = rows_of(chunks)
    assert [len(chunks), len(rows)] == [1, images]
    assert [seq(row) for row in rows] == sorted(seq(row) for row in rows)
    assert len({row["table_name"] for row in rows}) == len(SHAPES)


@pytest.mark.parametrize(
    ("session", "before"),
    [
        (("SET binlog_transaction_compression = ON",), "DO 0"),
        (("SET gtid_next = 'AUTOMATIC:mixed'",), "DO 0"),
        ((), "SAVEPOINT one"),
    ],
)
def test_transactions_that_are_read_one_by_one_share_a_chunk(mysql: MySqlServer, mixed: str, session, before):
    start = position(mysql)
    images = write_mixed(mysql, mixed, *session, before=before)
    chunks, _ = chunks_of(mysql, mixed, start)
    rows = rows_of(chunks)
    assert [len(chunks), len(rows)] == [1, images]
    assert [seq(row) for row in rows] == sorted(seq(row) for row in rows)


@every_server
def test_rows_are_in_commit_order_and_records_are_whole(
    mysql: MySqlServer, mixed: str, monkeypatch: pytest.MonkeyPatch
):
    """Alignment ends a range at a row and resumes at its position: earlier rows must have been read."""
    monkeypatch.setattr(change_chunks, "_FULL_ROWS", 50)
    start = position(mysql)
    write_mixed(mysql, mixed)
    chunks, _ = chunks_of(mysql, mixed, start)
    positions = [row["position"] for row in rows_of(chunks)]
    assert positions == sorted(positions)
    begun: set[int] = set()
    for chunk in chunks:
        for number in range(chunk.columns.num_rows):
            first, at = chunk.record_start(number), chunk.position(number)
            assert (first < 0) == (at in begun)
            assert first < 0 or (chunk.position(first) == at and (first == 0 or chunk.position(first - 1) != at))
        begun |= {chunk.position(number) for number in range(chunk.columns.num_rows)}


@every_server
@pytest.mark.parametrize("seed", [1, *full(2)])
def test_collected_rows_equal_those_read_one_by_one(mysql: MySqlServer, monkeypatch: pytest.MonkeyPatch, seed: int):
    database = mysql.create_database("together")
    start = write_history(mysql, database, steps=30, seed=seed)[0]
    together, end = chunks_of(mysql, database, start, schema="id INT")
    monkeypatch.setattr(change_chunks, "_FULL_ROWS", 1)
    monkeypatch.setattr(payload, "_MAX_EXPANDED_BYTES", 0)
    apart, same_end = chunks_of(mysql, database, start, schema="id INT")
    assert len(apart) > len(together)
    differing = [pair for pair in zip(rows_of(together), rows_of(apart), strict=True) if pair[0] != pair[1]]
    assert differing == []
    assert end == same_end


@every_mysql
def test_compressed_transactions_have_the_same_numbers_in_any_grouping(
    mysql: MySqlServer, mixed: str, monkeypatch: pytest.MonkeyPatch
):
    start = position(mysql)
    write_mixed(mysql, mixed, "SET binlog_transaction_compression = ON")
    together = rows_of(chunks_of(mysql, mixed, start)[0])
    monkeypatch.setattr(payload, "_MAX_EXPANDED_BYTES", 0)
    assert rows_of(chunks_of(mysql, mixed, start)[0]) == together
    assert max(row["_seq"]["row"] for row in together) > 1


@every_server
def test_alignment_ends_a_range_without_losing_earlier_rows(mysql: MySqlServer, mixed: str):
    start = position(mysql)
    mysql.execute(*(f"INSERT INTO {mixed}.t{number * 5 % 6} (k) VALUES ({number})" for number in range(60)))
    chunks, end = chunks_of(mysql, mixed, start)
    by_k = replace(strategy(), rowtime=MillisColumn("k"), watermark=MillisColumn("k"))

    def run(allowed_ms: int) -> SplitRun:
        task = SplitTask(
            split=BINLOG, known_at=0, start=0, end=end.position, watermark_us=MIN_WATERMARK, others_us=None
        )
        plan = TaskPlan(
            sequence=1, splits=(task,), combined_us=MIN_WATERMARK, ceiling_us=None, allowed_us=allowed_ms * 1_000
        )
        return SplitRun(plan, task, by_k, MIN_WATERMARK)

    aligned, found = run(30), []
    for chunk in chunks:
        if not aligned.has_stopped:
            found += aligned.take(chunk).columns.column("k").to_pylist()
    assert found == list(range(31))
    assert aligned.report().position == next(row["position"] for row in rows_of(chunks) if row["k"] == 31)
    whole = run(60)
    assert [row for chunk in chunks for row in whole.take(chunk).columns.column("k").to_pylist()] == list(range(60))
    assert whole.report().late_rows == 0


@every_server
def test_rows_do_not_wait_for_those_that_are_not_written_yet(mysql: MySqlServer, mixed: str):
    """The range's end lies behind that of the log; the server's heartbeat lets the rows go."""
    start = position(mysql)
    mysql.execute(f"INSERT INTO {mixed}.t0 (k) VALUES (1)", f"INSERT INTO {mixed}.t1 (k) VALUES (2)")
    end = position(mysql)
    with closing(open_reader(mysql, mixed, start, replace(end, pos=end.pos + 10_000))) as reader:
        first = next(reader.read(BINLOG, 0, 1 << 60))
    assert first.columns.column("k").to_pylist() == [1, 2]


@pytest.mark.parametrize("bound", ["_FULL_ROWS", "_FULL_BYTES"])
def test_chunks_are_bounded_in_rows_and_in_bytes(
    mysql: MySqlServer, mixed: str, monkeypatch: pytest.MonkeyPatch, bound: str
):
    monkeypatch.setattr(change_chunks, bound, 1)
    start = position(mysql)
    images = write_mixed(mysql, mixed, before="SAVEPOINT one")
    chunks, _ = chunks_of(mysql, mixed, start)
    assert len(chunks) > TRANSACTIONS // 2
    assert sum(chunk.columns.num_rows for chunk in chunks) == images


def test_a_chunk_holds_rows_of_one_file(mysql: MySqlServer, mixed: str):
    start = position(mysql)
    mysql.execute(*(f"INSERT INTO {mixed}.t{number % 2} (k) VALUES (1)" for number in range(5)), "FLUSH BINARY LOGS")
    mysql.execute(f"INSERT INTO {mixed}.t0 (k) VALUES (1)")
    chunks, _ = chunks_of(mysql, mixed, start)
    assert [chunk.columns.num_rows for chunk in chunks] == [5, 1]


def test_rows_without_columns_are_counted(mysql: MySqlServer, mixed: str):
    start = position(mysql)
    images = write_mixed(mysql, mixed)
    chunks = chunks_of(mysql, mixed, start, schema="id INT", **{"scan.metadata": ""})[0]
    assert sum(chunk.columns.num_rows for chunk in chunks) == images
