"""Resolves a definition into a table with bound names and types, or raises an error with its source position.

How it works. First everything that needs no types: names, metadata keys, the columns that expressions name, the
functions that they call; computed columns are substituted. Then one request for all types at once (`TypeOracle`:
Spark's analyser), and the rules about types: the attribute exists and is a timestamp, a processing time has no
watermark, a watermark has the type of its attribute, expressions are valid, and SYSTEM_WATERMARK() stands alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from datasources.grammar.source_text import SqlText
from datasources.sql.resolve.resolve_columns import Clauses, check_columns, check_partition_keys, check_primary_key
from datasources.sql.resolve.resolve_expressions import PROCTIME, Expression, Expressions, is_proctime, is_rowtime
from datasources.sql.resolve.resolve_spellings import AskType
from datasources.sql.resolve.resolve_watermarks import PendingWatermark, SourceTime, pending_watermarks
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedMetadata, ResolvedTable
from datasources.sql.statements.catalog_objects import Column, ComputedColumn, MetadataColumn, TableDefinition
from datasources.sql.text.error_location import Site
from datasources.sql.text.expression_names import names_of
from datasources.sql.text.substitute import references
from datasources.sql.types.expression_types import TypeOracle, TypeOracleError
from datasources.sql.types.type_names import spark_ddl

__all__ = ["TypeOracle", "TypeOracleError", "resolve"]

_MOMENT: Final = "TIMESTAMP"
_ANY_COLUMN: Final = {"__tidemark_any": "INT"}
_SOME_MOMENT: Final = "CAST(NULL AS TIMESTAMP)"
"""Placeholder of SYSTEM_ROWTIME() in type requests: the source's own columns are not known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """An expression whose type is asked."""

    text: str
    site: Site
    refusal: str = "Spark refuses the expression"


def resolve(  # noqa: PLR0913 - what a table depends on
    definition: TableDefinition,
    *,
    source: SqlText | None,
    metadata_types: Mapping[str, str],
    types: TypeOracle,
    source_watermark: SourceTime | None,
    non_deterministic: Collection[str] = (),
) -> ResolvedTable:
    """Return the table that a definition defines.

    In expressions a metadata column has its declared type, independent of the source's type.

    Args:
        definition: from a statement or a catalog.
        source: the statement, if the definition's spans point into it.
        metadata_types: the connector's metadata keys -> their types as Spark DDL.
        types: knows the types of expressions.
        source_watermark: what SYSTEM_ROWTIME() and SYSTEM_WATERMARK() are in this source; None = it has none.
        non_deterministic: the session's own functions, lower case, whose result differs from call to call.

    Raises:
        SqlError: naming the column or clause, and underlining the span if `source` is given.
    """
    clauses = Clauses(definition, source)
    check_columns(definition, clauses, metadata_types)
    primary_key = check_primary_key(definition, clauses)
    partition_keys = check_partition_keys(definition, clauses)
    rowtime = None if source_watermark is None else source_watermark[0]
    ask = _argument_types(definition, types)
    expressions = Expressions(definition, clauses, rowtime, non_deterministic, ask=ask)
    pending = _pending(definition, clauses, expressions, source_watermark)
    asked, asked_pending = expressions, pending
    if rowtime is not None and any(is_rowtime(e) for _, e in _computed(definition, expressions)):
        asked = Expressions(definition, clauses, _SOME_MOMENT, non_deterministic, ask=ask)
        asked_pending = _pending(definition, clauses, asked, (_SOME_MOMENT, _SOME_MOMENT))
    questions = dict(_questions(definition, asked, asked_pending))
    casts, cast_columns = _casts(definition, clauses, metadata_types)
    found = _ask(types, questions | casts, _declared_types(definition) | cast_columns)
    return ResolvedTable(
        name=definition.name,
        columns=tuple(_column(column, expressions, found) for column in definition.columns),
        metadata=tuple(_metadata(column, metadata_types) for column in _metadata_columns(definition)),
        watermarks=tuple(
            each.resolved(each.rowtime_type or found[_rowtime_key(index)], found.get(_watermark_key(index), _MOMENT))
            for index, each in enumerate(pending)
        ),
        primary_key=primary_key,
        partition_keys=partition_keys,
        options=definition.options,
    )


def _argument_types(definition: TableDefinition, types: TypeOracle) -> AskType:
    """Return what knows the types of arguments: of a column by its declaration, else the oracle is asked."""
    declared = {name.lower(): kind for name, kind in _declared_types(definition).items()}

    def ask(text: str) -> str:
        path = names_of(text).references
        if len(path) == 1 and text.strip().strip("`").lower() in declared:
            return declared[text.strip().strip("`").lower()].upper()
        named = references(text)
        needed = {name: kind for name, kind in declared.items() if name in named}
        try:
            return types.of({"argument": text}, needed or _ANY_COLUMN)["argument"].upper()
        except TypeOracleError as refusal:
            site = Site(clause=f"table '{definition.name}'")
            raise site.error(f"Spark refuses the expression {text}: {refusal.reason}") from None

    return ask


def _pending(
    definition: TableDefinition, clauses: Clauses, expressions: Expressions, source_time: SourceTime | None
) -> tuple[PendingWatermark, ...]:
    for name, _ in _computed(definition, expressions):
        expressions.column(name)  # refuses circles
    return pending_watermarks(definition, clauses, expressions, source_time)


def _questions(
    definition: TableDefinition, expressions: Expressions, pending: tuple[PendingWatermark, ...]
) -> Iterator[tuple[str, _Question]]:
    for name, expression in _computed(definition, expressions):
        if not is_proctime(expression):
            yield _column_key(name), _Question(text=expressions.column(name), site=expression.site)
    for index, each in enumerate(pending):
        if each.rowtime_type is None:
            yield _rowtime_key(index), _Question(text=each.rowtime, site=each.rowtime_site)
        if not each.is_source_watermark:
            yield _watermark_key(index), _Question(text=each.expression, site=each.expression_site)


def _casts(
    definition: TableDefinition, clauses: Clauses, metadata_types: Mapping[str, str]
) -> tuple[dict[str, _Question], dict[str, str]]:
    """Return questions that show whether metadata can be cast to the declared types (rule D8), and their columns."""
    questions: dict[str, _Question] = {}
    columns: dict[str, str] = {}
    for column in _metadata_columns(definition):
        given, declared = metadata_types[_key(column)], spark_ddl(column.type)
        if given.upper() != declared.upper():
            name = f"__tidemark_cast_{len(columns)}"
            columns[name] = given
            questions[name] = _Question(
                text=f"CAST({name} AS {declared})",
                site=clauses.column(column),
                refusal=f"the metadata '{_key(column)}' is {given} and cannot become {declared}",
            )
    return questions, columns


def _ask(types: TypeOracle, questions: Mapping[str, _Question], columns: Mapping[str, str]) -> Mapping[str, str]:
    """Return the types of expressions."""
    known = {name: _MOMENT for name, question in questions.items() if question.text == _SOME_MOMENT}
    asked = {name: q.text for name, q in questions.items() if name not in known}
    if not asked:
        return known
    # Every column costs the analyser time; one at least, since beside none an aggregate is a query of its own.
    named = frozenset[str]().union(*map(references, asked.values()))
    needed = {name: kind for name, kind in columns.items() if name.lower() in named}
    try:
        return {**known, **types.of(asked, needed or _ANY_COLUMN)}
    except TypeOracleError as refusal:
        question = questions[refusal.name]
        raise question.site.error(f"{question.refusal}: {refusal.reason}") from None


def _column(column: Column, expressions: Expressions, found: Mapping[str, str]) -> ResolvedColumn:
    if not isinstance(column, ComputedColumn):
        return ResolvedColumn(
            name=column.name,
            spark_type=spark_ddl(column.type),
            is_nullable=column.type.is_nullable,
            metadata_key=_key(column) if isinstance(column, MetadataColumn) else None,
            declared=column,
        )
    expression = expressions.computed(column.name)
    if expression is not None and is_proctime(expression):
        return ResolvedColumn(
            name=column.name,
            spark_type=_MOMENT,
            is_nullable=False,
            expression=PROCTIME,
            proctime=True,
            declared=column,
        )
    return ResolvedColumn(
        name=column.name,
        spark_type=_ddl(found[_column_key(column.name)]),
        expression=expressions.column(column.name),
        declared=column,
    )


def _ddl(spark_type: str) -> str:
    """Return a type as Spark's DDL names it; in a struct the case of names counts."""
    return spark_type if "<" in spark_type else spark_type.upper()


def _metadata(column: MetadataColumn, metadata_types: Mapping[str, str]) -> ResolvedMetadata:
    return ResolvedMetadata(name=column.name, key=_key(column), source_type=metadata_types[_key(column)])


def _key(column: MetadataColumn) -> str:
    return column.name if column.key is None else column.key


def _metadata_columns(definition: TableDefinition) -> Iterator[MetadataColumn]:
    return (column for column in definition.columns if isinstance(column, MetadataColumn))


def _computed(definition: TableDefinition, expressions: Expressions) -> Iterator[tuple[str, Expression]]:
    for column in definition.columns:
        expression = expressions.computed(column.name)
        if expression is not None:
            yield column.name, expression


def _declared_types(definition: TableDefinition) -> dict[str, str]:
    return {c.name: spark_ddl(c.type) for c in definition.columns if not isinstance(c, ComputedColumn)}


def _column_key(name: str) -> str:
    return f"column {name}"


def _rowtime_key(index: int) -> str:
    return f"rowtime {index}"


def _watermark_key(index: int) -> str:
    return f"watermark {index}"
