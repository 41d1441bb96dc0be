"""The same statement on a bounded table gives the same rows as a batch and as a stream, if nothing is late.

Data and statement are made from a seed: rows in order of time over two splits, a kind of window, keys, aggregates.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]

BOUNDED = {"scripted__bounded": "true", "scan__max-rows-per-batch": "25"}
COLUMNS = "id INT, k STRING, v INT, ts {}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
AGGREGATES = (
    "count(*) AS n",
    "sum(v) AS s",
    "max(v) AS m",
    "count(v) AS c",
    "min(id) AS i",
    "count(*) FILTER (WHERE v > 5) AS f",
)


def write_data(rng: random.Random, directory: Path) -> None:
    number = 0
    for split in ("s-0", "s-1"):
        second, rows = 0.0, []
        for _ in range(rng.randrange(5, 60)):
            second += rng.choice((0, 0.001, 0.5, 1, 3, 9.999, 40))
            number += 1
            value = rng.choice((None, *range(10)))
            at = f"2026-03-08 {int(second) // 3600:02d}:{int(second) // 60 % 60:02d}:{second % 60:06.3f}"
            rows.append({"id": number, "k": rng.choice("abc"), "v": value, "ts": at})
        write_records(directory, split, rows)


def statement(rng: random.Random) -> str:
    size = rng.choice((2, 5, 10, 60))
    window = rng.choice(
        (
            f"TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '{size}' SECOND)",
            f"TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '{size}' SECOND, INTERVAL '1' SECOND)",
            f"HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '{size}' SECOND, INTERVAL '{size * 3}' SECOND)",
            f"CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '{size}' SECOND, INTERVAL '{size * 4}' SECOND)",
            f"SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{size}' SECOND)",
        )
    )
    key = ", k" if window.startswith("SESSION") or rng.random() < 0.5 else ""
    where = rng.choice(("", " WHERE v > 2", " WHERE k <> 'a' OR v IS NULL"))
    if rng.random() < 0.25:
        return (
            f"SELECT window_start, window_end{key}, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, "
            f"window_end{key} ORDER BY v DESC, id) AS rn FROM TABLE({window})) WHERE rn <= {rng.randrange(1, 4)}"
        )
    listed = ", ".join(rng.sample(AGGREGATES, rng.randrange(1, 4)))
    return (
        f"SELECT window_start, window_end{key}, {listed} FROM TABLE({window}){where} "
        f"GROUP BY window_start, window_end{key}"
    )


def counted(rows: list[Any]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)


SEEDS = [*range(2), *full(*range(2, 100))]


def both_ways(t: TableEnvironment, sql: str, checkpoint: Path) -> tuple[Counter[tuple[Any, ...]], ...]:
    """Run the statement as a stream and as a batch; return the rows of each."""
    streamed: list[Any] = []
    query = (
        t.sql(sql)
        .writeStream.foreachBatch(lambda df, _: streamed.extend(df.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(checkpoint))
        .start()
    )
    assert query.awaitTermination(120), sql
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    return counted(streamed), counted(t.sql(sql).collect())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_statement_gives_the_same_rows_both_ways(spark, tmp_path, seed):
    rng = random.Random(seed)
    write_data(rng, tmp_path / "t")
    t = TableEnvironment(spark)
    kind = rng.choice(("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"))
    t.sql(scripted_table("t", COLUMNS.format(kind), tmp_path / "t", **BOUNDED))
    sql = statement(rng)
    stream, batch = both_ways(t, sql, tmp_path / "checkpoint")
    assert stream == batch, sql


def joined(kind: str) -> str:
    sides = [f"(SELECT * FROM TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '10' SECOND)))" for name in "tu"]
    right = "" if "SEMI" in kind else ", r.id AS b, r.window_start AS right_start"
    return (
        f"SELECT l.id AS a, l.window_start AS left_start{right} FROM {sides[0]} l {kind} JOIN {sides[1]} r "
        f"ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
    )


GROUPED = "SELECT window_start, window_end, k, v, count(*) AS n FROM {} GROUP BY {}"
TUMBLED = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
UNION = "TABLE(TUMBLE(TABLE (SELECT * FROM t UNION ALL SELECT * FROM u), DESCRIPTOR(ts), INTERVAL '10' SECOND))"
TWO_TABLES = [
    *full(joined("RIGHT OUTER")),
    joined("FULL OUTER"),
    *full(joined("LEFT SEMI")),
    GROUPED.format(TUMBLED, "GROUPING SETS ((window_start, window_end, k, v), (window_start, window_end))"),
    GROUPED.format(UNION, "window_start, window_end, ROLLUP (k, v)"),
]


@pytest.mark.long
@pytest.mark.parametrize("sql", TWO_TABLES, ids=["right", "full", "semi", "grouping sets", "union and rollup"])
def test_joins_of_windows_unions_and_grouping_sets_give_the_same_rows_both_ways(spark, tmp_path, sql):
    t = TableEnvironment(spark)
    for number, name in enumerate("tu"):
        write_data(random.Random(number), tmp_path / name)
        t.sql(scripted_table(name, COLUMNS.format("TIMESTAMP(3)"), tmp_path / name, **BOUNDED))
    stream, batch = both_ways(t, sql, tmp_path / "checkpoint")
    assert len(batch) > 10
    assert stream == batch
