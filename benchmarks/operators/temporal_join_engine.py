"""The temporal join's engine without Spark: what a batch costs one core, and what DuckDB's ASOF JOIN would cost.

    python -m benchmarks.operators.temporal_join_engine     prints one line of JSON

1,000,000 keys in 16 buckets, loaded as a snapshot; then batches of 400,000 probe rows while 1 % of the keys change, up
to two seconds out of order; then batches of 1,000 probe rows with 100 changes, with the decoded versions at hand and
without. State goes through the blobs that Spark's state store would hold. Seconds are CPU seconds of the process, so
that what else the machine does matters less.
"""

from __future__ import annotations

import json
import statistics
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.measure import load_average
from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN
from datasources.spark.operators.temporal.temporal_bucket import Bucket, advance_join
from datasources.spark.operators.temporal.temporal_state import JoinRule, JoinStateHeader
from datasources.spark.operators.temporal.versions.version_cache import VersionCache
from datasources.spark.operators.temporal.versions.version_changes import KIND_COLUMN, UPDATE_AFTER
from datasources.spark.operators.temporal.versions.versions import HASH_COLUMN, KEY_PREFIX, NOT_FOUND, TIME_COLUMN

KEYS: Final = 1_000_000
BUCKETS: Final = 16
PROBES: Final = 400_000
BATCHES: Final = 30
_S: Final = 1_000_000
_BEGIN: Final = 1_700_000_000 * _S
_KEY: Final = f"{KEY_PREFIX}0"
_RULE: Final = JoinRule(
    keeps_unmatched=True, values=pa.schema([("rate", pa.float64()), ("name", pa.string())]), processing_time=False
)
_Ints = NDArray[np.int64]


@dataclass
class Parts:
    """Parts as blobs."""

    blobs: dict[int, bytes] = field(default_factory=dict)
    written_bytes: int = 0

    def read(self, number: int) -> pa.Table:
        """Return a part."""
        return from_blob(self.blobs[number])

    def write(self, number: int, table: pa.Table) -> None:
        """Keep a part."""
        self.blobs[number] = to_blob(table)
        self.written_bytes += len(self.blobs[number])

    def drop(self, number: int) -> None:
        """Remove a part."""
        del self.blobs[number]


@dataclass
class Store:
    """A bucket's state."""

    versions: Parts = field(default_factory=Parts)
    pending: Parts = field(default_factory=Parts)
    text: str = field(default_factory=lambda: JoinStateHeader().to_json())

    def header(self) -> JoinStateHeader:
        """Return the small part."""
        return JoinStateHeader.from_json(self.text)

    def put_header(self, header: JoinStateHeader) -> None:
        """Replace the small part."""
        self.text = header.to_json()


class Run:
    """Batches of made-up rows over all buckets."""

    def __init__(self) -> None:
        self.drawn = np.random.default_rng(3)
        self.hash_of: _Ints = self.drawn.integers(-(1 << 62), 1 << 62, KEYS)
        self.stores = [Store() for _ in range(BUCKETS)]
        self.cache = VersionCache(max_bytes=1 << 30)
        self.watermark = 0
        self.batch = 0

    def take(self, probes: list[pa.Table] | None, changes: list[pa.Table] | None, watermark: int) -> float:
        """Take a batch; return its CPU seconds."""
        self.batch += 1
        self.watermark = watermark
        began = time.process_time()
        for number, store in enumerate(self.stores):
            bucket = Bucket(store=store, cache=self.cache, name=number, token=str(self.batch))
            rows = None if probes is None else probes[number]
            relevant = None if changes is None else changes[number]
            joined = advance_join(_RULE, bucket, [_row_batch(rows, watermark)], [_row_batch(relevant, watermark)])
            if joined.rows is not None:
                to_blob(joined.rows)
        return time.process_time() - began

    def probes(self, keys: _Ints, times: _Ints) -> list[pa.Table]:
        """Return probe rows by bucket."""
        count = len(keys)
        data = {"id": np.arange(count), "k": keys, "amount": self.drawn.random(count), "ts": times}
        return self._by_bucket({**data, **self._common(keys, times)}, keys)

    def changes(self, keys: _Ints, at: int) -> list[pa.Table]:
        """Return changes by bucket."""
        count = len(keys)
        data = {
            "rate": self.drawn.random(count),
            "name": np.char.add("n", keys.astype(str)),
            KIND_COLUMN: np.full(count, UPDATE_AFTER, dtype=np.int8),
        }
        return self._by_bucket({**data, **self._common(keys, np.full(count, at))}, keys)

    def _common(self, keys: _Ints, times: _Ints) -> dict[str, Any]:
        watermarks = np.full(len(keys), self.watermark)
        return {_KEY: keys, HASH_COLUMN: self.hash_of[keys], TIME_COLUMN: times, ROW_WATERMARK_COLUMN: watermarks}

    def _by_bucket(self, columns: dict[str, Any], keys: _Ints) -> list[pa.Table]:
        rows, bucket = pa.table(columns), self.hash_of[keys] % BUCKETS
        return [rows.filter(pa.array(bucket == number)) for number in range(BUCKETS)]


def _row_batch(rows: pa.Table | None, watermark: int) -> RowBatch:
    return RowBatch(task=0, number=0, watermark_us=watermark, null_rowtimes=0, rows=rows)


def large_batches(run: Run) -> list[float]:
    """Return the CPU seconds of batches with PROBES rows and 1 % of the keys changed."""
    seconds = []
    for number in range(1, BATCHES + 1):
        now = _BEGIN + number * 10 * _S
        times = now - run.drawn.integers(0, 12 * _S, PROBES)
        probes = run.probes(run.drawn.integers(0, KEYS, PROBES), times)
        changes = run.changes(run.drawn.choice(KEYS, KEYS // 100, replace=False), now - 5 * _S)
        seconds.append(run.take(probes, changes, now - 2 * _S))
    return seconds


def small_batches(run: Run, *, is_cold: bool) -> list[float]:
    """Return the CPU seconds of batches with 1,000 rows and 100 changes."""
    seconds = []
    for _ in range(10):
        now = run.watermark + _S
        probes = run.probes(run.drawn.integers(0, KEYS, 1_000), np.full(1_000, now))
        changes = run.changes(run.drawn.choice(KEYS, 100, replace=False), now)
        if is_cold:
            run.cache = VersionCache(max_bytes=0)
        seconds.append(run.take(probes, changes, now))
    return seconds


def compared(run: Run) -> tuple[float, float]:
    """Return the CPU seconds of looking up PROBES rows: the engine's way, and DuckDB's ASOF JOIN over the same."""
    probes = run.probes(run.drawn.integers(0, KEYS, PROBES), np.full(PROBES, run.watermark))
    known = [run.cache.get(number) for number in range(BUCKETS)]
    began = time.process_time()
    for rows, entry in zip(probes, known, strict=True):
        assert entry is not None
        hashes, times = (rows.column(name).to_numpy() for name in (HASH_COLUMN, TIME_COLUMN))
        found = entry.versions.valid_at(hashes, times, rows.select([_KEY]))
        entry.versions.rows.select(_RULE.values.names).take(pa.array(found, mask=found == NOT_FOUND))
    ours = time.process_time() - began
    tables = [entry.versions.table() for entry in known if entry is not None]
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    began = time.process_time()
    for number in range(BUCKETS):
        connection.register("p", probes[number])
        connection.register("v", tables[number])
        connection.sql(
            f"SELECT p.id, v.rate, v.name FROM p ASOF LEFT JOIN v ON p.{_KEY} = v.{_KEY} "
            f"AND p.{TIME_COLUMN} >= v.{TIME_COLUMN}"
        ).to_arrow_table()
    return ours, time.process_time() - began


def main() -> None:
    """Measure and print; the last line is JSON."""
    warnings.simplefilter("ignore")
    load = load_average()
    run = Run()
    everyone = np.arange(KEYS)
    snapshot = run.take(None, run.changes(everyone, 0), 0)
    large = large_batches(run)
    written = sum(store.versions.written_bytes for store in run.stores)
    warm = small_batches(run, is_cold=False)
    ours, theirs = compared(run)
    cold = small_batches(run, is_cold=True)
    document = {
        "keys": KEYS,
        "snapshot_cpu_s": round(snapshot, 2),
        "rows_per_cpu_s": round(PROBES / statistics.mean(large)),
        "largest_batch_cpu_s": round(max(large), 3),
        "batch_of_1000_cpu_ms": round(statistics.median(warm) * 1e3),
        "batch_of_1000_without_cache_cpu_ms": round(statistics.median(cold) * 1e3),
        "lookup_cpu_s": round(ours, 3),
        "lookup_duckdb_asof_cpu_s": round(theirs, 3),
        "stored_mb": sum(len(blob) for store in run.stores for blob in store.versions.blobs.values()) >> 20,
        "written_mb": written >> 20,
        "load": load,
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
