"""The rows of `make bench-joins`: orders, rates of a million keys, and sums, as Parquet files of one batch each.

A source's rows are written beforehand, with its row watermarks and heartbeats, so that reading costs next to
nothing and the figures are the operator's on Spark. Two files make a batch, one for each task.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, WATERMARK_COLUMN
from datasources.spark.scan.schema import METADATA_KEY, watermark_metadata

__all__ = ["ChangePlan", "RowPlan", "stream", "write_changes", "write_rows"]

FILES_OF_A_BATCH: Final = 2
STEP_S: Final = 10
DELAY_S: Final = 2
"""The watermark is this far behind the newest row, and rows are out of order by as much."""
_S: Final = 1_000_000
_BEGIN: Final = 1_700_000_000 * _S
_SPAN_US: Final = (STEP_S + DELAY_S) * _S
_TIME: Final = pa.timestamp("us", tz="UTC")
_HIDDEN: Final = (WATERMARK_COLUMN, HEARTBEAT_COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """Batches of rows with a key, a time and an amount, ten seconds of event time each.

    Attributes:
        keys: keys are drawn from [0, keys).
        sizes: rows of each batch; a batch of 0 is a heartbeat without a time.
    """

    keys: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlan:
    """A changelog: every key once, then some keys in each batch.

    Attributes:
        keys: the keys are [0, keys).
        changed: keys that change in each batch after the first.
    """

    keys: int
    changed: tuple[int, ...]


def write_rows(directory: Path, plan: RowPlan) -> None:
    """Write rows (k, ts, amount), up to two seconds out of order."""
    drawn = np.random.default_rng(7)
    for batch, size in enumerate(plan.sizes):
        for part in range(FILES_OF_A_BATCH):
            count = size // FILES_OF_A_BATCH
            columns = {
                "k": drawn.integers(0, plan.keys, count),
                "ts": _now(batch) - drawn.integers(0, _SPAN_US, count),
                "amount": drawn.integers(1, 10_000, count),
            }
            _write(directory, batch, part, columns, is_silent=not size)


def write_changes(directory: Path, plan: ChangePlan) -> None:
    """Write changes (k, ts, rate, name, row_kind, _seq)."""
    drawn = np.random.default_rng(8)
    place = 0
    for batch, changed in enumerate((plan.keys, *plan.changed)):
        keys = np.arange(plan.keys) if not batch else drawn.choice(plan.keys, changed, replace=False)
        time = np.zeros(len(keys), np.int64) if not batch else _now(batch) - drawn.integers(0, _SPAN_US, len(keys))
        for part in range(FILES_OF_A_BATCH):
            mine = slice(part, None, FILES_OF_A_BATCH)
            count = len(keys[mine])
            columns = {
                "k": keys[mine],
                "ts": time[mine],
                "rate": drawn.random(count),
                "name": np.char.add("n", keys[mine].astype(str)),
                "row_kind": np.full(count, "+U" if batch else "+I"),
                "_seq": place + np.arange(count),
            }
            place += count
            _write(directory, batch, part, columns, is_silent=not batch)


def stream(spark: SparkSession, directory: Path) -> DataFrame:
    """Return the files as a loaded stream of a Tidemark source would look, one batch of them after the other."""
    schema = spark.read.parquet(str(directory)).schema
    files = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES_OF_A_BATCH).parquet(str(directory))
    facts = watermark_metadata(attribute="ts", delay_ms=DELAY_S * 1_000, is_local=False, is_clock=False)
    stamped = F.col(WATERMARK_COLUMN).alias(WATERMARK_COLUMN, metadata={METADATA_KEY: facts})
    return files.select(*(name for name in schema.names if name not in _HIDDEN), stamped, HEARTBEAT_COLUMN)


def _now(batch: int) -> int:
    return _BEGIN + batch * STEP_S * _S


def _write(directory: Path, batch: int, part: int, columns: dict[str, Any], *, is_silent: bool) -> None:
    """Write rows that carry the watermark before the batch, and a heartbeat with the one after it."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = pa.table(columns)
    rows = rows.set_column(rows.column_names.index("ts"), "ts", rows.column("ts").cast(_TIME))
    before = 0 if batch <= 1 else _now(batch - 1) - DELAY_S * _S
    after = 0 if is_silent else _now(batch) - DELAY_S * _S
    table = pa.concat_tables(
        [_stamped(rows, before, is_heartbeat=False), _stamped(_empty(rows), after, is_heartbeat=True)]
    )
    path = directory / f"{batch:04}-{part}.parquet"
    pq.write_table(table, path)
    os.utime(path, (batch + 1, batch + 1))  # the order in which Spark reads them


def _empty(rows: pa.Table) -> pa.Table:
    return pa.table([pa.nulls(1, field.type) for field in rows.schema], schema=rows.schema)


def _stamped(rows: pa.Table, stamp: int, *, is_heartbeat: bool) -> pa.Table:
    stamps = pa.array(np.full(rows.num_rows, stamp), pa.int64()).cast(_TIME)
    rows = rows.append_column(WATERMARK_COLUMN, stamps)
    return rows.append_column(HEARTBEAT_COLUMN, pa.array(np.full(rows.num_rows, is_heartbeat)))
