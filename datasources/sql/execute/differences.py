"""Expressions of statements in Spark's dialect that mean something else in Flink's, as warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasources.sql.flink.query_translator import find_differences
from datasources.sql.statements.statements import CreateView, Explain, Insert, Query, Statement, StatementSet

if TYPE_CHECKING:
    from datasources.grammar.source_text import SqlText
    from datasources.sql.execute.session_state import SessionState


def warnings_of(state: SessionState, statement: Statement) -> tuple[str, ...]:
    """Return what a statement in Spark's dialect would mean in Flink's, a sentence for each expression."""
    if isinstance(statement, Explain):
        return warnings_of(state, statement.statement)
    if isinstance(statement, StatementSet):
        return tuple(text for each in statement.inserts for text in warnings_of(state, each))
    if isinstance(statement, Insert):
        return differences_of(state, statement.query)
    if isinstance(statement, CreateView):
        return differences_of(state, statement.source.part(statement.query_span))
    return differences_of(state, statement.source) if isinstance(statement, Query) else ()


def differences_of(state: SessionState, query: SqlText) -> tuple[str, ...]:
    """Return what a query in Spark's dialect would mean in Flink's; nothing if it is in Flink's."""
    if state.is_flink:
        return ()
    found = find_differences(query, state.names())
    return tuple(
        f"line {query.line_and_column(each.span.start)[0]}, `{_short(query.of(each.span))}`: {each.meaning}."
        for each in found
    )


def _short(text: str) -> str:
    return " ".join(text.split())
