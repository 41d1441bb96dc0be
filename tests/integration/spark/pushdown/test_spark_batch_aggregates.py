"""Aggregates over a table that is read as a batch: computed in part by the reader, with the rows of Spark's own."""

from __future__ import annotations

import json
import random

import pytest

from datasources.spark.pushdown.aggregates.aggregate_pushdown import push_aggregates
from tests.support.forms import full
from tests.support.spark.scripted_stream import FORMAT, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries", "registered")]

SCHEMA = "k STRING, g INT, x INT, b BIGINT, p DECIMAL(10, 2), ok BOOLEAN, d DATE"
AGGREGATES = (
    "COUNT(*) AS n",
    "COUNT(x) AS nx",
    "COUNT(x, b) AS nxb",
    "COUNT_IF(x > 0) AS np",
    "SUM(x) AS sx",
    "SUM(p) AS sp",
    "SUM(p * 2) FILTER (WHERE ok) AS sp2",
    "MIN(d) AS first",
    "MAX(k) AS last",
    "AVG(x) AS ax",
    "BOOL_AND(ok) AS every",
    "BOOL_OR(ok) FILTER (WHERE x > 2) AS some",
    "SUM(x + g) * 2 + COUNT(*) AS mixed",
)
GROUPS = (
    "",
    "k",
    "g",
    "k, g",
    "g % 2, k",
    "d",
    "GROUPING SETS ((k), (g), ())",
    "ROLLUP(k, g)",
    "CUBE(ok, g)",
    "upper(k)",
)
CONDITIONS = ("", "x > 0", "k <> 'a' AND g IS NOT NULL", "x > 1000", "p BETWEEN 1 AND 50", "ok OR d > DATE'2026-01-03'")


def written(directory, seed, count):
    """Write random records of two splits."""
    choose = random.Random(seed)
    for split in ("s-0", "s-1"):
        rows = [
            {
                "k": choose.choice("abc"),
                "g": choose.randint(0, 4),
                "x": choose.randint(-9, 9),
                "b": choose.choice((0, 1, 2**62)),
                "p": str(choose.randint(-9999, 9999) / 100),
                "ok": choose.random() < 0.5,
                "d": f"2026-01-0{choose.randint(1, 9)}",
            }
            for _ in range(count)
        ]
        kept = [{name: value for name, value in row.items() if choose.random() > 0.1} for row in rows]
        (directory / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))


def table(spark, directory):
    found = spark.read.format(FORMAT).options(path=str(directory), schema=SCHEMA).load()
    found.createOrReplaceTempView("batch_rows")
    return found


def statement(choose):
    group = choose.choice(GROUPS)
    wanted = choose.sample(AGGREGATES, choose.randint(1, 5))
    keys = [] if not group or "(" in group else group.split(", ")
    where = choose.choice(CONDITIONS)
    having = choose.choice(("", "", " HAVING COUNT(*) > 2"))
    text = f"SELECT {', '.join([*keys, *wanted])} FROM batch_rows"
    return f"{text}{where and f' WHERE {where}'}{group and f' GROUP BY {group}'}{having}"


def pushed(spark, text):
    """Return the frame of a statement, whose aggregates must be computed by the reader."""
    found = push_aggregates(spark.sql(text), row_watermark="none")
    assert [scan.reason for scan in found.scans] == [""]
    return found.frame


@pytest.mark.parametrize("seed", [0, 1, *full(*range(2, 30))])
def test_generated_statements_give_sparks_own_rows(spark, tmp_path, seed):
    written(tmp_path, seed, 40)
    table(spark, tmp_path)
    choose, reasons = random.Random(seed), []
    for _ in range(8):
        text = statement(choose)
        frame = spark.sql(text)
        found = push_aggregates(frame, row_watermark="none")
        assert found.frame.schema == frame.schema
        assert sorted(map(repr, found.frame.collect())) == sorted(map(repr, frame.collect())), text
        reasons += [scan.reason for scan in found.scans]
    assert reasons.count("") >= 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT COUNT(*) AS n, SUM(x) AS s, COUNT(x) AS m FROM batch_rows WHERE x > 1000", [(0, None, 0)]),
        ("SELECT k, COUNT(*) AS n FROM batch_rows WHERE x > 1000 GROUP BY k", []),
        ("SELECT COUNT(*) * 2 AS n FROM batch_rows WHERE x > 1000 HAVING COUNT(*) < 1", [(0,)]),
    ],
)
def test_no_rows_are_counted_as_spark_does(spark, tmp_path, text, expected):
    written(tmp_path, 1, 5)
    table(spark, tmp_path)
    assert [tuple(row) for row in pushed(spark, text).collect()] == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(DISTINCT k) AS n FROM batch_rows",
        "SELECT AVG(p) AS a FROM batch_rows",
        "SELECT k, first(x) AS f FROM batch_rows GROUP BY k",
        "SELECT COUNT(*) AS n FROM batch_rows AS a JOIN batch_rows AS b ON a.k = b.k",
        "SELECT COUNT(*) AS n FROM (SELECT k FROM batch_rows LIMIT 3)",
        "SELECT k, COUNT(*) AS n FROM (SELECT k, rand() AS r FROM batch_rows) WHERE r < 0.5 GROUP BY k",
    ],
)
def test_what_the_reader_cannot_compute_stays_in_spark(spark, tmp_path, text):
    written(tmp_path, 2, 10)
    table(spark, tmp_path)
    frame = spark.sql(text)
    found = push_aggregates(frame, row_watermark="none")
    assert found.frame is frame
    assert all(scan.reason for scan in found.scans)


def test_an_overflow_is_an_error_as_in_spark(spark, tmp_path):
    (tmp_path / "s-0.jsonl").write_text(f'{{"b": {2**63 - 1}}}\n' * 2)
    text = "SELECT SUM(b) AS s FROM batch_rows"
    table(spark, tmp_path)
    frame = pushed(spark, text)
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        frame.collect()
    with settings(spark, {"spark.sql.ansi.enabled": "false"}):  # the reader was loaded under the other mode
        found = push_aggregates(spark.sql(text), row_watermark="none")
        assert "ANSI" in found.scans[0].reason
        assert found.frame.collect() == [(-2,)]
