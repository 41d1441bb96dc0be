"""The next chunks of a snapshot scan: every key of every table once, for all sizes of batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from pymysql.cursors import Cursor

from datasources.embedded import MySqlVersion
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.planning import chunk_plan
from datasources.mysql.planning.chunk_plan import ChunkPlanner
from datasources.mysql.snapshot.bounds_plan import BoundsRequest, tables_of_one_chunk
from datasources.mysql.state.snapshot_scan import SnapshotScan
from datasources.mysql.tables.key_ranges import range_condition
from datasources.mysql.tables.table_schema import read_named, read_schema
from tests.support.mysql.mysql_server import MySqlServer, every_server

pytestmark = pytest.mark.mysql

TABLES = {"a_dense": 1_000, "b_sparse": 300, "c_empty": 0, "d_text": 250, "e_nokey": 40, "f_small": 7}


@pytest.fixture(scope="module")
def farm(mysql_servers) -> Iterator[tuple[MySqlServer, str]]:
    server = mysql_servers.get(MySqlVersion.NEWEST)
    name = server.create_database("farm")
    with closing(server.connect(database=name)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE a_dense (id INT PRIMARY KEY)")
        cursor.execute("CREATE TABLE b_sparse (id BIGINT PRIMARY KEY)")
        cursor.execute("CREATE TABLE c_empty (id INT PRIMARY KEY)")
        cursor.execute("CREATE TABLE d_text (id VARCHAR(20) PRIMARY KEY)")
        cursor.execute("CREATE TABLE e_nokey (id INT)")
        cursor.execute("CREATE TABLE f_small (id INT PRIMARY KEY)")
        cursor.executemany("INSERT INTO a_dense VALUES (%s)", [(n,) for n in range(1_000)])
        cursor.executemany("INSERT INTO b_sparse VALUES (%s)", [(n * n * 1_000,) for n in range(300)])
        cursor.executemany("INSERT INTO d_text VALUES (%s)", [(f"k{n}",) for n in range(250)])
        cursor.executemany("INSERT INTO e_nokey VALUES (%s)", [(n,) for n in range(40)])
        cursor.executemany("INSERT INTO f_small VALUES (%s)", [(n,) for n in range(7)])
        cursor.execute("ANALYZE TABLE a_dense, b_sparse, d_text, f_small")
    yield server, name
    server.execute(f"DROP DATABASE {name}")


@pytest.fixture
def planner(farm) -> Iterator[ChunkPlanner]:
    server, name = farm
    opened = ChunkPlanner(lambda _: server.connect(), CapturedTables(name, ".*"), chunk_size=100)
    yield opened
    opened.close()


def rows_of(server, ranges):
    """The number of rows that each range holds."""
    counts = []
    with closing(server.connect()) as connection, connection.cursor() as cursor:
        for each in ranges:
            schema = read_schema(connection, *each.table)
            condition = range_condition(schema.key, each.keys) if schema.key.columns else "TRUE"
            cursor.execute(f"SELECT COUNT(*) FROM {each.table[0]}.{each.table[1]} WHERE {condition}")
            counts.append(cursor.fetchone()[0])
    return counts


def scanned(planner, snapshot, rows, *, ahead=False):
    """All chunks of a snapshot scan, batch by batch."""
    batches = []
    while snapshot is not None:
        found = planner.next(snapshot, rows)
        batches.append([chunk for table in found.tables for chunk in table.ranges])
        if ahead:
            planner.look_ahead(found.after, rows)
        snapshot = found.after
    return batches


@pytest.mark.parametrize("rows", [1, 100, 350, 1_000_000])
def test_a_snapshot_scan_has_every_row_once_for_all_batch_sizes(farm, planner, rows):
    server, name = farm
    batches = scanned(planner, planner.first(), rows)
    ranges = [chunk for batch in batches for chunk in batch]
    assert sum(rows_of(server, ranges)) == sum(TABLES.values())
    assert max(rows_of(server, ranges)) <= 100
    assert [each.table for each in ranges] == sorted(each.table for each in ranges)
    assert {each.table for each in ranges} == {(name, table) for table in TABLES}
    assert all(len(batch) <= max(1, rows // 100) + 1 for batch in batches)


def test_planning_ahead_finds_the_same_chunks(planner):
    assert scanned(planner, planner.first(), 300, ahead=True) == scanned(planner, planner.first(), 300)


def test_a_scan_of_named_tables_reads_only_those_as_a_repeated_read(farm, planner):
    _, name = farm
    only = ((name, "b_sparse"), (name, "f_small"))
    snapshot = planner.first(only)
    assert snapshot == SnapshotScan(table=(name, "b_sparse"), only=only)
    found = planner.next(snapshot, 1_000_000)
    assert [(table.table, table.is_again) for table in found.tables] == [(only[0], True), (only[1], True)]
    assert found.after is None


def test_dropped_tables_are_left_out_and_a_scan_of_none_has_no_chunks(farm, planner):
    server, name = farm
    server.execute(f"CREATE TABLE {name}.z_last (id INT PRIMARY KEY)")
    snapshot = SnapshotScan(table=(name, "z_last"))
    assert planner.next(snapshot, 100).count == 1
    server.execute(f"DROP TABLE {name}.z_last")
    found = planner.next(snapshot, 100)
    assert (found.count, found.after) == (0, None)


def test_a_plan_that_failed_ahead_is_repeated(farm, caplog):
    server, name = farm
    fails = [False]

    def connect(_doing):
        if fails[0]:
            fails[0] = False
            from datasources.errors import SourceUnavailable

            raise SourceUnavailable("gone for a moment")
        return server.connect()

    planner = ChunkPlanner(connect, CapturedTables(name, ".*"), chunk_size=100)
    with closing(planner):
        snapshot = planner.first()
        fails[0] = True
        planner.look_ahead(snapshot, 100)
        assert planner.next(snapshot, 100).count == 1
    assert "bounds_ahead failed" in caplog.text


def test_without_tables_there_is_no_snapshot_scan(farm):
    server, _ = farm
    with closing(ChunkPlanner(lambda _: server.connect(), CapturedTables("nothing", ".*"), chunk_size=100)) as planner:
        assert planner.first() is None


def counting(server: MySqlServer, statements: list[str]):
    """Return what opens connections that note their statements."""

    class CountingCursor(Cursor):
        def execute(self, query, args=None):
            statements.append(query)
            return super().execute(query, args)

    return lambda _: server.connect(cursorclass=CountingCursor)


@pytest.fixture
def many(mysql: MySqlServer) -> Iterator[str]:
    """200 small tables, of which the first 50 are named `few_*`."""
    name = mysql.create_database("many")
    names = [*(f"few_{n:03}" for n in range(50)), *(f"more_{n:03}" for n in range(150))]
    mysql.execute(*(f"CREATE TABLE {name}.{each} (id INT PRIMARY KEY)" for each in names))
    mysql.execute(*(f"INSERT INTO {name}.{each} VALUES (1), (2), (3)" for each in names))
    yield name
    mysql.execute(f"DROP DATABASE {name}")


@every_server
def test_a_planning_sends_as_many_statements_for_200_tables_as_for_50(mysql: MySqlServer, many: str):
    counts = []
    for tables, planned in (("few_.*", 50), (".*", 100)):
        statements: list[str] = []
        with closing(ChunkPlanner(counting(mysql, statements), CapturedTables(many, tables), chunk_size=10)) as planner:
            snapshot = planner.first()
            statements.clear()
            found = planner.next(snapshot, 10_000)
            assert len(found.tables) == found.count == planned
            counts.append(len(statements))
    assert counts[0] == counts[1] <= 6


@every_server
def test_tables_created_dropped_or_altered_between_plannings_are_seen(mysql: MySqlServer, many: str):
    with closing(ChunkPlanner(lambda _: mysql.connect(), CapturedTables(many, ".*"), chunk_size=10)) as planner:
        found = planner.next(SnapshotScan(table=(many, "few_000")), 100)
        assert found.after == SnapshotScan(table=(many, "few_010"))
        values = ", ".join(f"({n})" for n in range(10, 20))
        mysql.execute(
            f"DROP TABLE {many}.few_010",
            f"CREATE TABLE {many}.few_010a (id INT PRIMARY KEY)",
            f"ALTER TABLE {many}.few_011 DROP PRIMARY KEY",
            f"INSERT INTO {many}.few_012 VALUES {values}",
        )
        found = planner.next(found.after, 50)
    assert [(table.table[1], len(table.ranges)) for table in found.tables] == [
        ("few_010a", 1),
        ("few_011", 1),
        ("few_012", 3),
    ]
    assert found.after == SnapshotScan(table=(many, "few_013"))


@pytest.mark.parametrize(("rows", "chunks"), [(9, 1), (10, 1), (11, 3)])
def test_a_table_of_no_more_rows_than_a_chunk_is_one_range_without_bounds(mysql: MySqlServer, many: str, rows, chunks):
    mysql.execute(f"DELETE FROM {many}.few_000")
    mysql.execute(f"INSERT INTO {many}.few_000 VALUES {', '.join(f'({n * n})' for n in range(rows))}")
    with closing(ChunkPlanner(lambda _: mysql.connect(), CapturedTables(many, "few_000"), chunk_size=10)) as planner:
        [table] = planner.next(planner.first(), 1_000).tables
    assert len(table.ranges) == chunks
    assert (table.bounds == (), table.key is None) == (chunks == 1, chunks == 1)


def test_a_table_dropped_during_a_planning_fails_no_plan(mysql: MySqlServer, many: str):
    """The one statement that asks all tables fails; each is asked by itself then."""
    with closing(mysql.connect()) as connection:
        schemas = read_named(connection, [(many, "few_000"), (many, "few_001")])
        wanted = [
            BoundsRequest(database=many, table=schema.table, key=schema.key, size=10, count=1) for schema in schemas
        ]
        assert tables_of_one_chunk(connection, wanted) == {(many, "few_000"), (many, "few_001")}
        mysql.execute(f"DROP TABLE {many}.few_001")
        assert tables_of_one_chunk(connection, wanted) == frozenset()


@every_server
@pytest.mark.parametrize("rows", [0, 500])
@pytest.mark.parametrize(
    ("change", "left"), [("DROP TABLE {}", 2), ("ALTER TABLE {} DROP PRIMARY KEY, RENAME COLUMN id TO old", 3)]
)
def test_a_planning_is_repeated_if_a_table_changes_meanwhile(
    mysql: MySqlServer, monkeypatch: pytest.MonkeyPatch, rows: int, change: str, left: int
):
    name = mysql.create_database("racing")
    for table in ("a", "b", "c"):
        mysql.execute(f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, k INT NOT NULL, UNIQUE KEY other (k))")
        if rows:
            values = ", ".join(f"({number * 7}, {number})" for number in range(rows))
            mysql.execute(f"INSERT INTO {name}.{table} VALUES {values}", f"ANALYZE TABLE {name}.{table}")
    changes = [change.format(f"{name}.b")]

    def described(connection, names):
        found = read_named(connection, names)
        if changes:
            mysql.execute(changes.pop())
        return found

    monkeypatch.setattr(chunk_plan, "read_named", described)
    with closing(ChunkPlanner(lambda _: mysql.connect(), CapturedTables(name, ".*"), chunk_size=100)) as planner:
        found = planner.next(SnapshotScan(table=(name, "a")), 100_000)
    assert [planned.table[1] for planned in found.tables] == ["a", "b", "c"][:1] + ["b", "c"][3 - left :]
    ranges = [each for planned in found.tables for each in planned.ranges]
    assert sum(rows_of(mysql, ranges)) == left * rows


@every_server
def test_a_connection_lost_while_planning_ahead_fails_no_query(mysql: MySqlServer, many: str, caplog):
    opened = []

    def connect(_: str):
        opened.append(mysql.connect())
        if len(opened) == 2:
            mysql.execute(f"KILL {opened[1].thread_id()}")
        return opened[-1]

    with closing(ChunkPlanner(connect, CapturedTables(many, ".*"), chunk_size=10)) as planner:
        snapshot = planner.first()
        planner.look_ahead(snapshot, 100)
        assert planner.next(snapshot, 100).tables
    assert "bounds_ahead failed=true" in caplog.text
