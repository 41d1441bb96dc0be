"""DESCRIBE: one row per column, in the format of Flink."""

from __future__ import annotations

from typing import Final

from datasources.grammar.literals import literal
from datasources.grammar.spark_type_names import sql_name_of
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedTable
from datasources.sql.statements.catalog_objects import ComputedColumn, MetadataColumn
from datasources.sql.text.quoting import path_text
from datasources.sql.types.time_kind import TimeKind
from datasources.sql.types.type_names import sql_text

_HEADERS: Final = ("name", "type", "null", "key", "extras", "watermark")


def describe(resolved: ResolvedTable) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the names of DESCRIBE's columns, and its rows; `comment` is among them if a column has one."""
    has_comment = any(_comment(column) for column in resolved.columns)
    headers = (*_HEADERS, "comment") if has_comment else _HEADERS
    return headers, tuple(_row(resolved, column)[: len(headers)] for column in resolved.columns)


def _row(table: ResolvedTable, column: ResolvedColumn) -> tuple[str, ...]:
    in_key = column.name in table.primary_key
    return (
        column.name,
        _type(table, column),
        "FALSE" if in_key or not column.is_nullable else "TRUE",
        f"PRI({', '.join(table.primary_key)})" if in_key else "",
        _extras(table, column),
        "; ".join(_watermarks(table, column)),
        _comment(column),
    )


def _type(table: ResolvedTable, column: ResolvedColumn) -> str:
    if column.proctime:
        return "TIMESTAMP_LTZ(3) *PROCTIME*"
    declared = column.declared
    if declared is None or isinstance(declared, ComputedColumn):
        name = sql_name_of(column.spark_type)
    else:
        name = sql_text(declared.type).removesuffix(" NOT NULL")
    return f"{name} *ROWTIME*" if table.time_of(column) is TimeKind.ROWTIME else name


def _extras(table: ResolvedTable, column: ResolvedColumn) -> str:
    declared = column.declared
    if column.name in table.partition_keys:
        return "PARTITION KEY"
    if isinstance(declared, ComputedColumn):
        return f"AS {declared.expression}"
    if isinstance(declared, MetadataColumn):
        key = "" if declared.key is None else f" FROM {literal(declared.key)}"
        return f"METADATA{key}{' VIRTUAL' if declared.is_virtual else ''}"
    return ""


def _watermarks(table: ResolvedTable, column: ResolvedColumn) -> list[str]:
    """Return the watermarks of a column; one of a nested field is marked as such."""
    found = [each for each in table.watermarks if each.path[0] == column.name]
    return [each.written if len(each.path) == 1 else f"{path_text(each.path)}: {each.written}" for each in found]


def _comment(column: ResolvedColumn) -> str:
    return "" if column.declared is None else column.declared.comment or ""
