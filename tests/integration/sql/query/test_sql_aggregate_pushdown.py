"""Aggregates that readers compute in part give the rows that Spark computes alone."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import settings
from tests.support.sql.sql_tables import scripted_table, write_records
from tests.support.sql.windowed_aggregates import COLUMNS, generated_rows, generated_statement

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

PUSHDOWN = "table.exec.source.aggregate-pushdown"
SPLITS = ("s-0", "s-1", "s-2")
DEFAULT_SEEDS = range(6)
ALL_SEEDS = range(60)


def written_table(directory: Any, seed: int, *, rows: int, batch: int) -> str:
    for number, split in enumerate(SPLITS):
        write_records(directory, split, generated_rows(seed * 10 + number, rows))
    return scripted_table("e", COLUMNS, directory, scripted__bounded="true", **{"scan.max-rows-per-batch": str(batch)})


def answer(spark: Any, table: str, statement: str, checkpoint: Any, **values: str) -> tuple[list[Any], dict[str, Any]]:
    """Run a statement to its end; return its rows and the last report of its source."""
    t = TableEnvironment(spark, settings={key.replace("__", "."): value for key, value in values.items()})
    t.sql(table)
    frame = t.sql(statement)
    found: dict[int, list[Any]] = {}
    query = (
        frame.writeStream.foreachBatch(lambda df, number: found.__setitem__(number, [tuple(r) for r in df.collect()]))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(checkpoint))
        .start()
    )
    assert query.awaitTermination(240)
    reported = json.loads(query.recentProgress[-1].sources[0].latestOffset)
    reported["splits"] = [(each["split"], each["position"], each["watermark"]) for each in reported["splits"]]
    reported.pop("time")
    return sorted((row for rows in found.values() for row in rows), key=repr), reported


def same(one: list[Any], other: list[Any], doubles: frozenset[int]) -> bool:
    """Compare rows; sums of doubles up to the order of addition."""

    def is_same(at: int, a: Any, b: Any) -> bool:
        if at in doubles and a is not None and b is not None:
            return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-9)
        return a == b

    without = [
        sorted(rows, key=lambda row: repr([v for at, v in enumerate(row) if at not in doubles]))
        for rows in (one, other)
    ]
    return len(one) == len(other) and all(
        len(a) == len(b) and all(is_same(at, *pair) for at, pair in enumerate(zip(a, b, strict=True)))
        for a, b in zip(*without, strict=True)
    )


@pytest.mark.parametrize("mode", ["spark", "exact"])
@pytest.mark.parametrize(
    "seed", [each if each in DEFAULT_SEEDS else pytest.param(each, marks=pytest.mark.full) for each in ALL_SEEDS]
)
def test_pushed_aggregates_give_the_rows_of_sparks_own(spark, tmp_path, seed, mode):
    statement = generated_statement(seed)
    table = written_table(tmp_path / "e", seed, rows=150, batch=(60, 150, 1_000)[seed % 3])
    both = [
        answer(
            spark,
            table,
            statement.text,
            tmp_path / f"c{pushed}",
            **{PUSHDOWN: pushed, "table.exec.late-rows": mode},
        )
        for pushed in ("true", "false")
    ]
    (rows, reported), (expected, without) = both
    assert expected
    assert same(rows, expected, statement.doubles), statement.text
    assert reported == without


EVERY_STATE = (
    "SELECT window_end, k, COUNT(*) AS n, COUNT(x) AS nx, SUM(x) AS sx, AVG(x) AS ax, SUM(d) AS sd, SUM(w) AS sw, "
    "MIN(k) AS lo, MAX(b) AS hi, bool_and(t) AS every, count_if(g > 3) AS n3, AVG(b) AS ab, SUM(f) AS sf "
    "FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) "
    "GROUP BY window_start, window_end, k"
)


def unbounded_table(directory: Any) -> str:
    return scripted_table("e", COLUMNS, directory)


COUNTS = (
    "SELECT k, window_start AS ws, window_end AS we, COUNT(*) AS n FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), "
    "INTERVAL '10' SECOND, INTERVAL '20' SECOND)) WHERE x > 1 GROUP BY window_start, window_end, k"
)
LARGEST_COUNTS = (
    f"SELECT a.we, a.k, a.n FROM ({COUNTS}) AS a JOIN (SELECT ws, we, MAX(n) AS m FROM ({COUNTS}) GROUP BY ws, we) AS b "
    "ON a.ws = b.ws AND a.we = b.we AND a.n >= b.m"
)


@pytest.mark.parametrize("order", [("false", "true"), ("true", "false")])
@pytest.mark.parametrize("statement", [EVERY_STATE, LARGEST_COUNTS], ids=["read once", "read twice"])
def test_a_checkpoint_continues_with_and_without_push_down(spark, tmp_path, order, statement):
    directory, rows = tmp_path / "e", generated_rows(7, 120)
    found: list[Any] = []
    for number, pushed in enumerate((*order, order[0])):
        write_records(directory, "s-0", rows[number * 40 : (number + 1) * 40])
        part, _ = answer(spark, unbounded_table(directory), statement, tmp_path / "c", **{PUSHDOWN: pushed})
        found += part
    expected, _ = answer(spark, unbounded_table(directory), statement, tmp_path / "whole", **{PUSHDOWN: "false"})
    assert len(expected) > 5
    assert same(found, expected, frozenset({13}))


def scan_line(t: TableEnvironment, statement: str) -> str:
    return next(line for line in str(t.sql(f"EXPLAIN {statement}")).splitlines() if "TableSourceScan" in line)


WINDOWED = "SELECT window_end, {} FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND)) {} GROUP BY {}"
WINDOW = "window_start, window_end"
OF_A_CTE = (
    "WITH big AS (SELECT k AS key, x * 3 AS x3, ts FROM e WHERE x > 4) SELECT window_end, key, SUM(x3) FROM "
    "TABLE(TUMBLE(TABLE big, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, key"
)


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        (WINDOWED.format("k, COUNT(*)", "", f"{WINDOW}, k"), "groupBy=[k], aggregates=[COUNT(*)]"),
        (WINDOWED.format("SUM(x)", "WHERE g > 1", WINDOW), "filter=[(g > 1)], aggregates=[SUM(x)]"),
        (WINDOWED.format("SUM(d) FILTER (WHERE t)", "", WINDOW), "aggregates=[SUM(d) FILTER (WHERE t)]"),
        (WINDOWED.format("g % 3, MAX(x)", "", f"{WINDOW}, g % 3"), "groupBy=[(g % 3)], aggregates=[MAX(x)]"),
        (WINDOWED.format("k, g, COUNT(*)", "", f"{WINDOW}, ROLLUP (k, g)"), "groupBy=[k, g], aggregates=[COUNT(*)]"),
        (
            "SELECT TUMBLE_START(ts, INTERVAL '10' SECOND), COUNT(*) FROM e GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)",
            "aggregates=[COUNT(*)]",
        ),
        (
            OF_A_CTE,
            "filter=[(x > 4)], groupBy=[k], aggregates=[SUM((x * 3))]",
        ),
        (WINDOWED.format("COUNT(*)", "", f"{WINDOW}, rand()"), "is not deterministic"),
        (WINDOWED.format("AVG(d)", "", WINDOW), "aggregatesNotPushed=[avg(__tidemark_1.d) is not put together"),
        (WINDOWED.format("approx_count_distinct(k)", "", WINDOW), "aggregatesNotPushed=["),
        (WINDOWED.format("COUNT(*)", "WHERE rand() < 2", WINDOW), "is not deterministic"),
        (WINDOWED.format("COUNT(*)", "WHERE ts + INTERVAL '1' SECOND < window_end", WINDOW), "is of a row and of its"),
        (WINDOWED.format("MAX(reverse(k))", "", WINDOW), "aggregatesNotPushed=[scan.aggregation"),
    ],
)
def test_explain_shows_what_was_pushed_or_why_not(spark, tmp_path, statement, shown):
    (tmp_path / "e").mkdir()
    t = TableEnvironment(spark)
    t.sql(unbounded_table(tmp_path / "e"))
    assert shown in scan_line(t, statement)
    t.sql(f"SET '{PUSHDOWN}' = 'false'")
    assert "aggregates" not in scan_line(t, statement)


def test_a_table_that_is_read_twice_is_one_source_as_before(spark, tmp_path):
    (tmp_path / "e").mkdir()
    t = TableEnvironment(spark)
    t.sql(unbounded_table(tmp_path / "e"))
    one = WINDOWED.format("COUNT(*) AS n", "", WINDOW)
    assert "aggregates=[COUNT(*)]" in scan_line(t, f"{one} UNION ALL {one}")
    both = f"{one} UNION ALL {WINDOWED.format('SUM(x) AS n', '', WINDOW)}"
    assert (
        "aggregatesNotPushed=[the table is read more than once in the query, and not each time for the same aggregates]"
        in scan_line(t, both)
    )


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_sum_beyond_its_type_is_what_spark_makes_of_it(spark, tmp_path, ansi):
    with settings(spark, {"spark.sql.ansi.enabled": ansi}):
        write_records(tmp_path / "e", "s-0", [{"k": "a", "b": 2**62, "ts": "2024-01-01 00:00:01"}] * 3)
        write_records(tmp_path / "e", "s-0", [{"k": "a", "b": 1, "ts": "2024-01-01 00:10:00"}])
        statement = WINDOWED.format("SUM(b)", "", WINDOW)
        outcomes = []
        for pushed in ("true", "false"):
            try:
                rows, _ = answer(
                    spark, unbounded_table(tmp_path / "e"), statement, tmp_path / pushed, **{PUSHDOWN: pushed}
                )
                outcomes.append(str(rows))
            except Exception as error:  # noqa: BLE001 - which one is compared
                outcomes.append("ARITHMETIC_OVERFLOW" if "ARITHMETIC_OVERFLOW" in str(error) else str(error))
    assert outcomes[0] == outcomes[1]
    assert ("ARITHMETIC_OVERFLOW" in outcomes[0]) == (ansi == "true")


INSTANTS = "x INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
OF_TEN_SECONDS = "TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
ANY = "SELECT window_end, {} AS c FROM {} {} GROUP BY window_start, window_end"
A_STRUCT_AND_AN_ALIAS = (
    "WITH a AS (SELECT NVL(o.i, 0) AS u, o.ts FROM (SELECT x AS i, ts FROM e) AS o) SELECT window_end, SUM(u) FROM "
    "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
)
EVERY_HOUR = [{"x": at, "ts": f"2024-11-0{1 + at // 24}T{at % 24:02d}:00:00Z"} for at in range(120)]


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        (ANY.format("MIN(x IN (1, 2, NULL))", OF_TEN_SECONDS, ""), {}),
        (ANY.format("COUNT(*)", OF_TEN_SECONDS, "WHERE x NOT IN (1, NULL) OR x IN (4, NULL)"), {}),
        (ANY.format("MAX(CAST(o AS STRUCT<n: STRING, i: STRING>).n)", OF_TEN_SECONDS, ""), {}),
        (A_STRUCT_AND_AN_ALIAS, {}),
        (ANY.format("MAX(b + 1)", OF_TEN_SECONDS, ""), {"spark.sql.ansi.enabled": "false"}),
        (
            ANY.format(
                "COUNT(*)", OF_TEN_SECONDS, "WHERE window_start > TIMESTAMP_NTZ '2025-01-01 00:00:00' AND 1 / x > 0"
            ),
            {},
        ),
    ],
)
def test_expressions_that_the_reader_would_evaluate_otherwise(spark, tmp_path, statement, changes):
    write_records(tmp_path / "e", "s-0", [{**row, "b": 2**63 - 1} for row in generated_rows(3, 60)])
    with settings(spark, changes):
        outcomes = [
            answer(spark, unbounded_table(tmp_path / "e"), statement, tmp_path / pushed, **{PUSHDOWN: pushed})[0]
            for pushed in ("true", "false")
        ]
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "statement",
    [
        ANY.format("COUNT(*)", "TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '12' HOUR, INTERVAL '2' DAY))", ""),
        ANY.format("COUNT(*)", "TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '6' HOUR))", ""),
        ANY.format("SUM(x)", "TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' DAY))", "WHERE ts > '2024-11-02'"),
    ],
)
def test_zones_with_other_offsets_in_winter(spark, tmp_path, statement):
    write_records(tmp_path / "e", "s-0", EVERY_HOUR)
    table = scripted_table("e", INSTANTS, tmp_path / "e")
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        rows, expected = (
            answer(spark, table, statement, tmp_path / pushed, **{PUSHDOWN: pushed})[0] for pushed in ("true", "false")
        )
    assert expected
    assert rows == expected


def test_an_alias_of_the_users_is_no_window(spark, tmp_path):
    (tmp_path / "e").mkdir()
    t = TableEnvironment(spark)
    t.sql(unbounded_table(tmp_path / "e"))
    assert "aggregates=" in scan_line(t, ANY.format("COUNT(*)", f"{OF_TEN_SECONDS} AS `tidemark_window x`", ""))
