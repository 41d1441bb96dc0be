"""Windows in GROUP BY, the older way to write them.

SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, COUNT(*) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)
SELECT window_start AS s, COUNT(*) FROM __tidemark_1 AS orders GROUP BY window_start, window_end
"""

from __future__ import annotations

from dataclasses import replace

from datasources.grammar.literals import quoted
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import Relation
from datasources.sql.query.scan.constructs import GROUP_WINDOWS, WINDOW_AUXILIARIES
from datasources.sql.query.windows.window_arguments import group_window
from datasources.sql.query.windows.windows import WindowSpec, windowed
from datasources.sql.text.calls import Call, column_path
from datasources.sql.text.query_tree import Clause, FromItem, Region, SourceKind


def rewrite_group_windows(context: BlockContext) -> None:
    """Window what the block reads, and group by the window's columns."""
    window = _window(context)
    auxiliaries = list(context.calls(*WINDOW_AUXILIARIES))
    if window is None:
        for call in auxiliaries:
            raise context.error(
                context.words.span(call.region),
                f"{call.name} stands without GROUP BY {WINDOW_AUXILIARIES[call.name][0]}(...)",
                "Group by the window with the same arguments.",
            )
        return
    item, relation = _input(context, window)
    parts = context.words.split(window.inside)
    span = context.words.span(window.region)
    spec = group_window(context, window.name, span, parts, relation)
    if spec.kind == "SESSION":
        spec = _with_keys(context, spec, window)
        relation = _filtered(context, item, relation)
    context.relations[item] = windowed(context.planning, relation, spec)
    needs_time = any(WINDOW_AUXILIARIES[call.name][1] == "window_time" for call in auxiliaries)
    context.edits.replace(span, "window_start, window_end" + (", window_time" if needs_time else ""))
    for call in auxiliaries:
        _replace_auxiliary(context, call, window)


def _window(context: BlockContext) -> Call | None:
    """The window in GROUP BY, which is one whole item of it."""
    grouped = context.words.split(context.block.clause(Clause.GROUP_BY))
    found: Call | None = None
    for call in context.calls(*GROUP_WINDOWS):
        span = context.words.span(call.region)
        if call.region not in grouped:
            raise context.error(
                span,
                f"{call.name} stands for a group here",
                f"Use {call.name}_START or {call.name}_END outside of GROUP BY.",
            )
        if found is not None:
            raise context.error(span, "there are two windows in this GROUP BY", "Window one of them in a sub-query.")
        found = call
    return found


def _input(context: BlockContext, window: Call) -> tuple[FromItem, Relation]:
    only = context.only_source()
    if only is None and len(context.block.sources) == 1 and context.block.sources[0].kind is SourceKind.TABLE:
        item = context.block.sources[0]
        return item, context.planning.run(f"SELECT * FROM {context.words.source.of(item.source)}")
    if only is None:
        raise context.error(
            context.words.span(window.region),
            f"GROUP BY {window.name} needs one table, view or sub-query in FROM",
            "Put what it reads into a sub-query.",
        )
    return only


def _filtered(context: BlockContext, item: FromItem, relation: Relation) -> Relation:
    """Sessions are made of the rows that WHERE lets pass; other windows do not depend on them."""
    where = context.block.clause(Clause.WHERE)
    if not where:
        return relation
    condition = context.edits.render(context.words.source.text, context.words.span(where))
    alias = f" AS {quoted(item.alias)}" if item.alias else ""
    return context.planning.run(f"SELECT * FROM {relation.view}{alias} WHERE {condition}")


def _with_keys(context: BlockContext, spec: WindowSpec, window: Call) -> WindowSpec:
    """Sessions are partitioned by the other columns of GROUP BY."""
    keys: list[str] = []
    for region in context.words.split(context.block.clause(Clause.GROUP_BY)):
        if region == window.region:
            continue
        column = context.column(region)
        if column is None:
            raise context.error(
                context.words.span(region),
                "beside SESSION, GROUP BY takes columns only",
                "Compute the expression in a sub-query and group by its name.",
            )
        keys.append(column[1].name)
    return replace(spec, keys=tuple(keys))


def _replace_auxiliary(context: BlockContext, call: Call, window: Call) -> None:
    kind, column = WINDOW_AUXILIARIES[call.name]
    if kind != window.name or _key(context, call.inside) != _key(context, window.inside):
        raise context.error(
            context.words.span(call.region),
            f"{call.name} has other arguments than the {window.name} in GROUP BY",
            f"Write {window.name}{call.name.removeprefix(kind)}({context.text(window.inside)}).",
        )
    for item in context.block.items:
        if item.expression == call.region and column == "window_time":
            context.preserved.append(item.expression)
    context.edits.replace(context.words.span(call.region), column)


def _key(context: BlockContext, region: Region) -> tuple[str, ...]:
    """The tokens of arguments, to compare them whatever their case, blanks and qualifiers."""
    parts: list[str] = []
    for part in context.words.split(region):
        path = column_path(context.words, part)
        parts += [path[-1].lower()] if path else [context.words[at].text.upper() for at in part]
        parts.append(",")
    return tuple(parts)
