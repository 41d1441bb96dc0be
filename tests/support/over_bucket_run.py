"""One bucket of the OVER operator in memory, run over batches of chosen sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from datasources.source.watermarks.row_watermark import WATERMARK_COLUMN
from datasources.spark.operators.buckets.bucket_batches import Packet
from datasources.spark.operators.buckets.row_batches import ROWTIME_COLUMN, STAMP_COLUMN, from_blob, to_blob
from datasources.spark.operators.over.frames.frame_spec import OverRule
from datasources.spark.operators.over.over_bucket import OverEmitted, advance_over
from datasources.spark.operators.over.over_state import Brief
from tests.support.over_model import MS, OverRecord
from tests.support.session_model import cuts_of

__all__ = ["OverMemoryStore", "rows_of", "run_over"]


class OverMemoryStore:
    """A bucket's state in memory; every value goes through what the state store would hold."""

    def __init__(self) -> None:
        self._brief = Brief()
        self._lists: dict[str, list[bytes]] = {"keys": [], "retained": []}
        self._waiting: dict[int, bytes] = {}
        self.reads: list[str] = []

    def brief(self) -> Brief:
        return Brief.from_json(self._brief.to_json())

    def put_brief(self, brief: Brief) -> None:
        self._brief = brief

    def read(self, what: str) -> list[pa.Table]:
        self.reads.append(what)
        return [from_blob(part) for part in self._lists[what]]

    def append(self, what: str, part: pa.Table) -> None:
        self._lists[what].append(to_blob(part))

    def replace(self, what: str, parts: Sequence[pa.Table]) -> None:
        self._lists[what] = [to_blob(part) for part in parts]

    def waiting(self, number: int) -> pa.Table:
        self.reads.append("waiting")
        return from_blob(self._waiting[number])

    def put_waiting(self, number: int, part: pa.Table) -> None:
        assert number not in self._waiting
        self._waiting[number] = to_blob(part)

    def remove_waiting(self, number: int) -> None:
        del self._waiting[number]

    @property
    def bytes_held(self) -> int:
        """How many bytes of rows the state holds."""
        lists = sum(len(part) for parts in self._lists.values() for part in parts)
        return lists + sum(len(part) for part in self._waiting.values())


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
        after = records[batch[-1].id + 1].stamp if batch[-1].id + 1 < len(records) else final
        results.append(advance_over(rule, store, _packets(batch, after, types, key_type or pa.string())))
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


def _packets(
    batch: Sequence[Any], after: int | None, types: Mapping[str, pa.DataType], key_type: pa.DataType
) -> list[Packet]:
    """What a task sends: rows in two packets, out of order on the way, and the heartbeat."""
    middle = len(batch) // 2
    pieces = [piece for piece in (batch[:middle], batch[middle:]) if piece]
    sent = [_packet(number, piece[-1].stamp, _table(piece, types, key_type)) for number, piece in enumerate(pieces)]
    return [_packet(len(pieces), after, None), *reversed(sent)]


def _packet(number: int, stamp: int | None, rows: pa.Table | None) -> Packet:
    return Packet(task=0, number=number, stamp_us=_stamp_us(stamp), null_rowtimes=0, rows=rows)


def _table(batch: Sequence[OverRecord], types: Mapping[str, pa.DataType], key_type: pa.DataType) -> pa.Table:
    values = {name: pa.array([record.values[name] for record in batch], kind) for name, kind in types.items()}
    return pa.table(
        {
            "id": pa.array([record.id for record in batch], pa.int64()),
            "k": pa.array([record.key for record in batch], key_type),
            **values,
            ROWTIME_COLUMN: pa.array([record.ts * MS for record in batch], pa.int64()),
            STAMP_COLUMN: pa.array([_stamp_us(record.stamp) for record in batch], pa.int64()),
        }
    )


def _stamp_us(stamp: int | None) -> int:
    return 0 if stamp is None else max(stamp * MS, 0)
