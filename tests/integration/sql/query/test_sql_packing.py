"""Rows that readers and operators pack for the next operator: the same answer as rows that Spark passes on."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from datasources import changelog
from datasources.changelog import change_query
from datasources.source.reading.key_hashes import spark_hashes
from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = pytest.mark.spark

COLUMNS = {
    "t": "id INT, k STRING, v INT, d DOUBLE, p DECIMAL(20, 2), seen TIMESTAMP_NTZ, s STRUCT<a: INT, b: STRING>",
    "u": "uid BIGINT, k STRING, w INT, name STRING",
}
RANKED = "SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, id) AS n FROM t"
PACKED_BY_READERS = {
    "rank": f"SELECT id, k, v FROM ({RANKED}) WHERE n <= 2",
    "rank in one bucket": "SELECT id, d FROM t ORDER BY d DESC NULLS LAST, id LIMIT 3",
    "keys that are computed": "SELECT k || '-', v % 3, sum(v), count(DISTINCT p) FROM t GROUP BY k || '-', v % 3",
    "filter": "SELECT k, count(*), min(seen), max(d) FROM t WHERE v > 0 OR k IS NULL GROUP BY k",
    "decimals": "SELECT p, count(*) FROM t GROUP BY p",
    "times": "SELECT seen, count(*), sum(p) FROM t GROUP BY seen",
    "nested": "SELECT s.a, max(s.b) FROM t GROUP BY s.a",
    "several distinct aggregates": "SELECT k, count(DISTINCT v), count(DISTINCT d) FILTER (WHERE v > 0), sum(DISTINCT v), "
    "count(*) FROM t GROUP BY k",
    "grouping sets": "SELECT k, v, count(*), grouping(k) FROM t GROUP BY GROUPING SETS ((k), (v), ())",
    "doubles": "SELECT d, count(*) FROM t GROUP BY d",
    "filter of an aggregate": "SELECT k, count(*) FILTER (WHERE v > 0), sum(v) FILTER (WHERE d < 1) FROM t GROUP BY k",
}
OF_RESULTS = {
    "rank of an aggregate": "SELECT k, c FROM (SELECT k, c, row_number() OVER (ORDER BY c DESC, k NULLS LAST) AS n FROM "
    "(SELECT k, count(*) AS c FROM t GROUP BY k)) WHERE n <= 2",
    "aggregate of an aggregate": "SELECT c % 2, sum(s) FROM (SELECT k, count(*) AS c, sum(v) AS s FROM t GROUP BY k) "
    "WHERE s > -3 GROUP BY c % 2",
    "aggregate of a rank": f"SELECT v, count(*), max(id) FROM ({RANKED}) WHERE n <= 3 GROUP BY v",
    "rank of a join": "SELECT id, uid FROM (SELECT t.id, u.uid, row_number() OVER (PARTITION BY u.k ORDER BY t.v DESC "
    "NULLS LAST, t.id, u.uid) AS n FROM t JOIN u ON t.k = u.k WHERE t.v <> u.w) WHERE n <= 2",
    "aggregate of a self join": "SELECT a.k, max(b.v) FROM t a JOIN t b ON a.k = b.k AND a.v < b.v GROUP BY a.k",
    "join of aggregates": "SELECT a.k, a.c, b.s FROM (SELECT k, count(*) AS c FROM t GROUP BY k) a "
    "LEFT JOIN (SELECT k, sum(w) AS s FROM u GROUP BY k) b ON a.k = b.k",
    "aggregate of a union": "SELECT k, count(*) FROM (SELECT k FROM t UNION ALL SELECT k FROM u) GROUP BY k",
    "except": "SELECT k, v FROM t EXCEPT SELECT k, w FROM u",
    "not exists": "SELECT k, count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k) GROUP BY k",
    "full join": "SELECT t.v, count(*) FROM t FULL JOIN u ON t.id = u.uid GROUP BY t.v",
}
STATEMENTS = PACKED_BY_READERS | OF_RESULTS
ALIKE = (
    "filter",
    "decimals",
    "filter of an aggregate",
    "aggregate of an aggregate",
    "except",
    "not exists",
    "full join",
)


def rows_of(name, seed, count):
    """Rows as JSON, with NULL here and there, and keys that come back."""
    rng = random.Random(f"{name} {seed}")
    start = datetime(2026, 1, 1)
    for number in range(count):
        key = rng.choice("abcd") if rng.random() < 0.9 else None
        if name == "u":
            yield {"uid": number, "k": key, "w": rng.randrange(-5, 6), "name": rng.choice(["x", "", "zz"])}
            continue
        yield {
            "id": number + 1_000 * seed,
            "k": key,
            "v": rng.randrange(-5, 6) if rng.random() < 0.9 else None,
            "d": rng.choice([0.0, -0.0, 1.5, -2.25, 1e300, 0.1, None]),
            "p": str(Decimal(rng.randrange(-3, 4) * 10**18) / 100) if rng.random() < 0.9 else None,
            "seen": str(start + timedelta(seconds=rng.randrange(5))),
            "s": {"a": rng.randrange(3), "b": rng.choice(["p", None])} if rng.random() < 0.9 else None,
        }


class Tables:
    """Two tables that grow, and queries over them that stop and go on."""

    def __init__(self, spark, directory) -> None:
        self.spark, self.directory = spark, directory
        self.rows = {name: [] for name in COLUMNS}

    def add(self, seed, count=40):
        for name in COLUMNS:
            rows = list(rows_of(name, seed, count))
            self.rows[name] += rows
            for split in range(2):
                write_records(self.directory / name, f"s-{split}", rows[split::2])

    def frame(self, statement, *, has_watermark=False):
        tables = TableEnvironment(self.spark)
        options = {"scan.max-rows-per-batch": "17"}
        for name, columns in COLUMNS.items():
            watermark = ", WATERMARK FOR seen AS seen - INTERVAL '1' SECOND" if has_watermark and name == "t" else ""
            tables.sql(scripted_table(name, columns + watermark, self.directory / name, **options))
        used = [name for name in COLUMNS if f" {name}" in statement]
        return changelog.query(statement, **{name: tables.query(f"SELECT * FROM {name}") for name in used})

    def changes(self, frame, mode="append"):
        """Run a query to the end; return its changes, batch by batch."""
        batches = {}

        def collect(batch, number):
            batches[number] = [tuple(row) for row in batch.collect()]

        stream = frame.writeStream.foreachBatch(collect).outputMode(mode).trigger(availableNow=True)
        stream.option("checkpointLocation", str(self.directory / "checkpoint")).start().awaitTermination()
        return [change for number in sorted(batches) for change in batches[number]]

    def truth(self, statement):
        """Return DuckDB's answer on all rows."""
        with duckdb.connect() as connection:
            for name, columns in COLUMNS.items():
                types = columns.replace("STRUCT<a: INT, b: STRING>", "STRUCT(a INT, b VARCHAR)")
                connection.execute(f"CREATE TABLE {name} ({types.replace('TIMESTAMP_NTZ', 'TIMESTAMP')})")
                if self.rows[name]:
                    marks = ", ".join("?" * len(self.rows[name][0]))
                    connection.executemany(
                        f"INSERT INTO {name} VALUES ({marks})", [[*row.values()] for row in self.rows[name]]
                    )
            return Counter(map(comparable, connection.execute(statement).fetchall()))


def comparable(row):
    return tuple(value + 0.0 if isinstance(value, float) else value for value in row)


def applied(changes, table=()):
    """Apply changes to a table; only rows that are there are removed."""
    table = Counter(table)
    for kind, *row in changes:
        table[comparable(row)] += 1 if kind.startswith("+") else -1
        assert table[comparable(row)] >= 0, f"{row} is removed, and is not there"
    return +table


def plan_of(frame):
    return frame._jdf.queryExecution().analyzed().toString()


@pytest.fixture
def tables(spark, tmp_path):
    return Tables(spark, tmp_path)


@pytest.mark.parametrize("name", [*(name for name in STATEMENTS if name not in ALIKE), *full(*ALIKE)])
def test_packed_rows_give_the_answer(tables, name):
    tables.add(seed=len(name))
    frame = tables.frame(STATEMENTS[name], has_watermark=len(name) % 2 == 0)
    assert applied(tables.changes(frame)) == tables.truth(STATEMENTS[name])


@pytest.mark.parametrize("name", PACKED_BY_READERS)
def test_a_reader_packs_what_is_chosen_and_computed_of_its_rows(tables, name):
    tables.add(seed=1)
    assert "MapInArrow PackChanges" not in plan_of(tables.frame(PACKED_BY_READERS[name]))


@pytest.mark.parametrize("name", ["rank of an aggregate", "aggregate of a rank", "rank of a join"])
def test_results_of_an_operator_are_packed_for_the_next_one(tables, name):
    tables.add(seed=1)
    plan = plan_of(tables.frame(OF_RESULTS[name]))
    assert "MapInArrow PackChanges" not in plan
    assert "MapInArrow RepackChanges" in plan


def test_a_source_that_an_operator_reads_twice_is_read_in_mode_update_too(tables):
    tables.add(seed=3)
    name = "aggregate of a self join"
    frame = tables.frame(STATEMENTS[name])
    assert applied(tables.changes(frame, mode="update")) == tables.truth(STATEMENTS[name])


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT max(id), count(*) FROM t WHERE coalesce(v, s.a) > 0 AND 10 / id > 1",
        "SELECT max(id), count(*) FROM t WHERE v IN (1, NULL) AND 10 / id > 1",
        (
            "SELECT i, count(*) FROM (SELECT k, max(v) AS m, max(s.a) AS a, max(id) AS i FROM t GROUP BY k) "
            "WHERE coalesce(m, a) > 0 AND 10 / i > 1 GROUP BY i"
        ),
    ],
)
def test_a_condition_is_not_evaluated_where_an_earlier_one_is_null(tables, statement):
    """The first row would be divided by zero."""
    rows = [{"id": 0, "k": "a", "v": None, "s": None}, {"id": 3, "k": "b", "v": 1, "s": {"a": 2}}]
    write_records(tables.directory / "t", "s-0", rows)
    frame = tables.frame(statement)
    assert "MapInArrow PackChanges" not in plan_of(frame)
    assert applied(tables.changes(frame)) == {(3, 1): 1}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT s, count(*) FROM t GROUP BY s",
        "SELECT upper(k), count(*) FROM t GROUP BY upper(k)",
        "SELECT soundex(k), count(*) FROM t GROUP BY soundex(k)",
    ],
)
def test_what_the_reader_cannot_do_as_spark_does_is_left_to_spark(tables, statement):
    tables.add(seed=2)
    frame = tables.frame(statement)
    assert "MapInArrow PackChanges" in plan_of(frame)
    rows = tables.changes(frame)
    assert len(applied([(kind, str(key), count) for kind, key, count in rows])) > 2


@pytest.mark.parametrize("is_packed_first", [False, True])
@pytest.mark.parametrize("name", ["aggregate of a self join", *full("rank", "rank of a join", "join of aggregates")])
def test_a_query_goes_on_with_packed_rows_and_without(tables, monkeypatch, name, is_packed_first):
    statement, table = STATEMENTS[name], Counter()
    for seed, is_packed in enumerate([is_packed_first, not is_packed_first, is_packed_first]):
        tables.add(seed)
        with monkeypatch.context() as patch:
            if not is_packed:
                patch.setattr(change_query, "push_packing", lambda frame: frame)
            frame = tables.frame(statement)
            assert ("MapInArrow PackChanges" in plan_of(frame)) != is_packed
            table = applied(tables.changes(frame), table)
        assert table == tables.truth(statement)


def test_hashes_are_sparks(spark):
    rng = random.Random(5)
    whole = {
        "BOOLEAN": [True, False],
        "TINYINT": [-128, 127, 0],
        "SMALLINT": [-32768, 5],
        "INT": [-(2**31), 2**31 - 1, 0, -1],
        "BIGINT": [-(2**63), 2**63 - 1, 0],
        "FLOAT": [0.0, -0.0, math.nan, math.inf, 1.5],
        "DOUBLE": [0.0, -0.0, math.nan, -math.inf, 0.1],
        "DECIMAL(18, 3)": [Decimal("-1.500"), Decimal("999999999999999.999")],
        "DECIMAL(38, 0)": [
            Decimal(10) ** 37,
            -(Decimal(10) ** 37),
            Decimal(-1),
            Decimal(0),
            Decimal(128),
            Decimal(-129),
        ],
        "DATE": [date(1969, 12, 31), date(9999, 12, 31)],
        "TIMESTAMP_NTZ": [datetime(1900, 1, 1), datetime(2026, 1, 1, 0, 0, 0, 1)],
        "STRING": ["", "a", "é" * 3, "x" * 31, "y" * 32, "z" * 67],
        "BINARY": [b"", b"\0\xff", bytes(range(40))],
    }
    names = [f"c{at}" for at in range(len(whole))]
    ddl = ", ".join(f"{name} {kind}" for name, kind in zip(names, whole, strict=True))
    rows = [tuple(rng.choice([*pool, None]) for pool in whole.values()) for _ in range(200)]
    rows += [tuple(pool[at % len(pool)] for pool in whole.values()) for at in range(6)]
    frame = spark.createDataFrame(rows, ddl)
    pairs = [*itertools.combinations(names, 1), *itertools.islice(itertools.combinations(names, 2), 30), tuple(names)]
    normalized = {name: f"{name} + 0.0F" if kind == "FLOAT" else name for name, kind in zip(names, whole, strict=True)}
    hashes = ", ".join(f"xxhash64({', '.join(normalized[each] for each in pair)})" for pair in pairs)
    frame.createOrReplaceTempView("hashed_values")
    truth = spark.sql(f"SELECT {hashes} FROM hashed_values").collect()
    values = pa.table(frame.toArrow())
    for at, pair in enumerate(pairs):
        found = spark_hashes([values.column(each).combine_chunks() for each in pair], len(rows))
        assert found.tolist() == [row[at] for row in truth], pair
