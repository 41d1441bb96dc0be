"""A query in a process of its own that stops in the middle of a batch, so that a test can kill it there.

    python -m tests.support.spark.killed_query SCRIPTS CHECKPOINT OUT STUCK_IN_BATCH

It writes each finished batch to OUT/<batch>.json; in batch STUCK_IN_BATCH it reads half of what there is, creates the
file OUT/stuck and never comes back. `write_batches` is what the process and the test have in common.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasources import ScriptedDataSource
from tests.support.spark.scripted_stream import TINY_QUERIES, Scripts, running
from tests.support.spark.spark_session import start_spark

__all__ = ["STUCK", "loaded_with_row_watermarks", "read_batches", "write_batches"]

STUCK = "stuck"
ON_EVENT = {"pipeline.auto-watermark-interval": "0", "maxOffsetsPerTrigger": "4", "scan.attached": "true"}


def loaded_with_row_watermarks(spark: Any, scripts: Scripts) -> Any:
    """The stream with its hidden columns, so that stamps can be compared: registered by hand, watched by nobody."""
    spark.dataSource.register(ScriptedDataSource)
    with_row_watermarks = scripts.loaded(spark, ON_EVENT).filter("NOT _heartbeat")
    return with_row_watermarks.selectExpr("k", "v", "unix_micros(ts) AS ts", "unix_micros(_watermark) AS stamp")


def write_batches(out: Path, *, stuck_in: int | None = None) -> Callable[[Any, int], None]:
    """A sink that writes each batch once more if it is run once more."""

    def write(df: Any, batch: int) -> None:
        if batch == stuck_in:
            df.head(1)
            (out / STUCK).touch()
            threading.Event().wait()
        rows = sorted(tuple(row) for row in df.collect())
        (out / f"{batch}.json").write_text(json.dumps(rows))

    return write


def read_batches(out: Path) -> dict[int, list[list[Any]]]:
    """The rows of each batch that has any."""
    found = {int(file.stem): json.loads(file.read_text()) for file in out.glob("*.json")}
    return {batch: rows for batch, rows in sorted(found.items()) if rows}


def _main(scripts: Path, checkpoint: Path, out: Path, stuck_in: int) -> None:
    spark = start_spark(out / "spark")
    for key, value in TINY_QUERIES.items():
        spark.conf.set(key, value)
    df = loaded_with_row_watermarks(spark, Scripts(scripts))
    with running(df, checkpoint=checkpoint, for_each=write_batches(out, stuck_in=stuck_in)) as query:
        query.query.awaitTermination()


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
