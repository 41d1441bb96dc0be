"""Flink's own answers to joins, from the same SQL: as a stream cut into batches."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from datasources.sql import TableEnvironment
from tests.support.oracles.oracle_joins import JOIN_CASES, JoinCase, load_join_case
from tests.support.spark.scripted_stream import instant
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]

QUERIES = (
    "temporal_left",
    "temporal_inner",
    "interval_inner",
    "interval_left",
    "interval_full",
    "window_join",
    "interval_then_window",
)


def environment(spark: Any, case: JoinCase, directory: Path, rows_per_batch: int) -> TableEnvironment:
    """Return a session with the tables ev and rates."""
    t = TableEnvironment(spark, settings={"table.exec.late-rows": "exact"})
    options = {"scripted__bounded": "true", "scan__max-rows-per-batch": str(rows_per_batch)}
    watermark = f"WATERMARK FOR ts AS {case.watermark}"
    tables = {
        "ev": (("id", "k", "v"), case.ev, f"id INT, k INT, v INT, ts TIMESTAMP(3), {watermark}"),
        "rates": (
            ("rid", "k", "rate"),
            case.rates,
            f"rid INT, k INT, rate INT, ts TIMESTAMP(3), {watermark}, PRIMARY KEY (k) NOT ENFORCED",
        ),
    }
    for name, (names, rows, columns) in tables.items():
        records = [
            {**dict(zip(names, values, strict=True)), "ts": instant(ms / 1_000).removesuffix("Z")}
            for *values, ms in rows
        ]
        write_records(directory / name, "s-0", records)
        t.sql(scripted_table(name, columns, directory / name, **options))
    return t


def normal(rows: Any) -> list[tuple[Any, ...]]:
    """Rows in one order, times as Flink writes them."""
    return sorted((tuple(map(_normal, row)) for row in rows), key=repr)


def _normal(value: Any) -> Any:
    return value.isoformat().removesuffix(":00") if isinstance(value, datetime) else value


def samples() -> list[Any]:
    every = [(case, name, rows) for case in JOIN_CASES for name in QUERIES for rows in (1, 7, 1_000)]
    default_cases = [("joins_01", name, 7) for name in ("temporal_left", "interval_inner", "window_join")]
    return [each if each in default_cases else pytest.param(*each, marks=pytest.mark.full) for each in every]


@pytest.mark.parametrize(("name", "query_name", "rows_per_batch"), samples())
def test_a_join_gives_flinks_rows_at_any_size_of_batches(spark, tmp_path, name, query_name, rows_per_batch):
    case = load_join_case(name)
    frame = environment(spark, case, tmp_path, rows_per_batch).sql(case.queries[query_name])
    found: list[Any] = []
    query = (
        frame.writeStream.foreachBatch(lambda df, _: found.extend(df.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert query.awaitTermination(240)
    assert normal(found) == case.answers[query_name]
