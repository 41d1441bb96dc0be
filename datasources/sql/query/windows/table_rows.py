"""Relations that are rows of one table: projections and filters of it, as views and sub-queries make them.

Operators that read a stream below the attach step (SESSION windows) can run above such layers: each keeps the hidden
columns of a row, and every heartbeat.
"""

from __future__ import annotations

from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.grammar.literals import quoted
from datasources.grammar.source_text import SqlText
from datasources.sql.query.block.relation import QueryStep, Relation, RowLayer, TableRows
from datasources.sql.query.block.statement_planning import Planning
from datasources.sql.query.scan.scanner import scan
from datasources.sql.text.calls import is_star
from datasources.sql.text.query_tree import Block, Clause, Query, SourceKind
from datasources.sql.text.word_cursor import Words

_CLAUSES: Final = frozenset({Clause.SELECT, Clause.FROM, Clause.WHERE})


def rows_of_table(planning: Planning, relation: Relation) -> TableRows | None:
    """Return the table whose rows a relation has, with the layers above it; None if it is anything else."""
    layers: list[RowLayer] = []
    while True:
        table = next((name for name, each in planning.tables.items() if each.view == relation.view), None)
        if table is not None:
            return TableRows(use=planning.uses[table], layers=tuple(reversed(layers)))
        step = next((each for each in planning.steps if each.view == relation.view), None)
        found = None if step is None else _layer(planning, step)
        if found is None:
            return None
        layer, relation = found
        layers.append(layer)


def _layer(planning: Planning, step: QueryStep) -> tuple[RowLayer, Relation] | None:
    words, query = scan(SqlText(step.text))
    block = _only_block(query)
    if step.window is not None or block is None or not _is_row_by_row(words, block):
        return None
    (source,) = block.sources
    base = planning.relation_of_view(source.name)
    if base is None:
        return None
    items: list[str] = []
    for item in block.items:
        if is_star(words, item.expression.last - 1):
            items += [quoted(column.name) for column in base.columns]
        else:
            items.append(words.source.of(item.span))
    where = block.clause(Clause.WHERE)
    return RowLayer(items=tuple(items), alias=source.alias, condition=words.text(where) or None), base


def _only_block(query: Query) -> Block | None:
    only = query.terms[0]
    return only if isinstance(only, Block) and not query.operators and not query.ctes else None


def _is_row_by_row(words: Words, block: Block) -> bool:
    if block.is_distinct or block.has_more or block.nested or not block.clauses.keys() <= _CLAUSES:
        return False
    if len(block.sources) != 1 or block.sources[0].kind is not SourceKind.TABLE:
        return False
    return not any(token.word == "OVER" or token.kind is TokenKind.HINT for token in words.tokens)
