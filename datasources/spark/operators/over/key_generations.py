"""The keys of a bucket: generation, last firing and carried partials of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.spark.operators.buckets.partition_keys import equal_codes
from datasources.spark.operators.buckets.row_batches import NO_WATERMARK
from datasources.spark.operators.over.frames.aggregates import carried_schema
from datasources.spark.operators.over.frames.cleanup_timers import LATE, NEVER_FIRED, Timers
from datasources.spark.operators.over.frames.frame_spec import OverRule, Unit
from datasources.spark.operators.over.over_state import NEVER

_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]
_PAIR: Final = 2
_SPARSE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKeys:
    """Keys, one per row, sorted by generation.

    Units: ``last``, when a key last fired, and ``newest``, the largest time of an accepted row, in µs. Timers are
    sorted by generation.
    """

    keys: pa.Table
    generation: _Ints
    last: _Ints
    newest: _Ints
    timers: Timers
    carried: pa.Table

    @classmethod
    def none(cls, rule: OverRule, key_types: Sequence[pa.DataType]) -> StoredKeys:
        """Return an empty table of keys."""
        empty = np.empty(0, dtype=np.int64)
        names = [f"key_{n}" for n in range(len(key_types))]
        keys = pa.schema(list(zip(names, key_types, strict=True))).empty_table()
        return cls(
            keys=keys, generation=empty, last=empty, newest=empty, timers=Timers.of(()), carried=_carried_none(rule)
        )

    @classmethod
    def read(cls, rule: OverRule, segments: Sequence[pa.Table], clock_us: int) -> StoredKeys:
        """Return the stored keys that are not cleared at this watermark, with the timers due by then fired."""
        table = pa.concat_tables(segments)
        generation = _ints(table, "generation")
        # The last row of a generation counts: np.unique finds the first one of the reversed column.
        _, at = np.unique(generation[::-1], return_index=True)
        table = table.take(pa.array(len(generation) - 1 - at)).combine_chunks()
        generation, last = _ints(table, "generation"), _ints(table, "last").copy()
        timers = _timers_of(table, generation)
        has_fired = timers.due <= clock_us
        positions = np.searchsorted(generation, timers.generation[has_fired])
        np.maximum.at(last, positions, timers.at[has_fired])
        found = cls(
            keys=table.select([name for name in table.column_names if name.startswith("key_")]),
            generation=generation,
            last=last,
            newest=_ints(table, "newest"),
            timers=timers.where(~has_fired),
            carried=table.select(carried_schema(rule.aggregates).names) if rule.carries else _carried_none(rule),
        )
        return found.where(found.forgotten_us(rule) > clock_us)

    def where(self, chosen: _Bools) -> StoredKeys:
        """Return some of them."""
        mask = pa.array(chosen)
        kept = np.isin(self.timers.generation, self.generation[chosen])
        return StoredKeys(
            keys=self.keys.filter(mask) if self.keys.num_columns else self.keys,
            generation=self.generation[chosen],
            last=self.last[chosen],
            newest=self.newest[chosen],
            timers=self.timers.where(kept),
            carried=self.carried.filter(mask) if self.carried.num_columns else self.carried,
        )

    def forgotten_us(self, rule: OverRule) -> _Ints:
        """Return per key the watermark at which it is cleared."""
        if rule.frame.unit is Unit.RANGE and rule.frame.preceding is not None:
            if rule.is_processing_time:
                return self.newest + rule.frame.preceding + 1
            forgotten = np.full(len(self.generation), NO_WATERMARK)
            np.maximum.at(forgotten, np.searchsorted(self.generation, self.timers.generation), self.timers.due)
            return forgotten
        if rule.ttl_us is None:
            return np.full(len(self.generation), NEVER)
        # ROWS accepts rows that are up to the TTL behind the watermark.
        return self.newest + rule.ttl_us * (1 if rule.carries else _PAIR) + 1

    @property
    def cleanup(self) -> _Ints:
        """Last timer per key, µs; NEVER_FIRED for none."""
        found = np.full(len(self.generation), NEVER_FIRED)
        np.maximum.at(found, np.searchsorted(self.generation, self.timers.generation), self.timers.at)
        return found

    def position_of(self, generation: _Ints) -> _Ints:
        """Return the row of each generation; LATE for unknown ones."""
        if not len(self.generation):
            return np.full(len(generation), LATE, dtype=np.int64)
        lowest, highest = int(self.generation[0]), int(self.generation[-1])
        if highest - lowest > _SPARSE * len(self.generation) + len(generation):
            at = np.minimum(np.searchsorted(self.generation, generation), len(self.generation) - 1)
            return np.where(self.generation[at] == generation, at, LATE)
        # One more entry at the end, for unknown numbers.
        positions = np.full(highest - lowest + 2, LATE, dtype=np.int64)
        positions[self.generation - lowest] = np.arange(len(self.generation))
        return positions[np.where((generation < lowest) | (generation > highest), -1, generation - lowest)]

    def table(self) -> pa.Table:
        """Return the table to store."""
        columns = {name: self.keys.column(name) for name in self.keys.column_names}
        columns |= {"generation": self.generation, "last": self.last, "newest": self.newest}
        pairs = np.stack([self.timers.at, self.timers.due], axis=1).ravel()
        ends = np.searchsorted(self.timers.generation, self.generation, side="right") * _PAIR
        columns["timers"] = pa.ListArray.from_arrays(pa.array(np.r_[0, ends], pa.int32()), pa.array(pairs))
        columns |= {name: self.carried.column(name) for name in self.carried.column_names}
        return pa.table(columns)


def forgotten_at(keys: StoredKeys, rule: OverRule) -> int:
    """Return the watermark at which all of these keys are cleared."""
    return int(keys.forgotten_us(rule).max(initial=NO_WATERMARK))


def number_keys(stored: StoredKeys, arrived: pa.Table | None, names: Sequence[str]) -> tuple[_Ints, _Ints, int]:
    """Return the key number of each stored key, that of each arrived row, and how many keys there are."""
    count = len(stored.generation)
    rows = 0 if arrived is None else arrived.num_rows
    columns = []
    for position, name in enumerate(names):
        upper = stored.keys.column(position)
        lower = [] if arrived is None else arrived.column(name).chunks
        columns.append(pa.chunked_array([*upper.chunks, *lower], type=upper.type))
    codes = equal_codes(columns, count + rows)
    found, numbers = np.unique(codes, return_inverse=True)
    return numbers[:count], numbers[count:], len(found)


def _timers_of(table: pa.Table, generation: _Ints) -> Timers:
    lists = table.column("timers").combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], pa.list_(pa.int64()))
    pairs = lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, _PAIR)
    counts = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64) // _PAIR
    return Timers(generation=np.repeat(generation, counts), at=pairs[:, 0], due=pairs[:, 1])


def _carried_none(rule: OverRule) -> pa.Table:
    return carried_schema(rule.aggregates).empty_table() if rule.carries else pa.table({})


def _ints(table: pa.Table, name: str) -> _Ints:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)
