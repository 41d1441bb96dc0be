"""Turns the expressions of a table that was created in the dialect into Spark SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.expression_translator import ExpressionTranslator
from datasources.sql.flink.logical_types import normalized
from datasources.sql.flink.scope import Column, Scope, Source
from datasources.sql.flink.typed_value import Value
from datasources.sql.settings import SqlDialect
from datasources.sql.statements.catalog_objects import ComputedColumn, TableDefinition
from datasources.sql.text.word_cursor import Words


@dataclass(frozen=True, slots=True)
class TranslatedTable:
    """A definition in Spark SQL, and its columns with Flink's types."""

    definition: TableDefinition
    columns: tuple[Column, ...]


def translate_definition(table: TableDefinition, functions: Mapping[str, SqlType]) -> TranslatedTable:
    """Return a table of the dialect with its expressions in Spark SQL.

    Args:
        table: created in the dialect.
        functions: Python functions of the session, lower case, with the types of their results.

    Raises:
        SqlError: an expression is malformed, or has no meaning; it names the column.
    """
    known = {c.name: normalized(c.type) for c in table.columns if not isinstance(c, ComputedColumn)}
    computed = {c.name: c.expression for c in table.columns if isinstance(c, ComputedColumn)}
    texts: dict[str, str] = {}
    while len(texts) < len(computed):
        before = len(texts)
        for name, expression in computed.items():
            if name not in texts and not (_names(expression) & (computed.keys() - texts.keys() - {name})):
                value = _value(expression, known, functions, f"column '{name}' of table '{table.name}'")
                texts[name], known[name] = value.text, value.type
        if len(texts) == before:
            raise SqlError(f"table '{table.name}': computed columns name each other: {', '.join(sorted(computed))}.")
    columns = tuple(
        replace(each, expression=texts[each.name], span=None, expression_span=None)
        if isinstance(each, ComputedColumn)
        else each
        for each in table.columns
    )
    watermarks = tuple(
        replace(
            each,
            expression=_value(each.expression, known, functions, f"the watermark of table '{table.name}'").text,
            span=None,
            rowtime_span=None,
            expression_span=None,
        )
        for each in table.watermarks
    )
    return TranslatedTable(
        replace(table, columns=columns, watermarks=watermarks, dialect=SqlDialect.SPARK.value),
        tuple(Column(each.name, known[each.name]) for each in table.columns),
    )


def _names(expression: str) -> set[str]:
    words = Words.of(SqlText(expression))
    return {words[at].value for at in words.all if words.is_name(at)}


def _value(expression: str, known: Mapping[str, SqlType], functions: Mapping[str, SqlType], what: str) -> Value:
    source = SqlText(expression, name=what, what="expression")
    words = Words.of(source)
    scope = Scope((Source("", tuple(Column(name, kind) for name, kind in known.items())),))
    return ExpressionTranslator(words, None, functions).value(words.all, scope)
