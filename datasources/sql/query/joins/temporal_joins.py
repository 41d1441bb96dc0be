"""Parses `JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k` and `JOIN LATERAL SNAPSHOT(...) AS r ON ...`.

The first table of a FROM is the probe; the builds, whose versions are looked up, directly follow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from datasources.near_matches import near_matches
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import Relation, TableUse
from datasources.sql.query.block.temporal_request import TableTraits
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import FromItem, Join, Region, SourceKind
from datasources.sql.types.time_kind import TimeKind

_TIMES: Final = frozenset({"timestamp", "timestamp_ntz"})
_SHAPE: Final = "FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency"
_KINDS: Final = {("JOIN",): False, ("INNER", "JOIN"): False, ("LEFT", "JOIN"): True, ("LEFT", "OUTER", "JOIN"): True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the catalog in a temporal join: its FROM item, the use, what it is."""

    item: FromItem
    use: TableUse
    traits: TableTraits


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The left side: its FROM item, what it is, and either its use or, of a query, its relation."""

    item: FromItem
    source: TableUse | Relation
    traits: TableTraits


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalJoin:
    """A join of a build."""

    join: Join
    item: FromItem
    table: Table
    is_left: bool

    @property
    def is_snapshot(self) -> bool:
        """Whether it is a LATERAL SNAPSHOT."""
        return self.item.kind is SourceKind.SNAPSHOT


def temporal_joins(context: BlockContext, items: tuple[FromItem, ...]) -> tuple[TemporalJoin, ...]:
    """Read the joins of those items of the FROM that are builds.

    Raises:
        SqlError: there is no such join, or it is not allowed here.
    """
    found = tuple(_temporal_join(context, item) for item in items)
    for at, (source, join) in enumerate(zip(context.block.sources[1:], found, strict=False), start=1):
        if source is not join.item:
            raise context.error(
                found[at - 1].item.span,
                "tables as of a time are joined directly behind the first table of FROM",
                "Put the other joins behind them, or into a query around this one.",
            )
    return found


def _temporal_join(context: BlockContext, item: FromItem) -> TemporalJoin:
    join = next((each for each in context.block.joins if each.item is item), None)
    if join is None or context.block.sources[0].kind is SourceKind.GROUP:
        raise context.error(item.span, "a table as of a time is the right side of a JOIN", f"Write {_SHAPE}.")
    if join.words not in _KINDS:
        raise context.error(
            item.span,
            f"a table as of a time cannot be joined by {' '.join(join.words)}",
            "Use JOIN or LEFT JOIN: its own rows have no time at which they would appear.",
        )
    if not join.condition or context.words.word(join.condition.first - 1) != "ON":
        raise context.error(item.span, "a join with a table as of a time has no ON", f"Write {_SHAPE}.")
    named = item.tvf.data if item.tvf is not None else item
    table = _table(context, named, "the right side of a join as of a time", "Join the table itself.")
    if not table.traits.primary_key:
        raise context.error(
            named.span,
            f"table '{named.name}' has no PRIMARY KEY, so it is unknown which of its rows replaces which",
            "Declare it: PRIMARY KEY (currency) NOT ENFORCED.",
        )
    return TemporalJoin(join=join, item=item, table=table, is_left=_KINDS[join.words])


def probe_of(context: BlockContext) -> Probe:
    """Return the first item of the FROM.

    Raises:
        SqlError: nothing is known of it, or its rows change.
    """
    item = context.block.sources[0]
    relation = context.relations.get(item)
    if relation is not None and not _is_table(context, item):
        return Probe(item=item, source=relation, traits=_traits(relation, is_streaming=context.planning.is_streaming))
    hint = "Read the table itself, and put conditions and columns around the join."
    table = _table(context, item, "the left side of a join as of a time", hint)
    if table.traits.is_changelog:
        raise context.error(
            item.span,
            f"the rows of table '{item.name}' change (connector '{table.traits.connector}'), and rows that left a join "
            f"as of a time cannot be taken back",
            "Make the table that only grows the left side.",
        )
    return Probe(item=item, source=table.use, traits=table.traits)


def _traits(relation: Relation, *, is_streaming: bool) -> TableTraits:
    """What a query is to the join: nothing can wait in it, and in a batch, which has all rows, any time will do."""
    proctimes = tuple(c.name for c in relation.columns if c.time is TimeKind.PROCTIME)
    rowtimes = tuple(
        c.name
        for c in relation.columns
        if (c.time is TimeKind.ROWTIME and c.lag_unit is None)
        or (not is_streaming and c.type_name in _TIMES and c.name not in proctimes)
    )
    return TableTraits(connector="", rowtimes=rowtimes, proctimes=proctimes, can_wait=False)


def _is_table(context: BlockContext, item: FromItem) -> bool:
    is_named = item.kind is SourceKind.TABLE and context.scope.find(item.name) is None
    return is_named and item.name.lower() in context.planning.uses


def _table(context: BlockContext, item: FromItem, role: str, hint: str) -> Table:
    use = context.planning.uses[item.name.lower()] if _is_table(context, item) else None
    if use is None:
        what = f"'{item.name}' is none" if item.name else "this is none"
        raise context.error(
            item.source, f"{role} is a table of the catalog, and {what}", hint + _near(context, item.name)
        )
    return Table(item=item, use=use, traits=context.planning.relations.traits(use))


def _near(context: BlockContext, name: str) -> str:
    """Return what may have been meant by a name that the catalog does not have."""
    known = context.planning.relations.known_names()
    return "" if not name or name.lower() in {each.lower() for each in known} else near_matches(name, known)


def as_of_column(context: BlockContext, build: TemporalJoin, probe: Probe) -> str | None:
    """Return the probe's event time that versions are chosen by; None in processing time.

    Raises:
        SqlError: it is no time attribute of the probe.
    """
    if build.is_snapshot:
        return None
    words, version = context.words, build.item.version
    if not words.matches(version.first, "FOR", "SYSTEM_TIME", "AS", "OF"):
        span = words.span(version)
        raise context.error(span, "a table of the catalog is joined FOR SYSTEM_TIME AS OF a time", f"Write {_SHAPE}.")
    operand = Region(version.first + 4, version.last)
    if words.word(operand.first) == "PROCTIME" and words.symbol(operand.first + 1) == "(":
        return None
    path = column_path(words, operand) if operand else None
    alias = probe.item.alias
    if path is not None and len(path) > 1 and path[0].lower() == alias.lower():
        path = path[1:]
    name = "" if path is None else "_".join(path).lower()
    if any(name == each.lower() for each in probe.traits.proctimes):
        return None
    found = next((each for each in probe.traits.rowtimes if each.lower() == name), None)
    if found is None:
        raise _no_attribute(context, operand or version, probe)
    return found


def _lag_unit(probe: Probe, name: str) -> str | None:
    """The unit that FLOOR rounded a column of a query down to."""
    columns = probe.source.columns if isinstance(probe.source, Relation) else ()
    return next((c.lag_unit for c in columns if c.name.lower() == name.lower()), None)


def _no_attribute(context: BlockContext, operand: Region, probe: Probe) -> Exception:
    known = [*probe.traits.rowtimes, *probe.traits.proctimes]
    alias, table = probe.item.alias, probe.item.name
    lag_unit = _lag_unit(probe, context.text(operand).rpartition(".")[2])
    if lag_unit is not None:
        hint = f"Its rows are up to a {lag_unit} behind the watermark. Join as of the end: CEIL(... TO {lag_unit})."
    elif not known and isinstance(probe.source, Relation):
        hint = "Select one in that query: window_time of a GROUP BY window_start, window_end, window_time."
    elif known:
        hint = f"Its time attributes: {', '.join(f'{alias}.{name}' for name in known)}."
    else:
        hint = f"Declare one in CREATE TABLE {table}: WATERMARK FOR ts AS ..., or pt AS PROCTIME()."
    span = context.words.span(operand)
    return context.error(span, f"'{context.text(operand)}' is no time attribute of the left side, '{alias}'", hint)
