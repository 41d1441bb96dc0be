"""Flink's own answers: with exact late rows every query gives them, however the rows fall into batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from datasources.sql import TableEnvironment
from tests.support.oracles.oracle import CASES, OracleCase, load_case, normal_rows
from tests.support.oracles.oracle_windows import rows_of_offset_windows

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]

OFFSET = "tumble_offset"  # Flink loses rows of these: tests/unit/support/test_flink_buffers.py
SHORT = "stream_03"  # 30 rows: the only one that is also read row by row
QUERIES = list(load_case(SHORT).answers)
SIMILAR = {"cumulate", "over_rows", "over_unbounded", "tumble_key", "tumble_offset"}
"""Queries that are close to another one."""


def table_of(case: OracleCase, directory: Path, rows_per_batch: int) -> str:
    """Write the stream's one split and return its table."""
    directory.mkdir()
    records = (row.record | {"ts": row.record["ts"].removesuffix("Z")} for row in case.rows)
    (directory / "ev.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return (
        f"CREATE TABLE ev (id INT, k INT, v INT, ts TIMESTAMP(3), flag INT, WATERMARK FOR ts AS {case.watermark}) "
        f"WITH ('connector' = 'scripted', 'path' = '{directory}', 'scripted.bounded' = 'true', "
        f"'scan.max-rows-per-batch' = '{rows_per_batch}')"
    )


def samples() -> list[Any]:
    every = [(stream, name, size) for stream in CASES for name in QUERIES for size in (1, 7, 1_000)]
    every = [(stream, name, size) for stream, name, size in every if stream == SHORT or size > 1]
    default_cases = [(SHORT, name, 1 if name == "current_watermark" else 7) for name in QUERIES if name not in SIMILAR]
    return [each if each in default_cases else pytest.param(*each, marks=pytest.mark.full) for each in every]


@pytest.mark.parametrize(("stream", "name", "rows_per_batch"), samples())
def test_a_query_gives_flinks_answer_at_any_size_of_batches(spark, tmp_path, stream, name, rows_per_batch):
    case = load_case(stream)
    answer = case.answers[name]
    t = TableEnvironment(spark, settings={"table.exec.late-rows": "exact"})
    t.sql(table_of(case, tmp_path / "ev", rows_per_batch))
    frame = t.sql(answer.sql)
    found: list[Any] = []
    query = (
        frame.writeStream.foreachBatch(lambda df, _: found.extend(df.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert query.awaitTermination(120)
    assert tuple(frame.columns) == answer.columns
    expected = rows_of_offset_windows(case) if name == OFFSET else answer.inserted
    assert normal_rows(found) == expected
