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
from tests.support.scripted_stream import TINY_QUERIES, settings
from tests.support.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = "id INT, k STRING, v INT, ts {}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
AGGREGATES = (
    "count(*) AS n",
    "sum(v) AS s",
    "max(v) AS m",
    "count(v) AS c",
    "min(id) AS i",
    "count(*) FILTER (WHERE v > 5) AS f",
)


@pytest.fixture(autouse=True)
def _tiny(spark):
    with settings(spark, TINY_QUERIES):
        yield


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


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(6, 100))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_statement_gives_the_same_rows_both_ways(spark, tmp_path, seed):
    rng = random.Random(seed)
    write_data(rng, tmp_path / "t")
    t = TableEnvironment(spark)
    kind = rng.choice(("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"))
    more = {"scripted__bounded": "true", "scan__max-rows-per-batch": "25"}
    t.sql(scripted_table("t", COLUMNS.format(kind), tmp_path / "t", **more))
    sql = statement(rng)
    streamed: list[Any] = []
    query = (
        t.sql(sql)
        .writeStream.foreachBatch(lambda df, _: streamed.extend(df.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert query.awaitTermination(120), sql
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert counted(streamed) == counted(t.sql(sql).collect()), sql
