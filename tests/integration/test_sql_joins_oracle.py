"""Flink's own answers to joins of two streams: interval joins, outer ones too, a window behind one, window joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datasources.sql import TableEnvironment
from tests.support.oracle import normal_rows
from tests.support.oracle_joins import JOIN_CASES, JoinCase, load_join_case
from tests.support.scripted_stream import instant
from tests.support.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]

QUERIES = ("interval_inner", "interval_left", "interval_full", "window_join", "interval_then_window")


def create_tables(t: TableEnvironment, case: JoinCase, directory: Path, rows_per_batch: int) -> None:
    for name, first, last, rows in (("ev", "id", "v", case.ev), ("rates", "rid", "rate", case.rates)):
        fields = (first, "k", last, "ts")
        write_records(directory / name, "s-0", (record(fields, row) for row in rows))
        columns = f"{first} INT, k INT, {last} INT, ts TIMESTAMP(3), WATERMARK FOR ts AS {case.watermark}"
        options = {"scan.max-rows-per-batch": str(rows_per_batch), "scripted__bounded": "true"}
        t.sql(scripted_table(name, columns, directory / name, **options))


def record(fields: tuple[str, ...], row: tuple[int, ...]) -> dict[str, Any]:
    *values, ms = row
    return {**dict(zip(fields[:-1], values, strict=True)), "ts": instant(ms / 1_000).removesuffix("Z")}


def samples() -> list[Any]:
    every = [(name, query, size) for name in JOIN_CASES for query in QUERIES for size in (1, 7, 1_000)]
    return [
        each if each[0] == "joins_03" and each[2] == 7 else pytest.param(*each, marks=pytest.mark.full)
        for each in every
    ]


@pytest.mark.parametrize(("name", "query", "rows_per_batch"), samples())
def test_a_join_of_streams_gives_flinks_answer_at_any_size_of_batches(spark, tmp_path, name, query, rows_per_batch):
    case = load_join_case(name)
    t = TableEnvironment(spark, settings={"table.exec.late-rows": "exact"})
    create_tables(t, case, tmp_path, rows_per_batch)
    frame = t.sql(case.statements[query])
    found: list[Any] = []
    running = (
        frame.writeStream.foreachBatch(lambda df, _: found.extend(df.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert running.awaitTermination(300)
    assert normal_rows(found) == case.answers[query]
