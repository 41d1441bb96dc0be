"""OVER of a stream: the operator below the attach step computes the aggregates as columns.

SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM t WHERE v > 0
SELECT id, __tidemark_over_1 AS s FROM __tidemark_over_t AS t

WHERE goes into the operator, because it comes before windows; the rest of the block stays as it is. A batch keeps
Spark's own OVER.
"""

from __future__ import annotations

from functools import partial

from datasources.grammar.literals import quoted
from datasources.grammar.source_text import Span
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import OverRequest, TableUse
from datasources.sql.query.windows.over_windows import OverCall, OverWindow, over_calls, over_window
from datasources.sql.text.query_tree import Clause, FromItem, Query, SourceKind
from datasources.sql.types.time_kind import TimeKind


def rewrite_over(context: BlockContext) -> None:
    """Replace the windows of a block by columns of the operator."""
    # What a window's top-N lists is ranked by an aggregate, and its ROW_NUMBER goes.
    if context.drops_row_watermark or not context.planning.is_streaming or not context.planning.touches_ours:
        return
    found = list(over_calls(context)) if any(map(partial(_reads_ours, context), context.block.sources)) else []
    if not found:
        return
    item, use = _table(context, found[0])
    windows = [over_window(context, each, item, context.relations[item]) for each in found]
    for each, window in zip(found, windows, strict=True):
        if window != windows[0]:
            raise context.error(
                context.words.span(each.region),
                "the windows of one SELECT of a stream must be the same",
                "Compute the other one in a query of its own, and join both on a key and the time.",
            )
    _refuse_other_clauses(context, found[0])
    aggregates = {context.planning.new_column("over"): _text(context, each) for each in found}
    context.relations[item] = context.planning.relations.over(
        use, _request(context, item, windows[0], aggregates, found)
    )
    context.hidden += aggregates
    for each, name in zip(found, aggregates, strict=True):
        _replace(context, each, name)
    where = context.block.clause(Clause.WHERE)
    if where:
        keyword = context.words[where.first - 1].span
        context.edits.remove(context.words.source.text, Span(keyword.start, context.words.span(where).end))


def _reads_ours(context: BlockContext, item: FromItem) -> bool:
    """Whether a table of ours is below."""
    if item in context.relations:
        return True
    entry = context.scope.find(item.name) if item.kind is SourceKind.TABLE else None
    query = item.query if entry is None else entry.cte.query
    terms = () if query is None else query.terms
    inner = [source for term in terms for source in (() if isinstance(term, Query) else term.sources)]
    if item.kind is SourceKind.TABLE and entry is None:
        planning = context.planning
        return item.name.lower() in planning.tables or item.name.lower() in planning.survey.views
    return any(_reads_ours(context, each) for each in (*inner, *item.items))


def _request(
    context: BlockContext, item: FromItem, window: OverWindow, aggregates: dict[str, str], found: list[OverCall]
) -> OverRequest:
    where = context.block.clause(Clause.WHERE)
    source = context.words.source
    return OverRequest(
        keys=window.keys,
        attribute=window.attribute.name,
        is_processing_time=window.attribute.time is TimeKind.PROCTIME,
        is_rows=window.is_rows,
        preceding=window.preceding,
        aggregates=aggregates,
        alias=item.alias,
        condition=context.edits.render(source.text, context.words.span(where)) if where else None,
        shown=" ".join(source.of(context.words.span(found[0].region)).split()),
    )


def _table(context: BlockContext, over: OverCall) -> tuple[FromItem, TableUse]:
    """The table that the block reads as it is."""
    only = context.only_source()
    use = None
    if only is not None and only[0].kind is SourceKind.TABLE and context.scope.find(only[0].name) is None:
        use = context.planning.uses.get(only[0].name.lower())
    if only is None or use is None:
        raise context.error(
            context.words.span(over.region),
            "OVER of a stream reads one table of the catalog",
            "Put it into a sub-query or view of its own: SELECT ..., SUM(v) OVER (...) AS s FROM t WHERE ...",
        )
    return only[0], use


def _refuse_other_clauses(context: BlockContext, over: OverCall) -> None:
    span = context.words.span(over.region)
    if context.is_aggregated or context.block.clause(Clause.QUALIFY):
        raise context.error(
            span,
            "OVER of a stream stands in a SELECT without GROUP BY, DISTINCT and QUALIFY",
            "Put it into a sub-query.",
        )
    if context.block.nested and context.block.clause(Clause.WHERE):
        raise context.error(span, "WHERE beside OVER of a stream holds no query", "Put OVER into a sub-query.")


def _text(context: BlockContext, over: OverCall) -> str:
    return context.edits.render(context.words.source.text, context.words.span(over.aggregate))


def _replace(context: BlockContext, over: OverCall, name: str) -> None:
    words = context.words
    is_unnamed = any(each.expression == over.region and each.alias is None for each in context.block.items)
    written = " ".join(words.text(over.region).split())
    alias = f" AS {quoted(written)}" if is_unnamed else ""
    context.edits.replace(words.span(over.region), name + alias)
