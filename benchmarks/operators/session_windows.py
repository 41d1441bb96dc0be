"""Session windows: how many rows a second go through the bucket operator on two cores, and what a row costs.

    python -m benchmarks.operators.session_windows          prints one line of JSON
    python -m benchmarks.operators.session_windows --save   writes results/session_windows.json, on an idle machine

1,000,000 JSON rows of 100,000 keys in two scripts, 1,000 rows for each second of event time, up to five seconds out of
order, in batches of 100,000 rows; sessions with a gap of 10 s, into a noop sink. `plain` is the same query without the
operator: what reading and decoding take.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession

from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process, load_before
from datasources import register
from datasources.spark.attach.attach import with_source_watermark
from datasources.spark.operators import session_windows

RESULTS: Final = Path(__file__).parents[1] / "results" / "session_windows.json"
ROWS: Final = 1_000_000
KEYS: Final = 100_000
BATCH_ROWS: Final = 100_000
GAP_MS: Final = 10_000
_SPLITS: Final = 2
_ROWS_PER_S: Final = 1_000
_DISORDER_MS: Final = 5_000
_BEGIN_MS: Final = 1_700_000_000_000


def write_scripts(directory: Path) -> None:
    """Write the rows, the same ones at every run."""
    drawn = random.Random(5)
    files = [(directory / f"s-{number}.jsonl").open("w", encoding="utf-8") for number in range(_SPLITS)]
    for row in range(ROWS):
        ms = _BEGIN_MS + row * 1_000 // _ROWS_PER_S - drawn.randrange(_DISORDER_MS)
        record = {"ts": _text(ms), "user": drawn.randrange(KEYS), "price": round(drawn.random() * 100, 2)}
        files[row % _SPLITS].write(json.dumps(record) + "\n")
    for file in files:
        file.close()


def _text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def started() -> SparkSession:
    """Return a session on two cores."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    return spark


def stream(spark: SparkSession, directory: Path, *, batch_rows: int = BATCH_ROWS) -> DataFrame:
    """Return the loaded stream."""
    options = {
        "path": str(directory),
        "schema": "ts TIMESTAMP, user BIGINT, price DOUBLE",
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '5' SECOND",
        "scan.watermark.emit.strategy": "on-event",
        "scan.max-rows-per-batch": str(batch_rows),
        "scripted.bounded": "true",
        "scan.attached": "true",  # the operators are measured alone
    }
    return spark.readStream.format("tidemark-scripted").options(**options).load()


def run(df: DataFrame) -> dict[str, Any]:
    """Run a query over everything; return its figures between the first commit and the last."""
    jvm = jvm_of_this_process()
    marks: list[tuple[float, float, int]] = []  # time, CPU, rows so far, at each commit
    with tempfile.TemporaryDirectory() as checkpoint, UsageSampler(jvm) as sampler:
        writer = df.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        while query.isActive or not marks:
            _mark(query, marks, cpu_seconds(jvm))
            query.awaitTermination(0.02)
        query.awaitTermination()
        _mark(query, marks, cpu_seconds(jvm))
    first, last = marks[0], marks[-1]
    rows = last[2] - first[2]
    return {
        "rows_per_s": round(rows / (last[0] - first[0])),
        "cpu_us_per_row": round((last[1] - first[1]) / rows * 1e6, 2),
        "peak_worker_mb": round(sampler.peak_worker_mb),
    }


def _mark(query: Any, marks: list[tuple[float, float, int]], cpu_s: float) -> None:
    rows = sum(progress.numInputRows for progress in query.recentProgress)
    if query.recentProgress and (not marks or rows > marks[-1][2]):
        marks.append((time.perf_counter(), cpu_s, rows))


def main() -> None:
    """Measure and print; the last line is JSON."""
    load = load_before(is_saved="--save" in sys.argv)
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        write_scripts(directory)
        spark = started()
        plain = run(with_source_watermark(stream(spark, directory)))
        windows = session_windows(stream(spark, directory), keys=["user"], attribute="ts", gap_ms=GAP_MS)
        measured = run(with_source_watermark(windows, "window_end"))
        spark.stop()
    document = {"rows": ROWS, "keys": KEYS, **measured, "plain": plain, "load": load}
    if "--save" in sys.argv:
        RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document))


if __name__ == "__main__":
    main()
