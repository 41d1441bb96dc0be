"""A query over tables that change in one pass of Spark: the operators run in memory, all micro-batches one after another.

Everything between the operators is Spark's, as in a stream; the number of the micro-batch travels in the weight. A
statement takes a second instead of ten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from datasources.changelog import change_query as queries
from datasources.changelog import translator
from datasources.changelog.result import NetChanges, ResultShape
from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.changes import HASH_COLUMN, WEIGHT_COLUMN, consolidated, ints, with_weights
from tests.support.spark.change_bucket_run import MemoryState
from tests.support.spark.changing_tables import ChangingTable, Row

__all__ = ["ChangeQueryRun"]

BUCKETS = 2
_WEIGHTS = {"+I": 1, "+U": 1, "-U": -1, "-D": -1}
_BITS = 32


@dataclass(slots=True)
class ChangeQueryRun:
    """Runs statements over tables.

    After `changes`, `shape` says which key the result has and whether rows change.
    """

    spark: Any
    tables: Mapping[str, ChangingTable]
    insert_only: Sequence[str] = ()
    shape: ResultShape | None = None
    shown: str = ""

    def changes(self, statement: str) -> list[list[Row]]:
        """Return the rows of the result, micro-batch by micro-batch."""
        frames = {name: self._changes(name, table) for name, table in self.tables.items()}
        empty, by_id = queries.empty_tables(frames)
        for name, frame in empty.items():
            frame.createOrReplaceTempView(name)
        with (
            patch.object(translator, "run_changes", self._run),
            patch.object(queries, "net_changes", self._result),
            patch.object(queries, "push_packing", lambda result: result),
        ):
            found = queries.change_query(self.spark.sql(statement), by_id)
        self.shown = found.shown
        result: Any = found.frame
        return result

    def _changes(self, name: str, table: ChangingTable) -> translator.TableChanges:
        events = [(number, kind, row) for number, batch in enumerate(table.batches) for kind, row in batch]
        columns = [
            pa.array([row[at] for _, _, row in events], type=each.type) for at, each in enumerate(table.kind.schema)
        ]
        weights = _numbered([number for number, _, _ in events], [_WEIGHTS[kind] for _, kind, _ in events])
        rows = pa.Table.from_arrays([*columns, weights], [*table.kind.schema.names, WEIGHT_COLUMN])
        frame = self.spark.createDataFrame(rows, f"{table.kind.ddl}, {WEIGHT_COLUMN} BIGINT")
        return translator.TableChanges(
            name=name, changes=frame, is_insert_only=name in self.insert_only, key=(table.kind.names[0],)
        )

    @property
    def _batches(self) -> int:
        return max(len(table.batches) for table in self.tables.values())

    def _run(self, inputs: Sequence[Any], operator: ChangeOperator, fields: Any, **settings: Any) -> Any:
        """Stand in for `run_changes`."""
        from pyspark.sql.types import LongType, StructField, StructType

        states = [MemoryState() for _ in range(BUCKETS)]
        tables = [_hashed(each) for each in inputs]
        results = [pa.schema([*operator.output, (WEIGHT_COLUMN, pa.int64())]).empty_table()]
        for number in range(self._batches):
            for bucket, state in enumerate(states):
                changes = [_of(table, number, bucket) for table in tables]
                if any(each.num_rows for each in changes):
                    result = operator.advance(state, changes).drop_columns([HASH_COLUMN])
                    state.close_batch()
                    weights = ints(result, WEIGHT_COLUMN)
                    results.append(with_weights(result, np.asarray(_numbered([number] * len(weights), weights))))
        schema = StructType(
            [*(StructField(f.name, f.dataType) for f in fields), StructField(WEIGHT_COLUMN, LongType())]
        )
        return self.spark.createDataFrame(pa.concat_tables(results).combine_chunks(), schema)

    def _result(self, changes: Any, shape: ResultShape, origin: Any, *, partitions: int) -> Any:
        """Stand in for `net_changes`."""
        self.shape, rows = shape, changes.toArrow()
        return [list(self._net(_of(rows, number), shape)) for number in range(self._batches)]

    @staticmethod
    def _net(rows: pa.Table, shape: ResultShape) -> Iterator[Row]:
        if shape.is_insert_only:
            data = list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
            for *row, weight in data:
                assert weight > 0
                yield from [tuple(row)] * weight
            return
        key = None if shape.key is None else tuple(rows.column_names[at] for at in shape.key)
        for batch in NetChanges(key=key)(iter(rows.combine_chunks().to_batches())):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _hashed(given: Any) -> pa.Table:
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    from datasources.spark.operators.buckets.partition_keys import key_hash

    hashed = key_hash(given.changes.schema, given.keys) if given.keys else F.lit(0).cast("bigint")
    names = given.schema.names
    rows = given.changes.select(*(F.col(f"`{name}`") for name in names), hashed.alias(HASH_COLUMN), WEIGHT_COLUMN)
    internal = [(HASH_COLUMN, pa.int64()), (WEIGHT_COLUMN, pa.int64())]
    return rows.toArrow().cast(pa.schema([*given.schema, *internal]))


def _of(rows: pa.Table, number: int, bucket: int | None = None) -> pa.Table:
    """Return the changes of a micro-batch, and of a bucket."""
    numbered = ints(rows, WEIGHT_COLUMN)
    chosen = numbered >> _BITS == number
    if bucket is not None:
        chosen &= ints(rows, HASH_COLUMN) % BUCKETS == bucket
    weights = (numbered[chosen] & ((1 << _BITS) - 1)) - (1 << (_BITS - 1))
    return consolidated(with_weights(rows.filter(pa.array(chosen)).combine_chunks(), weights))


def _numbered(numbers: Sequence[int], weights: Any) -> pa.Array:
    """Return weights with the number of their micro-batch."""
    numbered = np.asarray(numbers, dtype=np.int64) << _BITS
    return pa.array(numbered + np.asarray(weights, dtype=np.int64) + (1 << (_BITS - 1)), type=pa.int64())
