"""A bucket of a temporal join in memory, fed with the model's batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.bucket_rows import SEQUENCE_PREFIX
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN
from datasources.spark.operators.temporal.temporal_bucket import Bucket, JoinEmitted, advance_join
from datasources.spark.operators.temporal.temporal_state import JoinRule, JoinStateHeader
from datasources.spark.operators.temporal.versions.changelog_images import drop_replaced_images
from datasources.spark.operators.temporal.versions.version_cache import VersionCache
from datasources.spark.operators.temporal.versions.version_changes import (
    DELETE,
    INSERT,
    KIND_COLUMN,
    TRUNCATE,
    UPDATE_AFTER,
    UPDATE_BEFORE,
)
from datasources.spark.operators.temporal.versions.versions import HASH_COLUMN, KEY_PREFIX, TIME_COLUMN
from tests.support.oracles.temporal_join_model import Batch, Change, Probe

__all__ = ["MS", "MemoryJoinStore", "hashed", "pairs_of", "rule", "run_bucket"]

MS = 1_000
VALUES = pa.schema([("value", pa.int64())])
KINDS = {"+I": INSERT, "-U": UPDATE_BEFORE, "+U": UPDATE_AFTER, "-D": DELETE, "T": TRUNCATE}


def rule(*, left: bool = True, processing_time: bool = False, forget_ms: int | None = None) -> JoinRule:
    return JoinRule(
        keeps_unmatched=left,
        values=VALUES,
        processing_time=processing_time,
        forget_deleted_us=None if forget_ms is None else forget_ms * MS,
    )


def hashed(key: Any) -> int:
    """A hash that is bad on purpose: several keys share one."""
    return 42 if key is None else ord(key) % 2


class MemorySegments:
    """Parts as the state store would hold them."""

    def __init__(self) -> None:
        self.blobs: dict[int, bytes] = {}
        self.reads = 0
        self.written_rows = 0

    def read(self, number: int) -> pa.Table:
        self.reads += 1
        return from_blob(self.blobs[number])

    def write(self, number: int, table: pa.Table) -> None:
        assert number not in self.blobs
        self.written_rows += table.num_rows
        self.blobs[number] = to_blob(table)

    def drop(self, number: int) -> None:
        del self.blobs[number]

    @property
    def rows(self) -> int:
        return sum(from_blob(blob).num_rows for blob in self.blobs.values())


@dataclass
class MemoryJoinStore:
    """A bucket's state; what is put goes through the text that the state store would hold."""

    versions: MemorySegments = field(default_factory=MemorySegments)
    pending: MemorySegments = field(default_factory=MemorySegments)
    text: str = field(default_factory=lambda: JoinStateHeader().to_json())

    def header(self) -> JoinStateHeader:
        return JoinStateHeader.from_json(self.text)

    def put_header(self, header: JoinStateHeader) -> None:
        self.text = header.to_json()


def run_bucket(
    batches: Sequence[Batch],
    join: JoinRule,
    *,
    store: MemoryJoinStore | None = None,
    caches: Sequence[VersionCache] | None = None,
    processes: Sequence[int] = (0,),
) -> list[JoinEmitted]:
    """Run a bucket; batch n is taken by the process that has the cache `turns[n]`, over and over."""
    store = store or MemoryJoinStore()
    caches = caches or [VersionCache()]
    results = []
    for number, batch in enumerate(batches):
        cache = caches[processes[number % len(processes)] % len(caches)]
        bucket = Bucket(store=store, cache=cache, name="bucket", token=str(number))
        results.append(advance_join(join, bucket, probe_batches(batch), build_batches(batch)))
    return results


def pairs_of(joined: JoinEmitted) -> list[tuple[int, Any]]:
    """The rows as the model gives them."""
    rows = [] if joined.rows is None else joined.rows.to_pylist()
    return [(row["id"], row["value"]) for row in rows]


def probe_batches(batch: Batch) -> list[RowBatch]:
    timed = [probe for probe in batch.probes if probe.ts is not None]
    return _sent(_halves(_probe_table(timed)), batch.probe_watermark, len(batch.probes) - len(timed))


def build_batches(batch: Batch) -> list[RowBatch]:
    if not batch.changes:
        return _sent([], batch.build_watermark, 0)
    whole = _build_table(batch.changes)
    read = drop_replaced_images(iter(piece for half in _halves(whole) for piece in half.to_batches()))
    rows = pa.Table.from_batches(read)
    timed = rows.filter(pc.is_valid(rows.column(TIME_COLUMN)))
    return _sent(list(reversed(_halves(timed))), batch.build_watermark, rows.num_rows - timed.num_rows)


def _halves(rows: pa.Table) -> list[pa.Table]:
    middle = rows.num_rows // 2
    return [piece for piece in (rows.slice(0, middle), rows.slice(middle)) if piece.num_rows]


def _sent(pieces: Sequence[pa.Table], watermark: int | None, null_rowtimes: int) -> list[RowBatch]:
    """What a task sends, out of order on the way: rows in row batches, then the heartbeat."""
    sent = [
        RowBatch(task=0, number=number, watermark_us=0, null_rowtimes=0, rows=table)
        for number, table in enumerate(pieces)
    ]
    watermark = _watermark_us(watermark)
    return [RowBatch(task=0, number=9, watermark_us=watermark, null_rowtimes=null_rowtimes, rows=None), *reversed(sent)]


def _probe_table(probes: Sequence[Probe]) -> pa.Table:
    return pa.table({"id": pa.array([probe.id for probe in probes], pa.int64()), **_common(probes)})


def _build_table(changes: Sequence[Change]) -> pa.Table:
    """The halves come in the wrong order; the sequence, of two columns, sets it right."""
    return pa.table(
        {
            "value": pa.array([change.value for change in changes], pa.int64()),
            KIND_COLUMN: pa.array([KINDS[change.kind] for change in changes], pa.int8()),
            f"{SEQUENCE_PREFIX}0": pa.array([position // 3 for position in range(len(changes))], pa.int64()),
            f"{SEQUENCE_PREFIX}1": pa.array([position % 3 for position in range(len(changes))], pa.int32()),
            **_common(changes),
        }
    )


def _common(rows: Sequence[Probe] | Sequence[Change]) -> dict[str, pa.Array]:
    return {
        f"{KEY_PREFIX}0": pa.array([row.key for row in rows], pa.string()),
        HASH_COLUMN: pa.array([hashed(row.key) for row in rows], pa.int64()),
        TIME_COLUMN: pa.array([None if row.ts is None else row.ts * MS for row in rows], pa.int64()),
        ROW_WATERMARK_COLUMN: pa.array([_watermark_us(row.watermark) for row in rows], pa.int64()),
    }


def _watermark_us(watermark: int | None) -> int:
    return 0 if watermark is None else max(watermark * MS, 0)
