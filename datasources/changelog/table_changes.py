"""A table's events as changes: rows with a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructType

from datasources.changelog.result import copies_of
from datasources.errors import QueryError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.bucket_operator import DEFAULT_BUCKETS
from datasources.spark.operators.changelog.changes import WEIGHT_COLUMN
from datasources.spark.operators.changelog.normalize.normalize_operator import NormalizeOperator
from datasources.spark.operators.changelog.run_changes import OperatorInput, run_changes, timed_weight
from datasources.spark.operators.changelog.state_ttl import StateTtl

_IS_DELETE: Final = "__tidemark_is_delete"
_IS_TRUNCATION: Final = "__tidemark_is_truncation"
_ORDER: Final = "__tidemark_order_"
_IS_ROW: Final = "is_row"
_RANK: Final = "__tidemark_rank"
_WEIGHTS: Final = {"+I": 1, "+U": 1, "-U": -1, "-D": -1}


def insertions(rows: DataFrame, columns: Sequence[Column], time_us: Column | None = None) -> DataFrame:
    """Return rows that are only added, as changes; ``time_us`` is the event time of each, for a TTL of states."""
    return _data(rows).select(*columns, _weight(F.lit(1), time_us))


def retractions(events: TableEvents) -> DataFrame:
    """Return events with before-images as changes: +I, -U, +U or -D."""
    row_kind = F.col(quoted(events.kind))
    weight = _unknown(row_kind, events.table)
    for text, value in _WEIGHTS.items():
        weight = F.when(row_kind == text, F.lit(value)).otherwise(weight)
    known = _data(events.rows).where(row_kind.isNotNull())
    return known.select(*events.columns, _weight(weight, events.time_us))


def _weight(weight: Column, time_us: Column | None) -> Column:
    if time_us is not None:
        return timed_weight(weight, time_us)
    return weight.cast("bigint").alias(WEIGHT_COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEvents:
    """The events of a table.

    Attributes:
        rows: with the column ``kind``; rows where it is NULL are malformed records.
        columns: the columns of the table, those of the key among them.
        kind: name of the column with +I, -U, +U, -D or T.
        key: names of the primary key's columns; empty: there is none.
        order: which event of a key is the later one: integers, or structs of them.
        table: name of the table, for errors.
        time_us: the event time of each in µs, for a TTL of states; None: there is no TTL.
    """

    rows: DataFrame
    columns: Sequence[Column]
    kind: str
    key: Sequence[str]
    order: Sequence[Column]
    table: str
    time_us: Column | None = None


def upserts(events: TableEvents, *, buckets: int = DEFAULT_BUCKETS, ttl_us: int | None = None) -> DataFrame:
    """Return upserts and deletes by key as changes: the state keeps the last row of each key.

    A before-image is the delete of its key. A truncation removes all rows of the table before it; it is an error where
    the log has partitions (``order`` has more than one column), whose positions cannot be compared.

    ``buckets``, into which keys are hashed, is fixed for the life of a checkpoint. The rows are never forgotten: an
    update whose row before is not known would add a second one. With ``ttl_us``, the TTL of states with rows of the
    table, the changes have their times.
    """
    row_kind = F.col(quoted(events.kind))
    known = _data(events.rows).where(row_kind.isNotNull())
    removals = ["-U", "-D", *(["T"] if len(events.order) == 1 else [])]
    position = [each for one in events.order for each in _integers(known, one)]
    rows = known.select(
        *events.columns,
        *(each.cast("bigint").alias(f"{_ORDER}{at}") for at, each in enumerate(position)),
        (~_is_row(row_kind, removals, events.table)).alias(_IS_DELETE),
        (row_kind == "T").alias(_IS_TRUNCATION),
        _weight(F.lit(1), events.time_us),
    )
    given = OperatorInput(changes=rows, keys=list(events.key), broadcast=_IS_TRUNCATION)
    data = rows.columns[: len(events.columns)]
    operator = NormalizeOperator(
        schema=pa.schema([given.schema.field(name) for name in data]),
        keys=list(events.key),
        order_columns=[f"{_ORDER}{at}" for at in range(len(position))],
        kind_column=_IS_DELETE,
        truncate_column=_IS_TRUNCATION,
    )
    fields = StructType([rows.schema[name] for name in data])
    ttl = None if ttl_us is None else StateTtl(ttl_us=ttl_us, forgets=False)
    return run_changes([given], operator, fields, buckets=buckets, ttl=ttl)


def current_rows(events: TableEvents) -> DataFrame:
    """Return the rows of a table after all events of a batch; without a key they have before-images."""
    if not events.key:
        rows = retractions(events)
        names = [quoted(name) for name in rows.columns[:-1]]
        sums = rows.groupBy(*names).agg(F.sum(WEIGHT_COLUMN).alias(WEIGHT_COLUMN))
        return copies_of(sums.where(F.col(WEIGHT_COLUMN) > 0))
    row_kind = F.col(quoted(events.kind))
    is_row = _is_row(row_kind, ["-U", "-D"], events.table).alias(_IS_ROW)
    known = _data(events.rows).where(row_kind.isNotNull())
    ordered = known.select(*events.columns, F.struct(*events.order, is_row).alias(_ORDER))
    last = Window.partitionBy(*(quoted(name) for name in events.key)).orderBy(F.col(_ORDER).desc())
    latest = ordered.withColumn(_RANK, F.row_number().over(last)).where(F.col(_RANK) == 1)
    return latest.where(F.col(_ORDER)[_IS_ROW]).drop(_ORDER, _RANK)


def _is_row(row_kind: Column, removals: Sequence[str], table: str) -> Column:
    """Return whether an event leaves a row of its key; other kinds than +I, +U and the removals are an error."""
    is_row = F.when(row_kind.isin("+I", "+U"), F.lit(True)).when(row_kind.isin(*removals), F.lit(False))
    return is_row.otherwise(_unknown(row_kind, table).cast("boolean"))


def _integers(rows: DataFrame, position: Column) -> list[Column]:
    """Return the integers of a position in a log."""
    data_type = rows.select(position).schema[0].dataType
    if isinstance(data_type, StructType):
        return [position.getField(field) for field in data_type.names]
    return [position]


def _unknown(row_kind: Column, table: str) -> Column:
    truncated = (
        f"[{QueryError.code}] table '{table}' was truncated, and its changes do not list the rows that are gone: SET "
        f"'table.exec.source.cdc-events-duplicate' = 'true' keeps its rows in the state (it needs a PRIMARY KEY), or "
        f"start the query anew with another checkpoint."
    )
    other = F.concat(F.lit(f"[{QueryError.code}] table '{table}' has a change of unknown kind: "), row_kind)
    return F.when(row_kind == "T", F.raise_error(F.lit(truncated)).cast("int")).otherwise(
        F.raise_error(other).cast("int")
    )


def _data(rows: DataFrame) -> DataFrame:
    return rows.where(~F.col(HEARTBEAT_COLUMN)) if HEARTBEAT_COLUMN in rows.columns else rows
