"""SHOW CREATE TABLE, VIEW and FUNCTION: a definition as the statement that creates it.

A literal secret is shown as `******`, and a statement with that value is rejected; everything else parses back to an
equal definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datasources.grammar.literals import literal
from datasources.sql.definitions.option_secrets import shown
from datasources.sql.definitions.properties import Definition
from datasources.sql.settings import SqlDialect
from datasources.sql.statements.catalog_objects import (
    Column,
    ComputedColumn,
    FunctionDefinition,
    MetadataColumn,
    PrimaryKey,
    TableDefinition,
    ViewDefinition,
    WatermarkSpec,
)
from datasources.sql.text.flink_strings import with_flink_strings
from datasources.sql.text.quoting import name_text, path_text
from datasources.sql.types.type_names import sql_text


def show_create(definition: Definition) -> str:
    """Return the statement that defines an object, without a semicolon."""
    if isinstance(definition, FunctionDefinition):
        return function_text(definition)
    if isinstance(definition, TableDefinition):
        text = table_text(replace(definition, options=shown(definition.options)))
    else:
        text = view_text(definition)
    return with_flink_strings(text) if definition.dialect == SqlDialect.FLINK.value else text


def table_text(table: TableDefinition) -> str:
    """Return the CREATE TABLE statement, one element a line; options as they are, so secrets are the caller's."""
    elements = [column_text(each) for each in table.columns]
    elements += [watermark_text(each) for each in table.watermarks]
    if table.primary_key is not None:
        elements.append(key_text(table.primary_key))
    text = f"CREATE {_temporary(is_temporary=table.is_temporary)}TABLE {_object_text(table.name)}"
    if elements:
        text += " (\n  " + ",\n  ".join(elements) + "\n)"
    if table.comment is not None:
        text += f" COMMENT {literal(table.comment)}"
    if table.partition_keys is not None:
        text += f" PARTITIONED BY ({', '.join(name_text(each) for each in table.partition_keys.columns)})"
    return text + (f" WITH {options_text(table.options)}" if table.options else "")


def view_text(view: ViewDefinition) -> str:
    """Return the CREATE VIEW statement."""
    columns = f" ({', '.join(name_text(each) for each in view.columns)})" if view.columns else ""
    comment = "" if view.comment is None else f" COMMENT {literal(view.comment)}"
    head = f"CREATE {_temporary(is_temporary=view.is_temporary)}VIEW {_object_text(view.name)}"
    return f"{head}{columns}{comment} AS {view.query}"


def function_text(function: FunctionDefinition) -> str:
    """Return the CREATE FUNCTION statement."""
    head = f"CREATE {_temporary(is_temporary=function.is_temporary)}FUNCTION {_object_text(function.name)}"
    return f"{head} AS {literal(function.path)} LANGUAGE PYTHON"


def column_text(column: Column) -> str:
    """Return a column as a list of columns names it."""
    comment = "" if column.comment is None else f" COMMENT {literal(column.comment)}"
    if isinstance(column, ComputedColumn):
        return f"{name_text(column.name)} AS {column.expression}{comment}"
    text = f"{name_text(column.name)} {sql_text(column.type)}"
    if isinstance(column, MetadataColumn):
        key = "" if column.key is None else f" FROM {literal(column.key)}"
        text += f" METADATA{key}{' VIRTUAL' if column.is_virtual else ''}"
    return text + comment


def watermark_text(watermark: WatermarkSpec) -> str:
    """Return `WATERMARK FOR a.b AS expression`."""
    return f"WATERMARK FOR {path_text(watermark.rowtime)} AS {watermark.expression}"


def options_text(options: Mapping[str, str]) -> str:
    """Return options in parentheses, one a line."""
    pairs = (f"{literal(key)} = {literal(value)}" for key, value in options.items())
    return "(\n  " + ",\n  ".join(pairs) + "\n)"


def _object_text(name: str) -> str:
    """Return the name of an object: a plain one, or names with dots between them, which have their backquotes."""
    return name if "." in name else name_text(name)


def key_text(key: PrimaryKey) -> str:
    """Return `PRIMARY KEY (a, b) NOT ENFORCED`, with its name if it has one."""
    constraint = "" if key.name is None else f"CONSTRAINT {name_text(key.name)} "
    return f"{constraint}PRIMARY KEY ({', '.join(name_text(each) for each in key.columns)}) NOT ENFORCED"


def _temporary(*, is_temporary: bool) -> str:
    return "TEMPORARY " if is_temporary else ""
