"""Puts sources that deliver only what a query needs in place of those in its plan.

What is above a source stays, with the narrower types, and without projected columns of which nothing is computed.

Source: Flink's PushProjectIntoTableSourceScanRule and PushFilterIntoTableSourceScanRule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from datasources.spark.plans.catalyst import Catalyst, attribute_id, items
from datasources.spark.pushdown.projection.narrowed_source import NarrowedSource, narrowed_source
from datasources.spark.pushdown.projection.needed_columns import NeededNode, needed_columns, path_of
from datasources.spark.pushdown.table_rows import SOURCES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedProjections:
    """A query after the push-down: its DataFrame, the same one if nothing was pushed, and its narrower sources."""

    frame: DataFrame
    sources: tuple[NarrowedSource, ...] = ()


def push_projections(df: DataFrame) -> PushedProjections:
    """Return the same query over sources that deliver only what it needs.

    Args:
        df: a stream, attached where its sources have watermarks, or a batch.
    """
    catalyst = Catalyst(df.sparkSession)
    tree, needed = needed_columns(catalyst, catalyst.with_inlined_ctes(catalyst.plan(df)))
    sources = tuple(found for each in needed if (found := narrowed_source(catalyst, each)) is not None)
    if not sources:
        return PushedProjections(frame=df)
    return PushedProjections(frame=catalyst.frame(_Rewriting(catalyst, sources).rewritten(tree)), sources=sources)


@dataclass(frozen=True, slots=True)
class _Rewriting:
    catalyst: Catalyst
    sources: Sequence[NarrowedSource]

    def rewritten(self, tree: NeededNode) -> Any:
        """Return a node above the narrower sources; the very same object where nothing changes."""
        node = tree.node
        if tree.kind in SOURCES:
            return next((each.node for each in self.sources if each.leaf.equals(node)), node)
        after = [self.rewritten(each) for each in tree.below]
        if all(new is old.node for new, old in zip(after, tree.below, strict=True)):
            return node
        if tree.kind == "View":  # which only gives its rows a name, and has a list of columns
            return after[0]
        if tree.kind not in {"Project", "Filter"}:
            return node.withNewChildren(self.catalyst.seq(after))
        types = _changed(before=tree.below[0].node, after=after[0])
        if tree.kind == "Filter":
            return self.catalyst.filter(self._retyped(node.condition(), types), after[0])
        kept = [each for each in items(node.projectList()) if tree.needs(each)]
        return self.catalyst.project([self._retyped(each, types) for each in kept], after[0])

    def _retyped(self, expression: Any, types: dict[int, Any]) -> Any:
        """Return an expression over attributes with other types."""

        def replacement(part: Any) -> Any | None:
            attribute, path = path_of(part)
            if attribute is None or attribute_id(attribute) not in types:
                return None
            found = types[attribute_id(attribute)].withMetadata(attribute.metadata())
            for name in path:
                found = self.catalyst.field(found, list(found.dataType().fieldNames()).index(name), name)
            return found

        return self.catalyst.replaced(expression, replacement) if types else expression


def _changed(*, before: Any, after: Any) -> dict[int, Any]:
    """Return the attributes of a node whose type is another one than before, by their ids."""
    old = {attribute_id(each): each for each in items(before.output())}
    return {
        number: each
        for each in items(after.output())
        if (number := attribute_id(each)) in old and not each.dataType().equals(old[number].dataType())
    }
