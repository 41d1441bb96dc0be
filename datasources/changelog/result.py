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

from datasources.changelog.result_origin import ResultOrigin
from datasources.source.reading.row_blobs import from_blob
from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.buckets.partition_keys import canonical
from datasources.spark.operators.changelog.changes import (
    GENERATION_COLUMN,
    WEIGHT_COLUMN,
    Ints,
    consolidated,
    data_names,
    ints,
    row_codes,
    weights,
    with_change_columns,
)
from datasources.spark.operators.changelog.row_groups import code_sums, dense_codes
from datasources.spark.operators.changelog.run_changes import plain_schema
from datasources.spark.scan.schema import arrow_output_schema

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
        has_single_rows: whether each change is known to be of one row.
        has_times: whether states have a TTL.
    """

    names: tuple[str, ...]
    key: tuple[int, ...] | None
    is_insert_only: bool
    has_single_rows: bool = False
    has_times: bool = False

    @property
    def has_generation(self) -> bool:
        """Whether the generation of a change counts: a row of a key may have one of an earlier generation beside it."""
        return self.has_times and self.key is not None and not self.is_insert_only


def net_changes(
    changes: DataFrame,
    shape: ResultShape,
    origin: ResultOrigin | None = None,
    *,
    partitions: int,
) -> DataFrame:
    """Return the result: one net change per key and batch, removals before additions.

    ``changes`` has the columns of the result, under any names, then WEIGHT_COLUMN. A row that is added and removed in
    one batch is no change. Without a key an update is a deletion and an insertion.

    Where the operator that the changes come from (``origin``) has already put equal keys into one partition, they stay
    there; otherwise the result has a number of ``partitions``.

    Of additions of one key, those of an earlier generation are left out: a sink would replace their row in the next
    batch.
    """
    if shape.is_insert_only:
        rows = changes.drop(WEIGHT_COLUMN) if shape.has_single_rows else copies_of(changes)
        return rows.toDF(*shape.names)
    fields = [StructField(name, changes.schema[name].dataType) for name in data_names(changes.columns)]
    key = None if shape.key is None else tuple(fields[at].name for at in shape.key)
    whole = StructType([StructField(ROW_KIND_COLUMN, StringType()), *fields])
    is_placed = origin is not None and origin.is_placed_by(shape.key)
    if origin is not None and is_placed and origin.packed is not None:
        rows = origin.packed.mapInArrow(_unpacking(origin, key, fields, shape), whole)
    else:
        placed = changes if is_placed else changes.repartition(partitions, *_placement(fields, shape.key))
        rows = placed.mapInArrow(NetChanges(key=key), whole)
    return rows.toDF(ROW_KIND_COLUMN, *shape.names)


def _unpacking(
    origin: ResultOrigin, key: tuple[str, ...] | None, fields: Sequence[StructField], shape: ResultShape
) -> UnpackNetChanges:
    columns = tuple(each for each in origin.columns if each is not None)
    is_net = origin.operator.is_net and not shape.has_times and set(columns) == set(origin.operator.output.names)
    schema = plain_schema(arrow_output_schema(StructType(list(fields))))
    changes = NetChanges(key=key, is_net=is_net)
    return UnpackNetChanges(changes=changes, columns=columns, schema=schema, has_generation=shape.has_generation)


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

    Attributes:
        key: the columns by which there is one row; None: not known.
        is_net: whether the changes are summed up already.
    """

    key: tuple[str, ...] | None
    is_net: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the removals, then the additions."""
        with spark_errors():
            found = [batch for batch in batches if batch.num_rows]
            if found:
                yield from self.with_kinds(pa.Table.from_batches(found).combine_chunks())
            freeze_worker_heap()

    def with_kinds(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield the removals of a partition's changes, then the additions."""
        rows = rows if self.is_net else consolidated(self._of_newest(rows))
        weight = weights(rows)
        kinds = np.where(weight < 0, _DELETE, _INSERT)
        if self.key is not None:
            codes = _key_codes(rows, self.key)
            updated = _updated(codes, weight)
            kinds = np.where(updated, kinds + (_BEFORE - _DELETE), kinds)
        order = np.concatenate([np.flatnonzero(weight < 0), np.flatnonzero(weight > 0)])
        order = np.repeat(order, np.abs(weight[order]))
        taken = rows.select(data_names(rows.column_names)).take(pa.array(order)).combine_chunks()
        column = _KINDS.take(pa.array(kinds[order]))
        whole = pa.Table.from_arrays([column, *taken.columns], [ROW_KIND_COLUMN, *taken.column_names])
        yield from (batch for batch in whole.to_batches() if batch.num_rows)

    def _of_newest(self, rows: pa.Table) -> pa.Table:
        """Return the changes without generation, and without additions of a key that has one of a later generation."""
        if GENERATION_COLUMN not in rows.column_names:
            return rows
        generations, rows = ints(rows, GENERATION_COLUMN), rows.drop_columns([GENERATION_COLUMN])
        if self.key is None or not generations.any():
            return rows
        codes, is_addition = _key_codes(rows, self.key), weights(rows) > 0
        newest = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        np.maximum.at(newest, codes[is_addition], generations[is_addition])
        return rows.filter(pa.array(~is_addition | (generations == newest[codes])))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackNetChanges:
    """A function for mapInArrow: unpacks cells into net changes with their row kind.

    Attributes:
        changes: makes net changes of those of a partition.
        columns: of the cells, one for each column of the result.
        schema: the columns of the result.
        has_generation: whether the generation of a change counts.
    """

    changes: NetChanges
    columns: tuple[str, ...]
    schema: pa.Schema
    has_generation: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the removals, then the additions."""
        generation = [pa.field(GENERATION_COLUMN, pa.int64())] if self.has_generation else []
        whole = with_change_columns(pa.schema([*self.schema, *generation]), has_hash=False)
        with spark_errors():
            cells = [blob for batch in batches for blob in batch.column("rows") if blob.is_valid]
            found = [self._declared(from_blob(blob.as_buffer()), whole) for blob in cells]
            if found:
                yield from self.changes.with_kinds(pa.concat_tables(found).combine_chunks())
            freeze_worker_heap()

    def _declared(self, cell: pa.Table, schema: pa.Schema) -> pa.Table:
        own = (GENERATION_COLUMN, WEIGHT_COLUMN) if self.has_generation else (WEIGHT_COLUMN,)
        columns = [cell.column(name) for name in (*self.columns, *own)]
        return pa.Table.from_arrays(columns, names=schema.names).cast(schema)


def _key_codes(rows: pa.Table, key: tuple[str, ...]) -> Ints:
    """Return a code per row, equal where the key is: 0 to the number of keys - 1, for arrays of that length."""
    column = rows.column(key[0]) if len(key) == 1 else None
    is_number = column is not None and not column.null_count and pa.types.is_integer(column.type)
    return dense_codes(ints(rows, key[0]) if is_number else row_codes(rows, list(key)))


def _updated(codes: Ints, weight: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which changes are half of an update: their key loses one row and gets one."""
    size = int(codes.max(initial=-1)) + 1
    lost, won = (code_sums(codes, each, size) for each in (np.minimum(weight, 0), np.maximum(weight, 0)))
    return np.asarray((lost[codes] == -1) & (won[codes] == 1))
