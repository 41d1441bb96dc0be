"""The changes of a batch as one action per primary key.

A row that is added (+I, +U) is an upsert of its key, one that is removed (-U, -D) a delete, and a key with both has
another row: an upsert. Rows without a kind are additions. Removals and additions of a result have one row per key, so
the target's key, which contains that of the result, has at most one row too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from datasources.errors import RecordError
from datasources.grammar.literals import quoted

KIND_COLUMN: Final = "__tidemark_row_kind"
"""The kind of a row, in front of the target's columns."""
DELETE_COLUMN: Final = "__tidemark_is_delete"
"""Whether an action is a delete, in front of the target's columns."""

_ROW, _HAS_ROW, _LOWEST, _HIGHEST = "row", "has_row", "lowest", "highest"


def net_actions(changes: DataFrame, key: Sequence[str], table: str) -> DataFrame:
    """Return one action per key: DELETE_COLUMN, then the columns of the table; of a delete only the key is set.

    Args:
        changes: KIND_COLUMN, if rows change, and the columns of the table.
        key: names of the primary key's columns.
        table: its name, for errors. A key that is NULL, or with two rows that differ, is an error when the actions
            are evaluated.
    """
    names = [name for name in changes.columns if name != KIND_COLUMN]
    others = [name for name in names if name not in key]
    is_row = F.col(KIND_COLUMN).isin("+I", "+U") if KIND_COLUMN in changes.columns else F.lit(True)
    row = F.struct(*(F.col(quoted(name)) for name in others), F.lit(0).alias("_"))
    can_compare = all(_is_comparable(changes.schema[name].dataType) for name in others)
    compared = F.when(is_row, row if can_compare else F.to_json(row))
    grouped = changes.groupBy(*(F.col(quoted(name)).alias(f"key{at}") for at, name in enumerate(key))).agg(
        F.max_by(row, is_row).alias(_ROW),
        F.max(is_row).alias(_HAS_ROW),
        F.min(compared).alias(_LOWEST),
        F.max(compared).alias(_HIGHEST),
    )
    is_delete = F.when(~F.col(_LOWEST).eqNullSafe(F.col(_HIGHEST)), _two_rows(key, table)).otherwise(~F.col(_HAS_ROW))
    for at, name in enumerate(key):
        is_delete = F.when(F.col(f"key{at}").isNull(), _null_key(name, table)).otherwise(is_delete)
    values = {name: F.col(f"key{at}") for at, name in enumerate(key)}
    values |= {name: F.when(F.col(_HAS_ROW), F.col(_ROW).getField(name)) for name in others}
    return grouped.select(is_delete.alias(DELETE_COLUMN), *(values[name].alias(name) for name in names))


def _two_rows(key: Sequence[str], table: str) -> Column:
    values = F.to_json(F.struct(*(F.col(f"key{at}").alias(name) for at, name in enumerate(key))))
    head = f"[{RecordError.code}] a batch has two different rows of table '{table}' with the key "
    tail = (
        ": which one is the later is not known. Let the query have one row per key: GROUP BY the key, or keep the row "
        "with row_number() OVER (PARTITION BY key ORDER BY ... DESC) = 1."
    )
    return F.raise_error(F.concat(F.lit(head), values, F.lit(tail))).cast("boolean")


def _null_key(name: str, table: str) -> Column:
    return F.raise_error(
        F.lit(
            f"[{RecordError.code}] the column '{name}' is NULL in a row for table '{table}', and belongs to its "
            f"PRIMARY KEY. Leave such rows out (WHERE {name} IS NOT NULL), or give them a value with coalesce()."
        )
    ).cast("boolean")


def _is_comparable(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _is_comparable(data_type.elementType)
    if isinstance(data_type, StructType):
        return all(_is_comparable(each.dataType) for each in data_type)
    return not isinstance(data_type, MapType | VariantType)
