"""The columns of a query under the names and types of the table that they are written into."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.grammar.literals import quoted
from datasources.grammar.spark_type_names import sql_name_of
from datasources.sql.statements.catalog_objects import PhysicalColumn
from datasources.sql.types.assignability import is_assignable
from datasources.sql.types.type_names import sql_text

_LITERAL: Final = re.compile(r"(?:DATE|TIMESTAMP)?\s*'(?:[^'\\]|''|\\.)*'|[+-]?[0-9.]+|TRUE|FALSE|NULL", re.IGNORECASE)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

    from datasources.sql.resolve.resolved_table import ResolvedTable
    from datasources.sql.statements.statements import Insert


def written_columns(table: ResolvedTable, statement: Insert) -> list[str]:
    """Return the names, in lower case, of the columns that an INSERT writes, in the order of its query's columns."""
    given = {key.lower() for key, value in statement.partition.items() if value is not None}
    stored = [column.name.lower() for column in table.columns if column.is_physical]
    return [name.lower() for name in statement.columns] or [name for name in stored if name not in given]


def fitted(frame: DataFrame, table: ResolvedTable, statement: Insert, *, carried: tuple[str, ...] = ()) -> DataFrame:
    """Return the query's columns under the sink's names and types, matched by position as in standard SQL.

    The first columns of the query stay in front, under the names of ``carried``.

    Raises:
        SqlError: they do not fit in number or type.
    """
    stored = {c.name.lower(): c for c in table.columns if c.is_physical}
    wanted = written_columns(table, statement)
    literals = _literals(table, statement)
    for name in wanted:
        if name not in stored:
            raise statement.source.error(
                statement.target_span,
                f"table '{table.name}' has no stored column '{name}'",
                f"It has {', '.join(c.name for c in stored.values())}.",
            )
    columns = frame.columns[len(carried) :]
    if len(columns) != len(wanted):
        raise statement.source.error(
            statement.query_span,
            f"the query has {len(columns)} columns ({', '.join(columns)}) and table '{table.name}' takes "
            f"{len(wanted)} ({', '.join(wanted)})",
        )
    given = frame.toDF(*carried, *(f"__column_{i}" for i in range(len(wanted))))
    values = {name: F.col(f"__column_{i}").cast(stored[name].spark_type) for i, name in enumerate(wanted)}
    values |= {name: F.expr(literal).cast(stored[name].spark_type) for name, literal in literals.items()}
    frame_of_table = given.select(
        *carried,
        *(values.get(name, F.lit(None).cast(column.spark_type)).alias(column.name) for name, column in stored.items()),
    )
    fields = frame.schema.fields[len(carried) :]
    _check_types(fields, frame_of_table, [stored[name].name for name in wanted], table, statement)
    return frame_of_table


def _literals(table: ResolvedTable, statement: Insert) -> dict[str, str]:
    """Return the literals of PARTITION by column, lower case.

    Raises:
        SqlError: a column is no partition key, is written by the query as well, or has no literal.
    """
    keys = {name.lower() for name in table.partition_keys}
    written = {name.lower() for name in statement.columns}
    found = {}
    for name, text in statement.partition.items():
        if name.lower() not in keys:
            listed = f"Its partition keys: {', '.join(table.partition_keys)}." if keys else "It has no partitions."
            raise statement.source.error(
                statement.target_span, f"'{name}' is no partition key of table '{table.name}'", listed
            )
        if text is None:
            continue
        if name.lower() in written:
            raise statement.source.error(statement.target_span, f"column '{name}' is written twice", "Leave one out.")
        if _LITERAL.fullmatch(text) is None:
            raise statement.source.error(
                statement.target_span, f"the value of '{name}' in PARTITION is a literal, not {text}", "Select it."
            )
        found[name.lower()] = text
    return found


def _check_types(
    fields: Sequence[StructField], fitted: DataFrame, columns: list[str], table: ResolvedTable, statement: Insert
) -> None:
    """Refuse a query whose column's type is not one that its column of the sink takes."""
    declared = {c.name: c.declared for c in table.columns}
    for given, name in zip(fields, columns, strict=True):
        wanted = fitted.schema[name].dataType
        if is_assignable(given.dataType, wanted):
            continue
        column = declared[name]
        kind = sql_text(column.type).removesuffix(" NOT NULL") if isinstance(column, PhysicalColumn) else str(wanted)
        raise statement.source.error(
            statement.query_span,
            f"column '{name}' of table '{table.name}' is {kind}, and the query gives '{given.name}', which is "
            f"{sql_name_of(given.dataType.simpleString())}",
            f"Write CAST({quoted(given.name)} AS {kind}) in the query if that is meant.",
        )
