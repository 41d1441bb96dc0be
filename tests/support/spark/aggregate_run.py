"""Runs an AggregateOperator over micro-batches in memory, and adds up its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from datasources.spark.operators.buckets.partition_keys import as_array
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.aggregate_operator import AggregateOperator
from datasources.spark.operators.changelog.changes import HASH_COLUMN, WEIGHT_COLUMN, consolidated, with_change_columns
from datasources.spark.operators.changelog.value_codes import canonical_values, value_hashes
from tests.support.spark.change_bucket_run import MemoryState, canonical_row

Change = tuple[Sequence[Any], int]
"""The values of a row and its weight."""


class AggregateRun:
    """An operator with its state and the table that its results so far give."""

    def __init__(
        self,
        data: pa.Schema,
        keys: Sequence[str],
        calls: Sequence[AggregateCall],
        *,
        is_insert_only: bool = False,
        hash_bits: int = 64,
    ) -> None:
        self.data, self.keys, self.hash_bits = data, keys, hash_bits
        self.operator = AggregateOperator(keys, calls, data, is_insert_only=is_insert_only)
        self.state = MemoryState()
        self.result: Counter[tuple[Any, ...]] = Counter()

    def advance(self, changes: Iterable[Change]) -> pa.Table:
        """Process a micro-batch and return its changes of the result."""
        output = self.operator.advance(self.state, [changes_table(self.data, self.keys, changes, self.hash_bits)])
        assert output.schema.equals(with_change_columns(self.operator.output))
        output = output.drop_columns([HASH_COLUMN])
        self.state.close_batch()
        for *row, weight in zip(*(column.to_pylist() for column in output.columns), strict=True):
            self.result[canonical_row(row)] += weight
        self.result = Counter({row: count for row, count in self.result.items() if count})
        return output

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of the result, sorted; each occurs once."""
        assert set(self.result.values()) <= {1}
        return sorted(self.result, key=repr)


def changes_table(data: pa.Schema, keys: Sequence[str], changes: Iterable[Change], hash_bits: int = 64) -> pa.Table:
    """Return consolidated changes as an operator receives them; few bits of hash make collisions."""
    changes = list(changes)
    columns = [pa.array([row[n] for row, _ in changes], type=field.type) for n, field in enumerate(data)]
    rows = pa.table(
        [*columns, pa.array([weight for _, weight in changes], type=pa.int64())], names=[*data.names, WEIGHT_COLUMN]
    )
    rows = consolidated(rows)
    hashed = [value_hashes(canonical_values(as_array(rows.column(key)))) for key in keys]
    total = [sum((n + 1) * int(each[at]) for n, each in enumerate(hashed)) for at in range(rows.num_rows)]
    limit = 1 << hash_bits
    hashes = [value % limit - limit // 2 for value in total]
    return rows.add_column(len(data), HASH_COLUMN, pa.array(hashes, type=pa.int64()))
