"""Parses a query, rewrites our constructs, and returns the text for Spark."""

from __future__ import annotations

from datasources.grammar.source_text import Span, SqlText
from datasources.sql.query.block.block_context import QueryScope
from datasources.sql.query.block.planner_interface import Relations
from datasources.sql.query.block.relation import QueryPlan
from datasources.sql.query.block.statement_planning import Planning
from datasources.sql.query.block.survey import survey
from datasources.sql.query.rewriter import Rewriter
from datasources.sql.query.rules import RULES
from datasources.sql.query.scan.scanner import scan


def rewrite_query(source: SqlText, relations: Relations) -> QueryPlan:
    """Rewrite a query: SELECT, WITH, VALUES, TABLE, or a query in brackets.

    ``relations`` makes the views of tables and steps while the query is read.

    Raises:
        SqlError: something of ours is malformed or used where it cannot be, or the query is nested too deeply; names
            line and column.
    """
    try:
        return _rewritten(source, relations)
    except RecursionError as error:
        raise source.error(
            Span(0, 1), "the query is nested too deeply", "Put parts of it into views, or into temporary tables."
        ) from error


def _rewritten(source: SqlText, relations: Relations) -> QueryPlan:
    words, query = scan(source)
    found = survey(words, query, relations)
    planning = Planning(relations=relations, survey=found)
    planning.read_tables()
    rewriter = Rewriter(planning, words, RULES)
    rewriter.as_text(query, QueryScope())
    text = rewriter.edits.render(source.text, Span(0, len(source.text)))
    return QueryPlan(
        text=text,
        steps=tuple(planning.steps),
        uses=tuple(planning.uses.values()),
        is_untouched=text == source.text and not planning.steps,
        hints=tuple(planning.hints),
    )
