"""Temporal joins: the operator below the attach step reads both tables.

SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k
SELECT o.id, o.rate FROM tidemark_orders_1 AS o

The joins become one relation that replaces the probe, with its alias. Batches are joined in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from datasources.errors import QueryError
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import TableUse
from datasources.sql.query.block.table_filter import all_of, conjuncts, plain_condition
from datasources.sql.query.block.temporal_request import TemporalBuild, TemporalRequest
from datasources.sql.query.joins.join_conditions import conjuncts_of, sides_of
from datasources.sql.query.joins.joined_columns import JoinedColumns, JoinSide
from datasources.sql.query.joins.snapshots import Loading, loading_of
from datasources.sql.query.joins.temporal_joins import Probe, TemporalJoin, as_of_column, probe_of, temporal_joins
from datasources.sql.query.rules.sources import flat
from datasources.sql.text.query_tree import Clause, FromItem, Region, SourceKind

_CONNECTORS: Final = "Read it through kafka, upsert-kafka, mysql-cdc or scripted, or join as of an event time."


def rewrite_temporal_joins(context: BlockContext) -> None:
    """Replace the joins of a block with tables as of a time by one relation."""
    items = tuple(item for item in flat(context.block.sources) if _is_build(context, item))
    if not items:
        return
    joins = temporal_joins(context, items)
    probe = probe_of(context)
    columns = JoinedColumns(context, probe.item, [c.name for c in context.relations[probe.item].columns])
    builds = tuple(_build(context, join, probe, columns) for join in joins)
    source = probe.source
    if isinstance(source, TableUse):
        source = replace(source, filter=_filter(context, probe, columns, len(joins)))
    request = TemporalRequest(probe=source, builds=builds, read_once=_read_once(context, probe, joins))
    try:
        relation = context.planning.relations.temporal_join(request)
    except QueryError as error:
        raise context.error(joins[0].join.span, error.message.rstrip(".")) from error
    columns.keep({column.name for column in relation.columns})
    # The result is no table: what windows a table as it is must not find the probe here.
    item = replace(probe.item, name="")
    for each in (probe.item, *items):
        context.relations.pop(each, None)
    context.relations = {item: relation, **context.relations}
    others = tuple(each for each in context.block.joins if each.item not in items)
    context.reads((item, *context.block.sources[1 + len(items) :]), others)
    columns.rename()
    for join in joins:
        context.edits.remove(context.words.source.text, join.join.span)


def _is_build(context: BlockContext, item: FromItem) -> bool:
    """Whether a table as of a time is ours to join; versions of Spark's tables are Spark's."""
    planning = context.planning
    if item in context.looked_up or (not item.version and item.kind is not SourceKind.SNAPSHOT):
        return False
    if not planning.touches_ours or item.kind is not SourceKind.TABLE:
        return planning.touches_ours
    is_named = context.scope.find(item.name) is not None or context.rewriter.named_relation(item.name) is not None
    return is_named or _is_as_of_ours(context, item)


def _is_as_of_ours(context: BlockContext, item: FromItem) -> bool:
    """Whether `AS OF o.ts` names a table of ours: then Spark could make nothing of it."""
    words = context.words
    of = next((at for at in item.version if words.matches(at, "AS", "OF")), None)
    aliases = {each.alias.lower() for each in context.relations if each.alias}
    return of is not None and words.symbol(of + 3) == "." and words[of + 2].value.lower() in aliases


def _build(context: BlockContext, join: TemporalJoin, probe: Probe, columns: JoinedColumns) -> TemporalBuild:
    as_of = as_of_column(context, join, probe)
    _require_time(context, join, probe, as_of)
    tvf, alias = join.item.tvf, join.item.alias
    loading = Loading() if tvf is None else loading_of(context, tvf, join.table.traits)
    if any(side.alias.lower() == alias.lower() for side in columns.sides):
        raise context.error(join.item.span, f"two tables of the join are called '{alias}'", "Give one another name.")
    relation = context.rewriter.named_relation(join.table.item.name)
    side = columns.add(alias, [] if relation is None else [column.name for column in relation.columns])
    keys, rest = _keys(context, join, columns, side)
    for query in context.block.nested:
        condition = context.words.span(join.join.condition)
        if condition.start <= query.span.start < condition.end:
            raise context.error(query.span, "ON of a join as of a time holds no query", "Put it into WHERE.")
    return TemporalBuild(
        use=join.table.use,
        keys=keys,
        columns=side.names,
        as_of=as_of,
        is_left=join.is_left,
        condition=columns.condition(rest),
        load_time=loading.time,
        idle_timeout_ms=loading.idle_timeout_ms,
        shown=" ".join(context.words.source.of(join.join.span).split()),
    )


def _require_time(context: BlockContext, join: TemporalJoin, probe: Probe, as_of: str | None) -> None:
    """Raise unless the table has versions by time, or, in processing time, both tables can wait."""
    traits, named = join.table.traits, join.table.item
    if as_of is not None and not context.planning.is_streaming and not traits.has_history:
        raise context.error(
            context.words.span(join.item.version),
            f"a batch reads table '{named.name}' (connector '{traits.connector}') as it is now, without history",
            "SET 'execution.runtime-mode' = 'streaming', or join FOR SYSTEM_TIME AS OF PROCTIME().",
        )
    if as_of is not None and not traits.rowtimes:
        raise context.error(
            named.span,
            f"table '{named.name}' has no time attribute, so it is unknown since when its rows were valid",
            f"Declare one in CREATE TABLE {named.name}: WATERMARK FOR valid_from AS ..., or join FOR SYSTEM_TIME AS OF "
            f"PROCTIME().",
        )
    if as_of is None and context.planning.is_streaming:
        for table in (probe, join.table):
            if not table.traits.connector:
                raise context.error(
                    table.item.span,
                    f"the left side has to wait until '{named.name}' is loaded, and a query takes no part in that",
                    "Read the table itself, with conditions and columns around the join, or join as of an event time.",
                )
            if not table.traits.can_wait:
                raise context.error(
                    table.item.span,
                    f"the left side has to wait until '{named.name}' is loaded, and a table with Spark's connector "
                    f"'{table.traits.connector}' takes no part in that",
                    _CONNECTORS,
                )


def _keys(
    context: BlockContext, join: TemporalJoin, columns: JoinedColumns, side: JoinSide
) -> tuple[tuple[tuple[str, str], ...], list[Region]]:
    """The equalities of the primary key, and the parts of the condition that are left."""
    key = join.table.traits.primary_key
    found: dict[str, str] = {}
    rest: list[Region] = []
    for part in conjuncts_of(context.words, join.join.condition):
        pair = _pair(context, part, columns, side)
        name = None if pair is None else next((each for each in key if each.lower() == pair[1].lower()), None)
        if pair is None or name is None or name in found:
            rest.append(part)
        else:
            found[name] = pair[0]
    missing = [f"{join.item.alias}.{name}" for name in key if name not in found]
    if missing:
        raise context.error(
            context.words.span(join.join.condition),
            f"ON has no equality for {', '.join(missing)}, the primary key of '{join.table.item.name}'",
            f"Write ON o.column = {missing[0]} AND ...; other conditions may stand beside it.",
        )
    return tuple((found[name], name) for name in key), rest


def _pair(context: BlockContext, part: Region, columns: JoinedColumns, side: JoinSide) -> tuple[str, str] | None:
    """What is equal in `o.k = r.k`: a column of the rows so far, and the build's own."""
    sides = sides_of(context.words, part)
    if sides is None:
        return None
    span = context.words.span(part)
    found = [(columns.find(path, span), len(path)) for path in sides]
    plain = [each for each, length in found if each is not None and each.length == length]
    own = [each for each in plain if each.side is side]
    others = [each for each in plain if each.side is not side]
    return (others[0].result, own[0].name) if len(own) == len(others) == 1 else None


def _filter(context: BlockContext, probe: Probe, columns: JoinedColumns, joins: int) -> str | None:
    """The conditions of WHERE on the probe alone, for its source: other rows are then never pending in the state.

    It stays in the text as well. Where the block reads more, an unqualified name may be another one's column.
    """
    if len(context.block.sources) > 1 + joins or context.block.has_more:
        return None
    words, where = context.words, context.block.clause(Clause.WHERE)
    parts = [each for each in conjuncts(words, where) if columns.is_about_probe(each)]
    texts = (plain_condition(words, each, probe.item) for each in parts)
    return all_of([text for text in texts if text is not None])


def _read_once(context: BlockContext, probe: Probe, joins: Sequence[TemporalJoin]) -> frozenset[str]:
    items = [join.table.item for join in joins]
    if isinstance(probe.source, TableUse):
        items.append(probe.item)
    names = [item.name.lower() for item in items]
    info = context.planning.survey.tables
    return frozenset(name for name in names if info[name].uses == names.count(name))
