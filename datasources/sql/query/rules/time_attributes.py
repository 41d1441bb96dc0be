"""Determines which columns of a step are time attributes, as far as Spark does not know.

Spark propagates the metadata of a column through names and drops it where a value is computed. It does not know that
joins, grouping and DISTINCT make ordinary timestamps, nor where an attribute was lost, which error messages name.
"""

from __future__ import annotations

from collections.abc import Iterator

from datasources.sql.query.block.block_context import BlockContext, output_name
from datasources.sql.query.block.relation import Relation, RelationColumn
from datasources.sql.query.joins.interval_joins import is_time_keeping_join
from datasources.sql.text.calls import calls, column_path, is_star
from datasources.sql.text.query_tree import Clause, Region, SelectItem


def note_time_attributes(context: BlockContext) -> None:
    """Note the time attributes that the columns of a step lose."""
    if not context.is_step:
        return
    cause = _cause(context)
    for item in context.block.items:
        if item.expression in context.preserved:
            continue
        for name, column in _passed_on(context, item):
            if cause is not None and column.time is not None and not _is_preserved_group(context, column):
                context.lost[name] = f"{cause} makes '{column.name}' an ordinary timestamp"
        _note_expression(context, item)


def _cause(context: BlockContext) -> str | None:
    """What makes ordinary timestamps of all attributes that the block passes on."""
    if context.block.clause(Clause.GROUP_BY) or context.block.clause(Clause.HAVING):
        return "GROUP BY"
    if context.block.is_distinct:
        return "DISTINCT"
    if len(context.relations) > 1 and not is_time_keeping_join(context):
        return "a regular join"
    return None


def _passed_on(context: BlockContext, item: SelectItem) -> Iterator[tuple[str, RelationColumn]]:
    """The columns that a select item passes on as they are, with their new names."""
    words, region = context.words, item.expression
    if is_star(words, region.last - 1) or (words.symbol(region.first) == "*" and is_star(words, region.first)):
        for relation in _starred(context, region):
            yield from ((column.name, column) for column in relation.columns)
        return
    found = context.column(region)
    name = output_name(words, item)
    if found is not None and name is not None:
        yield name, found[1]


def _starred(context: BlockContext, region: Region) -> Iterator[Relation]:
    words = context.words
    qualifier = words[region.first].value.lower() if words.is_name(region.first) else None
    for item, relation in context.relations.items():
        if qualifier is None or item.alias.lower() == qualifier:
            yield relation


def _is_preserved_group(context: BlockContext, column: RelationColumn) -> bool:
    """Whether GROUP BY keeps an attribute: window_time beside the window."""
    words = context.words
    paths = (column_path(words, each) for each in words.split(context.block.clause(Clause.GROUP_BY)))
    grouped = {path[-1].lower() for path in paths if path is not None}
    return column.name.lower() == "window_time" and grouped >= {"window_start", "window_end", "window_time"}


def _note_expression(context: BlockContext, item: SelectItem) -> None:
    """Remember why a computed column is no time attribute although its expression contains one."""
    words = context.words
    if item.alias is None or column_path(words, item.expression) is not None:
        return
    is_call = any(call.region == item.expression for call in calls(words, item.expression))
    for at in item.expression:
        if not words.is_name(at) or words.symbol(at + 1) == "(" or words.symbol(at - 1) == ".":
            continue
        end = at + 1
        while words.symbol(end) == "." and words.is_name(end + 1):
            end += 2
        found = context.column(Region(at, end))
        if found is not None and found[1].time is not None:
            what = f"{words[item.expression.first].word}(...)" if is_call else "an expression"
            context.lost[item.alias] = f"{what} over '{found[1].name}' gives an ordinary timestamp"
            return
