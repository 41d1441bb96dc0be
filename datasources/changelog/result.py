"""The result of a query as net changes with their row kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import DataType, MapType, StringType, StructField, StructType, VariantType

from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.buckets.partition_keys import canonical
from datasources.spark.operators.changelog.changes import (
    WEIGHT_COLUMN,
    Ints,
    consolidated,
    data_names,
    row_codes,
    weights,
)
from datasources.spark.operators.changelog.row_groups import code_sums

ROW_KIND_COLUMN: Final = "row_kind"
_KINDS: Final = pa.array(["-D", "-U", "+I", "+U"])
_DELETE, _BEFORE, _INSERT, _AFTER = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultShape:
    """The result of a query.

    Attributes:
        names: of its columns.
        key: positions of the columns by which it has one row; empty: one row at most; None: not known.
        is_insert_only: whether rows are only added.
    """

    names: tuple[str, ...]
    key: tuple[int, ...] | None
    is_insert_only: bool


def net_changes(changes: DataFrame, shape: ResultShape, *, partitions: int) -> DataFrame:
    """Return the result: one net change per key and batch, removals before additions.

    ``changes`` has the columns of the result, under any names, then WEIGHT_COLUMN. A row that is added and removed in
    one batch is no change. Without a key an update is a deletion and an insertion. ``partitions``: of the result.
    """
    if shape.is_insert_only:
        return copies_of(changes).toDF(*shape.names)
    fields = [StructField(name, changes.schema[name].dataType) for name in changes.columns[:-1]]
    placed = changes.repartition(partitions, *_placement(fields, shape.key))
    key = None if shape.key is None else tuple(fields[at].name for at in shape.key)
    rows = placed.mapInArrow(NetChanges(key=key), StructType([StructField(ROW_KIND_COLUMN, StringType()), *fields]))
    return rows.toDF(ROW_KIND_COLUMN, *shape.names)


def copies_of(changes: DataFrame) -> DataFrame:
    """Return each row as often as its weight says; all weights are positive."""
    columns = [F.col(f"`{name}`") for name in changes.columns[:-1]]
    times = F.sequence(F.lit(1), F.col(WEIGHT_COLUMN).cast("int"))
    return changes.select(*columns, F.explode(times).alias(WEIGHT_COLUMN)).drop(WEIGHT_COLUMN)


def _placement(fields: Sequence[StructField], key: tuple[int, ...] | None) -> list[F.Column]:
    chosen = fields if key is None else [fields[at] for at in key]
    columns = [canonical(F.col(f"`{each.name}`"), each.dataType) for each in chosen if _is_hashable(each.dataType)]
    return columns or [F.lit(0)]


def _is_hashable(data_type: DataType) -> bool:
    return not isinstance(data_type, MapType | VariantType)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetChanges:
    """A function for mapInArrow: sums the changes of a partition up and gives each its row kind.

    ``key`` names the columns by which there is one row; None: not known.
    """

    key: tuple[str, ...] | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the removals, then the additions."""
        with spark_errors():
            found = [batch for batch in batches if batch.num_rows]
            if found:
                yield from self._with_kinds(consolidated(pa.Table.from_batches(found).combine_chunks()))
            freeze_worker_heap()

    def _with_kinds(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        weight = weights(rows)
        kinds = np.where(weight < 0, _DELETE, _INSERT)
        if self.key is not None:
            codes = row_codes(rows, list(self.key))
            updated = _updated(codes, weight)
            kinds = np.where(updated, kinds + (_BEFORE - _DELETE), kinds)
        order = np.argsort(kinds >= _INSERT, kind="stable")
        order = np.repeat(order, np.abs(weight[order]))
        taken = rows.select(data_names(rows.column_names)).take(pa.array(order)).combine_chunks()
        column = _KINDS.take(pa.array(kinds[order]))
        whole = pa.Table.from_arrays([column, *taken.columns], [ROW_KIND_COLUMN, *taken.column_names])
        yield from (batch for batch in whole.to_batches() if batch.num_rows)


def _updated(codes: Ints, weight: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which changes are half of an update: their key loses one row and gets one."""
    size = int(codes.max(initial=-1)) + 1
    lost, won = (code_sums(codes, each, size) for each in (np.minimum(weight, 0), np.maximum(weight, 0)))
    return np.asarray((lost[codes] == -1) & (won[codes] == 1))
