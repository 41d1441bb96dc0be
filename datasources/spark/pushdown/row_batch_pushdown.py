"""Finds row batches of operators that are rows of a source, chosen and computed at most: the reader makes them.

Spark would otherwise convert each row into its own form and back. What the reader cannot compute with Spark's own
result stays in Spark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.row_batches import (
    BUCKET_COLUMN,
    ROW_BATCH_SCHEMA,
    ROW_WATERMARK_COLUMN,
    ROWTIME_COLUMN,
    FromReader,
)
from datasources.spark.options.packing_options import PackedInputOption, PackedTimesOption, PackingOption
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.plans.row_batch_marker import RowBatchMarker
from datasources.spark.pushdown.loaded_source import packing_scan
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.packing_pushdown import packed_column
from datasources.spark.pushdown.table_rows import RowValues, TableRows, chain, conjunction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HELPERS = frozenset({HEARTBEAT_COLUMN, ROWTIME_COLUMN, ROW_WATERMARK_COLUMN, BUCKET_COLUMN})


def push_row_batches(df: DataFrame) -> DataFrame:
    """Return the same query, with row batches of operators made by the readers of their sources."""
    catalyst = Catalyst(df.sparkSession)
    plan = catalyst.plan(df)
    found = _Search(catalyst, items(plan.collectLeaves())).rewritten(plan)
    return df if found is plan else catalyst.frame(found)


@dataclass(frozen=True, slots=True)
class _Search:
    catalyst: Catalyst
    leaves: list[Any] = field(repr=False)

    def rewritten(self, node: Any) -> Any:
        """Return a plan with row batches made by readers; the very same object where nothing changes."""
        marker = RowBatchMarker.of(str(node.identifier().name())) if kind(node) == "SubqueryAlias" else None
        if marker is not None:
            try:
                return self._pushed(node, marker)
            except NotPushed:
                return node
        return self.catalyst.with_children_replaced(node, self.rewritten)

    def _pushed(self, alias: Any, marker: RowBatchMarker) -> Any:
        rows, output = self._rows_of(alias.child())
        if sum(each.equals(rows.leaf) for each in self.leaves) != 1:
            raise NotPushed("it would become two sources, and a checkpoint has one")
        option = PackingOption(buckets=marker.buckets, inputs=(_input(rows, output, marker),))
        cells = packing_scan(self.catalyst, rows.leaf, option)
        batches = self.catalyst.plan(cells.mapInArrow(FromReader(buckets=marker.buckets), ROW_BATCH_SCHEMA))
        pairs = zip(items(batches.output()), items(alias.output()), strict=True)
        named = [self.catalyst.alias(new, old.name(), old.exprId()) for new, old in pairs]
        return self.catalyst.project(named, batches)

    def _rows_of(self, packing: Any) -> tuple[TableRows, list[Any]]:
        """Return the rows below the node that packs them, and the columns that it packs."""
        if kind(packing) != "MapInArrow" or kind(packing.child()) != "Project":
            raise NotPushed("the rows are packed by something else")
        *nodes, leaf = chain(packing.child())
        found = RowValues(self.catalyst, {})
        found.start_from(leaf)
        is_heartbeat = next(each for each in items(leaf.output()) if str(each.name()) == HEARTBEAT_COLUMN)
        found.values[attribute_id(is_heartbeat)] = self.catalyst.literal(False)
        for node in reversed(nodes):
            found.take(node)
        rows = TableRows(
            catalyst=self.catalyst,
            leaf=leaf,
            conditions=list(map(self._simplified, found.conditions)),
            values={number: self._simplified(value) for number, value in found.values.items()},
        )
        return rows, items(packing.child().output())

    def _simplified(self, expression: Any) -> Any:
        """Return an expression without the parts that are there for heartbeats only."""
        return self.catalyst.replaced(expression, self._of_rows)

    def _of_rows(self, part: Any) -> Any | None:
        children = items(part.children())
        if kind(part) == "Or" and _is_false(children[1]):
            return children[0]
        if kind(part) != "CaseWhen" or str(part.branches().size()) != "1":
            return None
        condition, value, *otherwise = children
        if _is_false(condition) and otherwise:
            return otherwise[0]
        return value if kind(condition) == "Not" and _is_false(condition.child()) else None


def _input(rows: TableRows, output: list[Any], marker: RowBatchMarker) -> PackedInputOption:
    columns = [each for each in output if str(each.name()) not in _HELPERS]
    names = [str(each.name()) for each in columns]
    time = columns[names.index(marker.time)]
    return PackedInputOption(
        number=0,
        columns=tuple(packed_column(rows, each) for each in columns),
        keys=tuple(map(names.index, marker.keys)),
        times=PackedTimesOption(
            rowtime=rows.text(rows.values[attribute_id(time)]),
            rowtime_name=ROWTIME_COLUMN,
            watermark_name=ROW_WATERMARK_COLUMN,
        ),
        condition=conjunction([rows.text(each) for each in rows.conditions]),
    )


def _is_false(expression: Any) -> bool:
    return kind(expression) == "Literal" and str(expression.sql()) == "false"
