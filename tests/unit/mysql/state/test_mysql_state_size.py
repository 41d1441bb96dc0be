"""A table of a million chunks: its state stays small, and so does the work of each batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.scan.scan_settings import SNAPSHOT_READER
from datasources.mysql.server.reconciled_state import MAX_GTID_CHARS, reconciled, storable_gtids
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import PlannedChunks, SnapshotScan
from datasources.source.api.connector_state import RangeInfo
from datasources.source.api.split import SplitId
from tests.support.work import calls_of

CHUNKS = 1_000_000
CHUNKS_OF_A_BATCH = 1_000  # the most that the planner of chunks puts into a batch
BYTES_OF_BOUNDS = 16_384  # and the most text of their bounds, unless one alone is longer
READERS = 2
OFFSET_BYTES = 64 * 1024
TABLE = ("shop", "orders")
SERVER = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


def _new_query(gtid: str | None = None) -> MySqlState:
    position = BinlogPosition("binlog.000001", 4)
    snapshot = SnapshotScan(table=TABLE)
    return MySqlState(
        reader="r", server=SERVER, position=position, gtid=gtid, prepared={}, snapshot=snapshot, reader_count=READERS
    )


def _next_batch(state: MySqlState, first: int, key_bytes: int) -> MySqlState:
    """Return the batch whose chunks begin at a number, as the enumerator makes it."""
    count = min(CHUNKS_OF_A_BATCH, max(1, BYTES_OF_BOUNDS // key_bytes), CHUNKS - first)
    bounds = tuple((f"{number:0{key_bytes}d}",) for number in range(first + 1, first + count + 1))
    assert state.snapshot is not None
    is_end = first + count == CHUNKS
    planned = PlannedChunks(table=TABLE, lower=state.snapshot.bound, bounds=bounds, is_open=is_end)
    after = None if is_end else SnapshotScan(table=TABLE, bound=bounds[-1])
    counts = tuple(count // READERS + (number < count % READERS) for number in range(READERS))
    return replace(state, tables=(planned,), chunks_per_reader=counts, after=after)


def _batches(state: MySqlState, key_bytes: int) -> Iterator[tuple[MySqlState, str]]:
    """Yield each batch of the snapshot scan and its text in the offset."""
    first = 0
    while state.snapshot is not None:
        batch = _next_batch(state, first, key_bytes)
        text = json.dumps(batch.to_json())
        first += sum(batch.chunks_per_reader)
        state = _after(batch, text, first)
        yield batch, text


def _after(batch: MySqlState, text: str, position: int) -> MySqlState:
    """Return what is known of the table when a batch has been read."""
    ranges = {
        SplitId(f"{SNAPSHOT_READER}{number}"): RangeInfo(position=position, rows=count, note=None)
        for number, count in enumerate(batch.chunks_per_reader)
    }
    return reconciled(MySqlState.from_json(json.loads(text)), ranges)


def test_a_million_chunks_need_an_offset_below_64_kb() -> None:
    """The offset does not grow with the chunks that were read, nor does the work of going on from it."""
    sizes, work, chunks = [], [], 0
    for batch, text in _batches(_new_query(), key_bytes=9):
        sizes.append(len(text))
        chunks += sum(batch.chunks_per_reader)
        if len(sizes) in (10, 990):
            work.append(calls_of(partial(_after, batch, text, chunks)))
    assert chunks == CHUNKS
    assert max(sizes) < OFFSET_BYTES
    assert max(sizes[1:-1]) - min(sizes[1:-1]) < 100  # no list of what was read
    assert work[1] < 1.05 * work[0]


def test_the_longest_fields_together_stay_below_64_kb() -> None:
    """Long keys, as many GTIDs as are stored before and after the batch, and open XA transactions fit at once."""
    gtids = ("u" * 36 + ":1-2,") * (MAX_GTID_CHARS // 41)
    prepared = {f"{number:032x}": BinlogPosition("binlog.000001", 10**9 + number) for number in range(64)}
    state = replace(_new_query(storable_gtids(gtids)), to_gtid=storable_gtids(gtids), prepared=prepared)
    assert state.gtid == gtids
    batch = _next_batch(state, 500_000, key_bytes=1_000)
    assert sum(batch.chunks_per_reader) == BYTES_OF_BOUNDS // 1_000
    assert len(json.dumps(batch.to_json())) < OFFSET_BYTES


def test_each_snapshot_reader_finds_its_chunks_in_a_batch() -> None:
    """The readers' chunks follow each other without a gap and end where the batch does."""
    state = replace(_new_query(), snapshot=SnapshotScan(table=TABLE, bound=("000000009",)))
    batch = _next_batch(state, 9, key_bytes=9)
    chunks = [chunk.keys for number in range(READERS) for chunk in batch.chunks_of_reader(number)]
    assert len(chunks) == CHUNKS_OF_A_BATCH
    assert chunks[0].lower == ("000000009",)
    assert [chunk.upper for chunk in chunks[:-1]] == [chunk.lower for chunk in chunks[1:]]
    assert batch.after is not None
    assert chunks[-1].upper == batch.after.bound
