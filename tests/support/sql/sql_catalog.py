"""Definitions from statements, types from a table, and resolved tables as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from datasources.grammar.source_text import SqlText
from datasources.sql.definitions.alter_table import alter
from datasources.sql.definitions.create_like import merge_like
from datasources.sql.definitions.option_secrets import MASK
from datasources.sql.definitions.properties import Definition
from datasources.sql.definitions.show_create import show_create
from datasources.sql.execute.describe import describe
from datasources.sql.parse import parse_statement
from datasources.sql.resolve.resolved_table import ResolvedTable
from datasources.sql.resolve.table_resolver import TypeOracleError, resolve
from datasources.sql.statements.catalog_objects import TableDefinition
from datasources.sql.statements.statements import AlterTable, CreateFunction, CreateTable, CreateView

__all__ = [
    "KAFKA_METADATA",
    "KAFKA_TIME",
    "TypeTable",
    "altered",
    "created",
    "described",
    "liked",
    "printed",
    "resolved",
    "shown_again",
    "table",
]

KAFKA_METADATA: Final = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP",
    "headers": "MAP<STRING, BINARY>",
}
KAFKA_TIME: Final = ("_source_time", "_source_time - INTERVAL '0.001' SECOND")


@dataclass
class TypeTable:
    """Knows the types that it was told; anything else is refused as Spark would."""

    types: Mapping[str, str]
    columns: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def of(self, expressions: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
        """Return the types; see `TypeOracle`."""
        self.columns = dict(columns)
        self.asked.append(dict(expressions))
        for name, text in expressions.items():
            if text not in self.types:
                raise TypeOracleError(name, f"no type for {text!r}")
        return {name: self.types[text] for name, text in expressions.items()}


def created(text: str) -> CreateTable:
    """Return a CREATE TABLE statement."""
    statement = parse_statement(SqlText(text))
    assert isinstance(statement, CreateTable)
    return statement


def table(text: str) -> TableDefinition:
    """Return the table that a statement defines."""
    return created(text).table


def resolved(text: str, types: Mapping[str, str] | None = None, *, has_positions: bool = True) -> ResolvedTable:
    """Resolve a table as one of Kafka's.

    Args:
        text: CREATE TABLE.
        types: of its expressions.
        has_positions: False = as if it came from a catalog.
    """
    statement = created(text)
    connector = statement.table.options.get("connector", "kafka")
    is_kafka = connector == "kafka"
    return resolve(
        statement.table,
        source=statement.source if has_positions else None,
        metadata_types=KAFKA_METADATA if is_kafka else {},
        types=TypeTable(types or {}),
        source_watermark=KAFKA_TIME if is_kafka else None,
    )


def printed(found: ResolvedTable) -> str:
    """Return a resolved table, a line for each column and watermark."""
    return "\n".join(_lines(found)) or "(no columns)"


def described(text: str, types: Mapping[str, str]) -> str:
    """Return what DESCRIBE shows, cells between bars."""
    headers, rows = describe(resolved(text, types))
    return "\n".join(" | ".join(row).rstrip() for row in (headers, *rows))


def liked(text: str) -> str:
    """Return the merged table of two statements, with a line `--` between them, as SHOW CREATE TABLE shows it."""
    base, own = text.split("\n--\n")
    return show_create(merge_like(table(base), created(own)))


def altered(text: str) -> str:
    """Return the table of a first statement after ALTER statements, with lines `--` between them."""
    first, *actions = text.split("\n--\n")
    definition = table(first)
    for action in actions:
        statement = parse_statement(SqlText(action))
        assert isinstance(statement, AlterTable)
        definition = alter(definition, statement.action, statement.source)
    return show_create(definition)


def shown_again(text: str) -> str:
    """Return SHOW CREATE of a statement's object; what it shows makes an equal object, but for secrets."""
    statement = parse_statement(SqlText(text))
    assert isinstance(statement, CreateTable | CreateView | CreateFunction)
    shown = show_create(_definition(statement))
    again = parse_statement(SqlText(shown))
    assert isinstance(again, CreateTable | CreateView | CreateFunction)
    assert MASK in shown or _definition(again) == _definition(statement)
    return shown


def _definition(statement: CreateTable | CreateView | CreateFunction) -> Definition:
    if isinstance(statement, CreateTable):
        return statement.table
    return statement.view if isinstance(statement, CreateView) else statement.function


def _lines(found: ResolvedTable) -> Iterator[str]:
    for column in found.columns:
        parts = [column.name, column.spark_type]
        parts += [] if column.is_nullable else ["NOT NULL"]
        parts += ["PROCTIME"] if column.proctime else []
        parts += [f"METADATA {column.metadata_key}"] if column.metadata_key else []
        parts += [f"= {column.expression}"] if column.expression is not None else []
        yield " ".join(parts)
    for each in found.metadata:
        yield f"metadata {each.name} <- {each.key} {each.source_type}"
    for each in found.watermarks:
        source = "of the source " if each.is_source_watermark else ""
        yield (
            f"watermark {source}{'.'.join(each.path)} {each.spark_type}: {each.rowtime} -> {each.expression} "
            f"{each.datatype} [{each.written}]"
        )
    if found.primary_key:
        yield f"key {', '.join(found.primary_key)}"
