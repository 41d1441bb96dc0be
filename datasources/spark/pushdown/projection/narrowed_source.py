"""A source, loaded once more to deliver only what a plan needs of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasources.arrow_types import Path, paths_of
from datasources.grammar.literals import quoted
from datasources.spark.attach.register import session_functions
from datasources.spark.options.aggregation_options import AGGREGATION
from datasources.spark.options.packing_options import PACKING
from datasources.spark.plans.catalyst import Catalyst, items, kind
from datasources.spark.plans.mark_attached import identified_as
from datasources.spark.pushdown.loaded_source import COLUMNS, FILTER, possible_scan, source_name, source_options
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.projection.needed_columns import NeededColumns
from datasources.spark.pushdown.projection.pushed_conditions import pushed_condition
from datasources.spark.pushdown.table_rows import conjunction
from datasources.spark.scan.scan import Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedSource:
    """A source that delivers less.

    Attributes:
        leaf: its node in the plan.
        options: its options there, keys in lower case.
        columns: what it delivers now: columns, and fields of STRUCTs.
        filter: which rows; None = all.
        node: the new node.
    """

    leaf: Any
    options: Mapping[str, str] = field(repr=False)
    columns: tuple[str, ...]
    filter: str | None
    node: Any


def narrowed_source(catalyst: Catalyst, needed: NeededColumns) -> NarrowedSource | None:
    """Return a source that delivers what is needed; None where it does already, or is no source of ours."""
    leaf, options = needed.leaf, source_options(needed.leaf)
    if AGGREGATION in options or PACKING in options:
        return None
    try:
        scan = possible_scan(catalyst.spark, source_name(leaf), options)
        columns = _columns(scan, needed)
        condition = pushed_condition(scan, needed.conditions, session_functions(catalyst.spark))
        if columns is None and condition is None:
            return None
        wanted = options if columns is None else options | {COLUMNS: ", ".join(columns)}
        conditions = [each for each in (options.get(FILTER), condition) if each is not None]
        wanted = wanted if condition is None else wanted | {FILTER: str(conjunction(conditions))}
        narrow = possible_scan(catalyst.spark, source_name(leaf), wanted)
    except NotPushed:
        return None
    return NarrowedSource(
        leaf=leaf,
        options=options,
        columns=tuple(_shown(narrow.source.schema, narrow.columns or narrow.source.schema)),
        filter=wanted.get(FILTER),
        node=_loaded(catalyst, leaf, wanted),
    )


def _columns(scan: Scan, needed: NeededColumns) -> list[str] | None:
    """Return the columns to deliver; None = those that are delivered are needed."""
    delivered = list(paths_of(scan.source.schema if scan.columns is None else scan.columns))
    kept = [path for path in delivered if any(path[: len(each)] == each for each in needed.paths)]
    if not kept and scan.source.strategy is None:
        kept = delivered[:1]
    return None if len(kept) == len(delivered) else list(map(_text, kept))


def _shown(whole: Iterable[pa.Field], narrow: Iterable[pa.Field], above: str = "") -> Iterator[str]:
    """Yield the columns, and of a STRUCT of which some fields are left out the fields that are there."""
    known = {each.name: each.type for each in whole}
    for each in narrow:
        name = above + each.name
        yield from [name] if each.type == known[each.name] else _shown(known[each.name], each.type, f"{name}.")


def _text(path: Path) -> str:
    return ".".join(map(quoted, path))


def _loaded(catalyst: Catalyst, leaf: Any, options: dict[str, str]) -> Any:
    """Return the node of the source with other options, whose columns stand for those of the same name."""
    spark, name = catalyst.spark, source_name(leaf)
    known = {str(each.name()): each for each in items(leaf.output())}
    if kind(leaf) == "StreamingRelationV2":
        fresh = catalyst.plan(spark.readStream.format(name).options(**options).load())
        named = [each.withExprId(known[str(each.name())].exprId()) for each in items(fresh.output())]
        return identified_as(leaf, fresh, output=catalyst.seq(named))
    fresh = catalyst.plan(spark.read.format(name).options(**options).load())
    return catalyst.project([catalyst.alias_as(each, known[str(each.name())]) for each in items(fresh.output())], fresh)
