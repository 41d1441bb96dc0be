"""A side of `benchmarks.kafka.shapes` and `formats`: reads from standard input what to run, prints what it cost.

Its JVM stays.

python -m benchmarks.kafka.sides.shape_side SIDE [--jars ...]

A measured run gives its rows to a sink that does nothing, in Spark's append mode and to Flink's blackhole. A checked
run sums the windows that ended up to a time, which are complete on every side.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.flink import Flink, open_flink
from benchmarks.kafka.sides.window_flink import AVRO_CONFLUENT, SETTINGS, window_jars
from benchmarks.kafka.sides.window_query import run_measured, session
from benchmarks.kafka.sides.window_shapes import (
    FORMAT_SHAPES,
    SHAPES,
    Shape,
    format_options,
    interval,
    peer_windows,
    result_columns,
    statement,
    table,
    tidemark_windows,
)
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.sides import FLINK, PEER, TIDEMARK_SQL

_SHAPES: Final = SHAPES | FORMAT_SHAPES


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeRun:
    """One run of a side.

    Attributes:
        shape: a name of `SHAPES` or `FORMAT_SHAPES`.
        bootstrap, topic: what is read.
        rows: how many records it holds.
        batch_rows: how many a batch of Spark's reads.
        registry: the URL of a schema registry; "" = the shape needs none.
        checked_until: windows up to here are summed, `2025-10-09 00:10:00`; "" = the run is measured.
    """

    shape: str
    bootstrap: str
    topic: str
    rows: int
    batch_rows: int
    registry: str = ""
    checked_until: str = ""


def main() -> None:
    """Answer each line until there are no more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--jars", default="")
    asked = parser.parse_args()
    opened = _open_flink() if asked.side == FLINK else nullcontext(_spark_side(asked.side, asked.jars, asked.slots))
    with opened as run:
        for line in sys.stdin:
            print(json.dumps(run(ShapeRun(**json.loads(line)))), flush=True)


def _spark_side(side: str, jars: str, slots: int) -> Callable[[ShapeRun], dict[str, Any]]:
    spark = session(jars, slots=slots)

    def run(asked: ShapeRun) -> dict[str, Any]:
        writer = _windows(spark, side, _SHAPES[asked.shape], asked).writeStream.outputMode("append")
        if asked.checked_until:
            return {"sums": _checked(writer, asked.checked_until)}
        return run_measured(writer.format("noop"), asked.rows, asked.batch_rows)

    return run


def _windows(spark: Any, side: str, shape: Shape, asked: ShapeRun) -> Any:
    batch = {"maxOffsetsPerTrigger": str(asked.batch_rows)}
    if side == TIDEMARK_SQL:
        from datasources.sql import TableEnvironment

        tables = TableEnvironment(spark)
        tables.sql(table(shape, asked.bootstrap, asked.topic, asked.registry, **batch))
        return tables.sql(statement(shape))
    source = {"kafka.bootstrap.servers": asked.bootstrap, "subscribe": asked.topic, "startingOffsets": "earliest"}
    if side == PEER:
        return peer_windows(spark.readStream.format("kafka").options(**source, **batch).load(), shape)
    from datasources import register

    register(spark)
    options = {**source, **batch, **format_options(shape, asked.registry), "schema": shape.schema}
    options |= {"watermark.for": "ts", "watermark.as": f"({shape.time}) - {interval(shape)}"}
    if shape.time == "ts":
        return tidemark_windows(spark.readStream.format("tidemark-kafka").options(**options).load(), shape)
    options["watermark.rowtime"] = shape.time
    events = spark.readStream.format("tidemark-kafka").options(**options).load()
    return tidemark_windows(events.selectExpr("*", f"{shape.time} AS ts"), shape)


def _checked(writer: Any, until: str) -> list[float]:
    """Return the number of windows that ended up to a time, of their rows, and their sum."""
    sums = {}

    def collect(batch: Any, number: int) -> None:
        ended = batch.where(f"window_end <= TIMESTAMP '{until}'")
        sums[number] = ended.selectExpr("COUNT(*)", "COALESCE(SUM(n), 0)", "COALESCE(SUM(total), 0)").head()

    with tempfile.TemporaryDirectory() as checkpoint:
        query = writer.foreachBatch(collect).option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        query.awaitTermination()
    return [float(sum(column)) for column in zip(*sums.values(), strict=True)]


@contextmanager
def _open_flink() -> Iterator[Callable[[ShapeRun], dict[str, Any]]]:
    with (
        tempfile.TemporaryDirectory() as directory,
        open_flink(window_jars(AVRO_CONFLUENT), SETTINGS, Path(directory) / "log") as flink,
    ):
        yield lambda asked: _flink_run(flink, asked)


def _flink_run(flink: Flink, asked: ShapeRun) -> dict[str, Any]:
    shape, tables = _SHAPES[asked.shape], flink.tables()
    tables.executeSql(
        table(shape, asked.bootstrap, asked.topic, asked.registry, **{"scan.bounded.mode": "latest-offset"})
    )
    if asked.checked_until:
        return {"sums": _flink_sums(tables, shape, asked.checked_until)}
    tables.executeSql(f"CREATE TABLE counted ({result_columns(shape)}) WITH ('connector' = 'blackhole')")
    jvm = jvm_of_this_process()
    with UsageSampler(jvm) as sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        flink.run(tables, f"INSERT INTO counted {statement(shape)}")
        elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm) - used
    return {
        "cpu_us_per_record": cpu / asked.rows * 1e6,
        "rows_per_s": asked.rows / elapsed,
        "peak_worker_mb": 0,
        "peak_jvm_mb": round(sampler.peak_jvm_mb),
    }


def _flink_sums(tables: Any, shape: Shape, until: str) -> list[float]:
    counted = f"SELECT COUNT(*), SUM(n), SUM(total) FROM ({statement(shape)}) WHERE window_end <= TIMESTAMP '{until}'"
    rows, last = tables.executeSql(counted).collect(), None
    while rows.hasNext():
        last = rows.next()  # the sums grow: the last row is the result
    rows.close()
    assert last is not None
    return [float(last.getField(at)) for at in range(3)]


if __name__ == "__main__":
    main()
