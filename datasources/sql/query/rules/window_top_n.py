"""The first rows of each window: top-N, and duplicates removed (N = 1).

    SELECT ... FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS rn
                     FROM w) WHERE rn <= 3

Streams have no ROW_NUMBER. The sub-query becomes two steps: one computes the listed columns and the expressions of
ORDER BY and PARTITION BY; one keeps the N first rows of each group in an aggregate of bounded size and numbers them.
The outer query stays as it is. Ties in the ORDER BY are broken by the other columns, so the result does not depend on
the order of arrival. Batches are rewritten in the same way, for the same result.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasources.errors import UpdatingQueryError
from datasources.sql.query.block.block_context import BlockContext, CteEntry, QueryScope, find_column
from datasources.sql.query.windows.ranking import Ranking, ranking_of, row_bound
from datasources.sql.query.windows.top_rows import TopRows, top_rows
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import Block, FromItem, Query, SourceKind


def rewrite_window_top_n(context: BlockContext) -> None:
    """Replace a sub-query or CTE that ranks the rows of windows."""
    if not context.planning.touches_ours:
        return
    for item in context.block.sources:
        entry = context.scope.find(item.name) if item.kind is SourceKind.TABLE else None
        query = item.query if entry is None else entry.cte.query
        if query is None or item.is_lateral or (entry is not None and entry.cte.columns):
            continue
        ranked = _ranked(context, query)
        if ranked is not None:
            _replace(context, item, ranked, entry)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A query that is one block, which ranks."""

    query: Query
    block: Block
    ranking: Ranking


def _ranked(context: BlockContext, query: Query) -> _Ranked | None:
    if query.operators or not isinstance(query.terms[0], Block):
        return None
    block = query.terms[0]
    ranking = ranking_of(context.words, block)
    return None if ranking is None else _Ranked(query, block, ranking)


def _replace(context: BlockContext, item: FromItem, ranked: _Ranked, entry: CteEntry | None) -> None:
    query, block, ranking = ranked.query, ranked.block, ranked.ranking
    names = {path[-1].lower() for path in ranking.partition_paths}
    if not names >= {"window_start", "window_end"}:
        if context.planning.is_streaming and _reads_ours(context, block) and not _is_by_time(context, ranked):
            error = context.error(
                context.words.span(ranking.region),
                "rows of a stream are numbered inside of windows or by time, upwards",
                "Write PARTITION BY window_start, window_end over a windowed table, or ORDER BY a time attribute.",
            )
            raise UpdatingQueryError(error.message)
        return
    bound = row_bound(context, ranking.name, item)
    if bound is None:
        if not context.planning.is_streaming:
            return
        raise context.error(
            context.words.span(ranking.region),
            "how many rows of each window are wanted is not known",
            f"Write WHERE {ranking.name} <= 3 around it, with a constant.",
        )
    scope = context.scope if entry is None else entry.scope
    inner = QueryScope(entries=dict(scope.entries), parent=scope.parent, is_detached=True)
    for cte in query.ctes:
        defining = QueryScope(entries=dict(inner.entries), parent=scope.parent, is_detached=True)
        inner.entries[cte.name.lower()] = CteEntry(cte, defining)
    wanted = TopRows(block=block, ranking=ranking, bound=bound, shown=context.words.source.of(query.span))
    relation = top_rows(context, inner, wanted)
    context.relations[item] = relation
    if entry is not None and entry.relation is None:
        entry.relation = relation


def _is_by_time(context: BlockContext, ranked: _Ranked) -> bool:
    """Whether rows of one table are numbered by its time attribute: OVER does that."""
    (term, *others), sources = ranked.ranking.order, ranked.block.sources
    if others or term.is_descending or len(sources) != 1 or sources[0].kind is not SourceKind.TABLE:
        return False
    relation = context.planning.tables.get(sources[0].name.lower())
    path = column_path(context.words, term.region)
    if relation is None or path is None:
        return False
    column = find_column(relation, path[-1:])
    return column is not None and column.time is not None


def _reads_ours(context: BlockContext, block: Block) -> bool:
    """Whether a block may read a stream of ours: anything but tables of Spark's alone."""
    known = context.rewriter.planning
    return any(
        item.kind is not SourceKind.TABLE
        or context.scope.find(item.name) is not None
        or item.name.lower() in known.tables
        or item.name.lower() in known.survey.views
        for item in block.sources
    )
