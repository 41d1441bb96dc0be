"""Checks before a query starts: the server, the login, and that the tables match the declared columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa

from datasources.errors import SchemaError, SourceUnavailable
from datasources.formats.schema_text.ddl_types import type_text
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.preflight.check import run_preflight
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.tables.table_schema import TableSchema
from datasources.mysql.types import ColumnType, arrow_type

_SHOWN: Final = 5
_SIGNED: Final = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


def require_ready(wanted: Wanted) -> None:
    """Raise if the preflight found a problem.

    Raises:
        SourceUnavailable: with the problems, and the statements that fix them.
    """
    preflight = run_preflight(wanted)
    problems = [finding for finding in preflight.findings if finding.severity is Severity.PROBLEM]
    if problems:
        listed = " ".join(_sentence(problem) for problem in problems[:_SHOWN])
        more = f" And {len(problems) - _SHOWN} more." if len(problems) > _SHOWN else ""
        raise SourceUnavailable(
            f"the server {preflight.server} ({preflight.version}) cannot be read as it is. {listed}{more} "
            f"`tidemark mysql check` shows every check."
        )


def common_columns(schemas: Iterable[TableSchema], captured: CapturedTables, login: str) -> pa.Schema:
    """Return the common columns of tables, which must all be equal.

    Raises:
        SchemaError: they differ, there is no table, or a column has no exact counterpart.
    """
    found: TableSchema | None = None
    for schema in schemas:
        if schema.unreadable:
            _, why = schema.unreadable[0]
            raise SchemaError(f"table {schema.name}: {why} Name the columns to read in option 'schema'.")
        if found is not None and _arrow(found) != _arrow(schema):
            raise SchemaError(
                f"the tables {found.name} and {schema.name} have different columns: {_difference(found, schema)}. Name "
                f"those that all have in option 'schema', or read them by a source each."
            )
        found = found or schema
    if found is None:
        raise SchemaError(
            f"no table that {login} can see matches 'database-name' = '{captured.databases}' and 'table-name' = "
            f"'{captured.tables}'. Both are regular expressions that whole names match; a login sees only what it may "
            f"read: correct them, or GRANT SELECT on the tables (`tidemark mysql check` writes the statement)."
        )
    return _arrow(found)


def require_columns(schema: TableSchema, declared: pa.Schema) -> None:
    """Raise if a table lacks a declared column, or its type cannot represent the values.

    Raises:
        SchemaError: naming the column and the type to declare.
    """
    known = {column.name: column.type for column in schema.columns}
    for field in declared:
        if field.name not in known:
            raise _no_such_column(schema, field.name, known)
        own = arrow_type(known[field.name])
        if not can_represent(field.type, own):
            raise SchemaError(
                f"column '{field.name}' of table {schema.name} is {type_text(own)} in Spark and was declared as "
                f"{type_text(field.type)}: declare it as {type_text(own)}."
            )


def require_no_other_columns(schema: TableSchema, declared: pa.Schema) -> None:
    """Raise if a table has a column that is not declared.

    Raises:
        SchemaError: naming it.
    """
    others = [column.name for column in schema.columns if column.name not in declared.names]
    others += [name for name, _ in schema.unreadable if name not in declared.names]
    if others:
        raise undeclared_columns(others, schema.name, "now")


def undeclared_columns(names: Sequence[str], table: str, since: str) -> SchemaError:
    """Return the error of columns that a table has and that are not read, with a hint."""
    listed = " and ".join(f"'{name}'" for name in names)
    return SchemaError(
        f"table {table} has the column{'s' if len(names) > 1 else ''} {listed} {since}, and 'schema.change.behavior' = "
        f"'exception': add it to the option 'schema', and restart with 'watermark.on-change' = 'continue', or set "
        f"'schema.change.behavior' to 'ignore' to leave it out."
    )


def _sentence(finding: Finding) -> str:
    subject = f" {finding.subject}" if finding.subject else ""
    fix = f" Do: {' '.join(finding.fix)}" if finding.fix else ""
    return f"{finding.check}{subject}: {finding.found}. {finding.why}{fix}"


def _arrow(schema: TableSchema) -> pa.Schema:
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in schema.columns])


def _difference(one: TableSchema, other: TableSchema) -> str:
    first, second = ({column.name: arrow_type(column.type) for column in each.columns} for each in (one, other))
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) != second.get(name):
            return f"'{name}' is {first.get(name) or 'missing'} and {second.get(name) or 'missing'}"
    return "their order"


def _no_such_column(schema: TableSchema, name: str, known: dict[str, ColumnType]) -> SchemaError:
    for own, why in schema.unreadable:
        if own == name:
            return SchemaError(f"table {schema.name}: {why}")
    similar = [own for own in known if own.lower() == name.lower()]
    advice = f"write it as the table does, '{similar[0]}'" if similar else f"its columns are {', '.join(known)}"
    return SchemaError(f"table {schema.name} has no column '{name}': {advice}.")


def can_represent(declared: pa.DataType, own: pa.DataType) -> bool:
    """Return whether a declared type can represent a column's values; BIGINT for 20 digits as long as they fit."""
    if declared == own:
        return True
    if own in _SIGNED:
        is_wider = declared in _SIGNED and _SIGNED.index(declared) >= _SIGNED.index(own)
        return is_wider or (own == pa.int8() and pa.types.is_boolean(declared))
    if pa.types.is_decimal128(own):
        return _can_represent_decimal(declared, own)
    return bool(own == pa.float32() and declared == pa.float64())


def _can_represent_decimal(declared: pa.DataType, own: pa.DataType) -> bool:
    if own == pa.decimal128(20, 0) and declared == pa.int64():
        return True
    return bool(
        pa.types.is_decimal128(declared)
        and declared.scale >= own.scale
        and declared.precision - declared.scale >= own.precision - own.scale
    )
