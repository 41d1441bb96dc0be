"""One bucket of the OVER operator in memory, run over batches of chosen sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from datasources.source.reading.row_blobs import from_blob, to_blob
from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import RowBatch
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.over_bucket import OverEmitted, advance_over
from datasources.spark.operators.over.over_state import OverStateHeader
from tests.support.oracles.over_model import MS, OverRecord
from tests.support.oracles.session_model import cuts_of

__all__ = ["OverMemoryStore", "rows_of", "run_over"]


class OverMemoryStore:
    """A bucket's state in memory; every value goes through what the state store would hold."""

    def __init__(self) -> None:
        self._header = OverStateHeader()
        self._lists: dict[str, list[bytes]] = {"keys": [], "retained": []}
        self._waiting: dict[int, bytes] = {}
        self.reads: list[str] = []

    def header(self) -> OverStateHeader:
        return OverStateHeader.from_json(self._header.to_json())

    def put_header(self, header: OverStateHeader) -> None:
        self._header = header

    def read(self, what: str) -> list[pa.Table]:
        self.reads.append(what)
        return [from_blob(segment) for segment in self._lists[what]]

    def append(self, what: str, segment: pa.Table) -> None:
        self._lists[what].append(to_blob(segment))

    def replace(self, what: str, segments: Sequence[pa.Table]) -> None:
        self._lists[what] = [to_blob(segment) for segment in segments]

    def waiting(self, number: int) -> pa.Table:
        self.reads.append("waiting")
        return from_blob(self._waiting[number])

    def put_waiting(self, number: int, segment: pa.Table) -> None:
        assert number not in self._waiting
        self._waiting[number] = to_blob(segment)

    def remove_waiting(self, number: int) -> None:
        del self._waiting[number]

    @property
    def state_bytes(self) -> int:
        """How many bytes of rows the state holds."""
        lists = sum(len(segment) for segments in self._lists.values() for segment in segments)
        return lists + sum(len(segment) for segment in self._waiting.values())


def run_over(
    rule: OverRule,
    records: Sequence[OverRecord],
    sizes: Sequence[int],
    *,
    final: int | None,
    types: Mapping[str, pa.DataType],
    key_type: pa.DataType | None = None,
    store: OverMemoryStore | None = None,
) -> list[OverEmitted]:
    """Run one bucket over batches of these sizes, over and over; return what each batch gave."""
    store = store or OverMemoryStore()
    results = []
    for batch in cuts_of(records, sizes):  # type: ignore[arg-type] - records of another operator
        after = records[batch[-1].id + 1].watermark if batch[-1].id + 1 < len(records) else final
        results.append(advance_over(rule, store, _row_batches(batch, after, types, key_type or pa.string())))
    return results


def rows_of(rule: OverRule, results: Sequence[OverEmitted]) -> list[tuple[Any, ...]]:
    """The rows that left, as the model gives them."""
    names = ["id", *(each.name for each in rule.aggregates)]
    found = []
    for result in results:
        if result.rows is not None:
            assert result.rows.column_names[-1] == WATERMARK_COLUMN
            found += [tuple(row[name] for name in names) for row in result.rows.to_pylist()]
    return found


def _row_batches(
    batch: Sequence[Any], after: int | None, types: Mapping[str, pa.DataType], key_type: pa.DataType
) -> list[RowBatch]:
    """What a task sends: rows in two row batches, out of order on the way, and the heartbeat."""
    middle = len(batch) // 2
    pieces = [piece for piece in (batch[:middle], batch[middle:]) if piece]
    sent = [
        _row_batch(number, piece[-1].watermark, _table(piece, types, key_type)) for number, piece in enumerate(pieces)
    ]
    return [_row_batch(len(pieces), after, None), *reversed(sent)]


def _row_batch(number: int, watermark: int | None, rows: pa.Table | None) -> RowBatch:
    return RowBatch(task=0, number=number, watermark_us=_watermark_us(watermark), null_rowtimes=0, rows=rows)


def _table(batch: Sequence[OverRecord], types: Mapping[str, pa.DataType], key_type: pa.DataType) -> pa.Table:
    values = {name: pa.array([record.values[name] for record in batch], kind) for name, kind in types.items()}
    return pa.table(
        {
            "id": pa.array([record.id for record in batch], pa.int64()),
            "k": pa.array([record.key for record in batch], key_type),
            **values,
            ROWTIME_COLUMN: pa.array([record.ts * MS for record in batch], pa.int64()),
            ROW_WATERMARK_COLUMN: pa.array([_watermark_us(record.watermark) for record in batch], pa.int64()),
        }
    )


def _watermark_us(watermark: int | None) -> int:
    return 0 if watermark is None else max(watermark * MS, 0)
