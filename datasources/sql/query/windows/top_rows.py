"""The steps that keep the first N rows of each group of a windowed relation.

How it works. The first step selects what the user selects, and the keys of PARTITION BY and the terms of
ORDER BY. The second groups by the keys and takes `min_by(row, order, N)`, whose state is N rows. Its order is one
struct that sorts as the ORDER BY does: structs compare field by field with NULL first, so each term is a flag for
the position of NULLs and a value, negated for descending order. Texts and bytes cannot be negated; if they descend,
everything else is negated and `max_by` is used.
"""

from __future__ import annotations

from dataclasses import dataclass

from datasources.grammar.literals import quoted
from datasources.grammar.source_text import Span
from datasources.sql.query.block.block_context import BlockContext, QueryScope, output_name
from datasources.sql.query.block.relation import Relation, RelationColumn
from datasources.sql.query.block.statement_planning import HIDDEN, TimeProperties
from datasources.sql.query.windows.ranking import OrderTerm, Ranking
from datasources.sql.text.calls import is_star
from datasources.sql.text.query_tree import Block

_KEY, _ORDER, _ROWS = f"{HIDDEN}key_", f"{HIDDEN}order_", f"{HIDDEN}rows"
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRows:
    """What is wanted: the first `bound` rows of each group of a ranking in a block."""

    block: Block
    ranking: Ranking
    bound: int
    shown: str


def top_rows(context: BlockContext, scope: QueryScope, wanted: TopRows) -> Relation:
    """Return the numbered rows."""
    inner = context.rewriter.block(wanted.block, scope, is_step=True, drops_row_watermark=True)
    listed = context.planning.run(_listing(inner, wanted), inner.time_properties)
    columns = tuple(column for column in listed.columns if not column.name.startswith((_KEY, _ORDER)))
    text = _numbered(context, listed, columns, wanted)
    time_properties = TimeProperties(
        event_times=tuple(_window_ends(inner, columns, wanted)) if context.planning.is_streaming else (),
        attributes={column.name: column.time for column in columns if column.time is not None},
        lag_unit={column.name: column.lag_unit for column in columns if column.lag_unit is not None},
        lost={column.name: column.lost_reason for column in columns if column.lost_reason is not None},
    )
    return context.planning.run(text, time_properties, wanted.shown)


def _listing(inner: BlockContext, wanted: TopRows) -> str:
    """The block's text with the terms of the ranking instead of the row number."""
    words, source = inner.words, inner.words.source.text
    items = [
        inner.edits.render(source, item.span)
        for index, item in enumerate(wanted.block.items)
        if index != wanted.ranking.index
    ]
    keys = wanted.ranking.partition
    items += [f"{inner.edits.render(source, words.span(key))} AS {_KEY}{n}" for n, key in enumerate(keys)]
    terms = wanted.ranking.order
    items += [f"{inner.edits.render(source, words.span(t.region))} AS {_ORDER}{n}" for n, t in enumerate(terms)]
    rest = inner.edits.render(source, Span(wanted.block.list_span.end, wanted.block.span.end))
    return f"SELECT {', '.join(items)}{rest}"


def _numbered(context: BlockContext, listed: Relation, columns: tuple[RelationColumn, ...], wanted: TopRows) -> str:
    row = ", ".join(quoted(column.name) for column in columns)
    keys = ", ".join(f"{_KEY}{n}" for n in range(len(wanted.ranking.partition)))
    aggregate, order = _order(context, listed, columns, wanted)
    at = _position(context, columns, wanted)
    fields = [f"r.{quoted(column.name)} AS {quoted(column.name)}" for column in columns]
    fields.insert(at, f"i + 1 AS {quoted(wanted.ranking.name)}")
    return (
        f"SELECT inline(transform({_ROWS}, (r, i) -> struct({', '.join(fields)}))) FROM ("
        f"SELECT {aggregate}(struct({row}), struct({order}), {max(wanted.bound, 1)}) AS {_ROWS} "
        f"FROM {listed.view} GROUP BY {keys})"
    )


def _order(
    context: BlockContext, listed: Relation, columns: tuple[RelationColumn, ...], wanted: TopRows
) -> tuple[str, str]:
    """The aggregate, and the fields that it orders by."""
    types = {column.name: column.type_name for column in listed.columns}
    if any(f"{_ORDER}{n}" not in types for n in range(len(wanted.ranking.order))):
        raise context.error(
            context.words.span(wanted.ranking.region),
            "what this ranking orders by is no list of expressions",
            "Write ORDER BY a, b DESC.",
        )
    terms = [(f"{_ORDER}{n}", types[f"{_ORDER}{n}"], term) for n, term in enumerate(wanted.ranking.order)]
    fixed = {term.is_descending for name, type_name, term in terms if _turned(name, type_name) is None}
    if len(fixed) > 1:
        raise context.error(
            context.words.span(wanted.ranking.region),
            "texts cannot be ordered up and down in one ranking of a window",
            "Order them in one direction, or convert one of them to a number.",
        )
    is_descending = True in fixed
    fields: list[str] = []
    for name, type_name, term in terms:
        fields += [_null_flag(name, term, is_descending=is_descending), _value(name, type_name, term, is_descending)]
    used = {name for name, _type, _term in terms}
    fields += [quoted(c.name) for c in columns if c.name not in used and _is_comparable(c.type_name)]
    return ("max_by" if is_descending else "min_by"), ", ".join(fields)


def _null_flag(name: str, term: OrderTerm, *, is_descending: bool) -> str:
    """False comes first in min_by, true in max_by."""
    return f"{name} IS NULL" if term.nulls_first is is_descending else f"{name} IS NOT NULL"


def _value(name: str, type_name: str, term: OrderTerm, is_descending: bool) -> str:  # noqa: FBT001 - of the aggregate
    if term.is_descending is is_descending:
        return name
    return _turned(name, type_name) or name


def _turned(name: str, type_name: str) -> str | None:
    """A value that sorts the other way round, None if there is none."""
    if type_name in {"tinyint", "smallint", "int", "bigint"}:
        return f"~{name}"
    if type_name in {"float", "double"} or type_name.startswith("decimal"):
        return f"-{name}"
    simple = {
        "boolean": f"NOT {name}",
        "date": f"-unix_date({name})",
        "timestamp": f"-unix_micros({name})",
        "timestamp_ntz": f"{_EPOCH} - {name}",
    }
    return f"-{name}" if type_name.startswith("interval") else simple.get(type_name)


def _is_comparable(type_name: str) -> bool:
    return not any(word in type_name for word in ("map<", "variant", "interval"))


def _position(context: BlockContext, columns: tuple[RelationColumn, ...], wanted: TopRows) -> int:
    """Index of the row number among the columns."""
    after = wanted.block.items[wanted.ranking.index + 1 :]
    has_star = any(is_star(context.words, at) for item in after for at in item.expression)
    return wanted.ranking.index if has_star else len(columns) - len(after)


def _window_ends(inner: BlockContext, columns: tuple[RelationColumn, ...], wanted: TopRows) -> list[str]:
    """The columns of the result that are ends of windows."""
    names = {"window_end"} if inner.has_star else set()
    for item in wanted.block.items:
        found = inner.column(item.expression)
        name = output_name(inner.words, item)
        if found is not None and name is not None and found[1].name.lower() == "window_end":
            names.add(name.lower())
    return [column.name for column in columns if column.name.lower() in names]
