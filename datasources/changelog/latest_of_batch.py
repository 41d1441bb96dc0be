"""The latest state of each key in a batch of changes, for MERGE in foreachBatch.

Theory of operation. The result of a query has one removal and one addition per key and batch at most, removals first:
what is added is the state (`net_actions`). A log of events may have many of a key, and a shuffle loses their order, so
each carries its position, `_seq`. The last change of a key decides: an after-image is the row's current state; a
before-image that is last means that the row was deleted. A changed key needs no rule of its own: its old value ends
with the before-image, its new one begins with the after-image. A truncate row voids all earlier rows of its table;
since it concerns every key, rows are distributed over buckets and each bucket gets a copy of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import IntegralType, StructType

from datasources.changelog.net_actions import DELETE_COLUMN, KIND_COLUMN, net_actions
from datasources.errors import QueryError
from datasources.grammar.literals import quoted

_KIND: Final = "row_kind"
_SEQUENCE: Final = "_seq"
_TABLE_COLUMNS: Final = ("database_name", "table_name")
_TRUNCATE: Final = "T"
_RESULTS: Final = {"+I": "upsert", "+U": "upsert", "-U": "delete", "-D": "delete", _TRUNCATE: "truncate"}
_BUCKETS: Final = 64
_BUCKET, _TRUNCATED_AT, _ROW, _KEY = "_tidemark_bucket", "_tidemark_truncated_at", "_tidemark_row", "_tidemark_key"


def latest_changes(batch: DataFrame, keys: Sequence[str], *, is_result: bool = False) -> DataFrame:
    """Return the latest state of each key in a batch.

    Apply rows 'truncate' first (they delete all rows of the table), then the others in any order: each key occurs once.
    Applying the result again gives the same table.

    Args:
        batch: changes as foreachBatch gets them: all rows of the batch. A log of events has the columns `row_kind` and
            `_seq`, their position (an integer, or a struct of integers), and `database_name` and `table_name` where it
            holds more than one table.
        keys: columns of the primary key.
        is_result: the batch is one of the result of a query over tables that change (`datasources.changelog`, SQL):
            `row_kind` is there unless rows are only added, and `_seq` has no meaning.

    Returns:
        The columns of the batch, those of a result behind `row_kind`. It is 'upsert' (the row's values), 'delete' (its
        last values; of a result only the key) or 'truncate' (no values; `_seq` is smaller than that of all other rows
        of the table).

    Raises:
        QueryError: the batch lacks `row_kind`, `_seq` or a key column.
        RecordError: in Spark's task: a key is NULL, or a result has two different rows of a key.
    """
    _check_keys(batch, keys)
    if is_result:
        return _of_result(batch, keys)
    _check_log(batch)
    tables = [name for name in _TABLE_COLUMNS if name in batch.columns]
    kind, sequence = F.col(_KIND), F.col(_SEQUENCE)
    is_truncate = kind == _TRUNCATE
    own_bucket = F.array(F.pmod(F.hash(*map(_column, keys)), F.lit(_BUCKETS)))
    every_bucket = F.sequence(F.lit(0), F.lit(_BUCKETS - 1))
    spread = batch.select("*", F.explode(F.when(is_truncate, every_bucket).otherwise(own_bucket)).alias(_BUCKET))
    of_table = Window.partitionBy(*tables, _BUCKET)
    marked = spread.withColumn(_TRUNCATED_AT, F.max(F.when(is_truncate, sequence)).over(of_table))
    last = F.col(_TRUNCATED_AT)
    valid = marked.where(last.isNull() | (sequence > last) | (is_truncate & (sequence == last) & (F.col(_BUCKET) == 0)))
    key = [_key(name, is_truncate).alias(f"{_KEY}_{index}") for index, name in enumerate(keys)]
    row = F.struct(*map(_column, batch.columns))
    latest = valid.groupBy(*tables, _BUCKET, is_truncate.alias(f"{_KEY}_kind"), *key).agg(
        F.max_by(row, sequence).alias(_ROW)
    )
    return latest.select(*(_result(name) for name in batch.columns))


def _of_result(batch: DataFrame, keys: Sequence[str]) -> DataFrame:
    names = [_column(name) for name in batch.columns if name != _KIND]
    if _KIND in batch.columns:
        kind = F.col(_KIND)
        is_known = kind.isin("+I", "+U", "-U", "-D")
        batch = batch.select(F.when(is_known, kind).otherwise(_unknown(kind)).alias(KIND_COLUMN), *names)
    is_delete = F.col(DELETE_COLUMN)
    kind = F.when(is_delete, F.lit("delete")).otherwise(F.lit("upsert")).alias(_KIND)
    return net_actions(batch, keys, "the result").select(kind, *names)


def _unknown(kind: Column) -> Column:
    found = F.coalesce(kind, F.lit("NULL"))
    return F.raise_error(F.concat(F.lit(f"[{QueryError.code}] unknown row_kind: "), found))


def _check_log(batch: DataFrame) -> None:
    for name in (_KIND, _SEQUENCE):
        if name not in batch.columns:
            raise QueryError(
                f"the batch has no column '{name}', without which the order of its changes is unknown: keep it from "
                f"the source (in SQL: declare it as a METADATA column). Is it the result of a query over tables that "
                f"change? Then say is_result=True."
            )
    sequence: Any = batch.schema[_SEQUENCE].dataType
    fields = [field.dataType for field in sequence] if isinstance(sequence, StructType) else [sequence]
    if not fields or not all(isinstance(each, IntegralType) for each in fields):
        raise QueryError(
            f"the batch's column '{_SEQUENCE}' is {sequence.simpleString()}, not an integer or the source's struct of "
            f"integers: hand it on unchanged."
        )


def _check_keys(batch: DataFrame, keys: Sequence[str]) -> None:
    if not keys:
        raise QueryError(
            "a table without a key has no latest state of a row: append its changes instead, or name keys."
        )
    missing = [name for name in keys if name not in batch.columns]
    if missing:
        raise QueryError(f"the batch has no column '{missing[0]}', which is named as a key; it has {batch.columns}.")


def _column(name: str) -> Column:
    return F.col(quoted(name))


def _key(name: str, is_truncate: Column) -> Column:
    column = _column(name)
    problem = F.raise_error(F.lit(f"[{QueryError.code}] the key column '{name}' is null in a row: it is no key."))
    return F.when(column.isNotNull() | is_truncate, column).otherwise(problem)


def _result(name: str) -> Column:
    value = F.col(_ROW).getField(name)
    if name != _KIND:
        return value.alias(name)
    result = _unknown(value)
    for short, word in _RESULTS.items():
        result = F.when(value == short, word).otherwise(result)
    return result.alias(name)
