"""Finds inputs of operators that are rows of a source or of another operator, chosen and computed at most.

A reader packs the rows of its source. Where several inputs of an operator are read from one source, as the sides of a
join of two views of a topic, one scan packs the rows of all of them: the source is read and decoded once. The results
of an operator go to the next one as they are packed, without a way through Spark's rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasources.errors import ExpressionError, SchemaError
from datasources.source.api.packing import PACKED_ROWS
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.attach.register import session_functions, session_info
from datasources.spark.operators.changelog.change_batches import PACKED_SCHEMA, RepackChanges
from datasources.spark.operators.changelog.changes import WEIGHT_COLUMN
from datasources.spark.operators.changelog.run_changes import plain_schema
from datasources.spark.options.packing_options import (
    PackedColumnOption,
    PackedInputOption,
    PackingOption,
)
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind
from datasources.spark.plans.packed_marker import PACKED_RESULTS, PackedMarker
from datasources.spark.pushdown.loaded_source import packing_scan
from datasources.spark.pushdown.not_pushed import NotPushed
from datasources.spark.pushdown.table_rows import RowValues, TableRows, chain, conjunction, is_source
from datasources.spark.scan.packing import packing_of
from datasources.spark.scan.schema import arrow_output_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def push_packing(df: DataFrame) -> DataFrame:
    """Return the same query, with inputs of operators packed by the readers of their sources."""
    catalyst = Catalyst(df.sparkSession)
    plan = catalyst.plan(df)
    found = _Search(catalyst, plan).rewritten(plan)
    return df if found is plan else catalyst.frame(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Input:
    """An input that may be packed without Spark.

    Attributes:
        number: which input of the operator, from 0.
        leaf: a source, or the node that unpacks the results of an operator.
        is_attached: whether the source has a watermark that Spark follows.
        has_heartbeats: whether rows are left out that are heartbeats.
        options: how it is packed; several where each row is expanded into several.
    """

    number: int
    leaf: Any
    is_attached: bool
    has_heartbeats: bool
    options: tuple[PackedInputOption, ...]


@dataclass(slots=True)
class _Search:
    catalyst: Catalyst
    plan: Any
    leaves: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.leaves = items(self.plan.collectLeaves())

    def rewritten(self, node: Any) -> Any:
        """Return a plan with its inputs packed by readers; the very same object where nothing changes."""
        marker = PackedMarker.of(str(node.identifier().name())) if kind(node) == "SubqueryAlias" else None
        if marker is not None:
            return self._packed(node, marker)
        return self.catalyst.with_children_replaced(node, self.rewritten)

    def _packed(self, alias: Any, marker: PackedMarker) -> Any:
        """Return the packed inputs of an operator."""
        nodes = _nodes_of(alias.child())
        found = [self._input(number, *each) for number, each in enumerate(zip(nodes, marker.keys, strict=True))]
        scans = self._scans([each for each in found if each is not None and is_source(each.leaf)], marker.buckets)
        inputs = [
            scans[number] if number in scans else self._of_results(node, each, marker.buckets)
            for number, (node, each) in enumerate(zip(nodes, found, strict=True))
        ]
        if all(new is old for new, old in zip(inputs, nodes, strict=True)):
            return alias
        first, *others = inputs
        first = self._named_as(alias, first)
        return self.catalyst.union([first, *others]) if others else first

    def _scans(self, inputs: list[_Input], buckets: int) -> dict[int, Any]:
        """Return a scan for each source that can pack those inputs that are read from it, by numbers of the inputs.

        The scan stands at the first of them. At the others it is not read: a checkpoint has an offset for every time
        that a source is in a plan, in order.
        """
        scans: dict[int, Any] = {}
        while inputs:
            leaf = inputs[0].leaf
            alike = [each for each in inputs if each.leaf.equals(leaf)]
            inputs = [each for each in inputs if each not in alike]
            loaded = self._scan(leaf, alike, buckets)
            if loaded is not None:
                first, *others = (each.number for each in alike)
                scans |= {first: self._cells(loaded, alike[0])}
                scans |= {
                    number: self.catalyst.unread(self.catalyst.plan(loaded), PACKED_ROWS.names) for number in others
                }
        return scans

    def _of_results(self, node: Any, packed: _Input | None, buckets: int) -> Any:
        """Return an input; packed from the results of another operator where that is possible."""
        if packed is None or is_source(packed.leaf):
            return self.rewritten(node)
        results = packed.leaf.child()
        schema = plain_schema(arrow_output_schema(self.catalyst.frame(packed.leaf).schema))
        option = PackingOption(buckets=buckets, inputs=packed.options)
        spark = self.catalyst.spark
        try:
            packing = packing_of(option, schema, session_info(spark), session_functions(spark))
        except (ExpressionError, SchemaError):
            return self.rewritten(node)
        repack = RepackChanges(schema=pa.schema(list(schema)[:-1]), packing=packing)
        return self.catalyst.plan(self.catalyst.frame(self.rewritten(results)).mapInArrow(repack, PACKED_SCHEMA))

    def _named_as(self, alias: Any, plan: Any) -> Any:
        pairs = zip(items(plan.output()), items(alias.output()), strict=True)
        return self.catalyst.project([self.catalyst.alias(new, old.name(), old.exprId()) for new, old in pairs], plan)

    def _scan(self, leaf: Any, inputs: list[_Input], buckets: int) -> DataFrame | None:
        """Return a scan of one source that packs inputs, all that are read from it; None if it cannot."""
        if sum(each.equals(leaf) for each in self.leaves) != len(inputs):
            return None  # it would become two sources, and the checkpoint has one
        option = PackingOption(buckets=buckets, inputs=tuple(option for each in inputs for option in each.options))
        try:
            return packing_scan(self.catalyst, leaf, option, is_attached=inputs[0].is_attached)
        except NotPushed:
            return None

    def _cells(self, loaded: DataFrame, like: _Input) -> Any:
        """Return the packed rows of a scan, without heartbeats."""
        if like.is_attached:
            loaded = attach(loaded, [AttachedColumn(name=name) for name in PACKED_ROWS.names])
        elif like.has_heartbeats:
            loaded = loaded.where(f"NOT {HEARTBEAT_COLUMN}").select(*PACKED_ROWS.names)
        return self.catalyst.plan(loaded)

    def _input(self, number: int, node: Any, keys: tuple[str, ...] | None) -> _Input | None:
        """Return an input as the reader would pack it; None if it is something else."""
        if keys is None or kind(node) != "MapInArrow" or kind(node.child()) != "Project":
            return None
        try:
            return self._input_of(number, node, keys)
        except NotPushed:
            return None

    def _input_of(self, number: int, node: Any, keys: tuple[str, ...]) -> _Input:
        *nodes, leaf = chain(node.child(), is_end=lambda each: is_source(each) or _is_result(each))
        is_attached = any(kind(each) == "EventTimeWatermark" for each in nodes)
        start = RowValues(self.catalyst, None if is_attached else {})
        start.start_from(leaf)
        forms = [start]
        for each in reversed(nodes):
            if kind(each) == "Expand":
                forms = [form for found in forms for form in found.expanded(each)]
                continue
            for found in forms:
                found.take(each)
        rows = [
            TableRows(catalyst=self.catalyst, leaf=leaf, conditions=found.conditions, values=found.values)
            for found in forms
        ]
        return _Input(
            number=number,
            leaf=leaf,
            is_attached=is_attached,
            has_heartbeats=any(map(_leaves_heartbeats_out, start.conditions)),
            options=tuple(_option(number, each, items(node.child().output()), keys) for each in rows),
        )


def _option(number: int, rows: TableRows, output: list[Any], keys: tuple[str, ...]) -> PackedInputOption:
    *columns, hashed, weight = output
    names = [str(each.name()) for each in columns]
    texts = [rows.text(each) for each in rows.conditions if not _leaves_heartbeats_out(each)]
    return PackedInputOption(
        number=number,
        columns=tuple(packed_column(rows, each) for each in columns),
        keys=tuple(names.index(key) for key in keys),
        hash_name=str(hashed.name()),
        weight=packed_column(rows, weight),
        condition=conjunction(texts),
    )


def packed_column(rows: TableRows, attribute: Any) -> PackedColumnOption:
    """Return a column of packed rows.

    Raises:
        NotPushed: its value cannot be written so that it is certain to be read as it was meant.
    """
    value = rows.values[attribute_id(attribute)]
    return PackedColumnOption(name=str(attribute.name()), type=str(attribute.dataType().sql()), value=rows.text(value))


def _is_result(node: Any) -> bool:
    """Return whether a node unpacks the results of an operator as changes."""
    if kind(node) != "MapInArrow" or str(items(node.output())[-1].name()) != WEIGHT_COLUMN:
        return False
    return kind(node.child()) == "SubqueryAlias" and str(node.child().identifier().name()) == PACKED_RESULTS


def _leaves_heartbeats_out(condition: Any) -> bool:
    is_not = kind(condition) == "Not" and kind(condition.child()) == "AttributeReference"
    return is_not and str(condition.child().name()) == HEARTBEAT_COLUMN


def _nodes_of(node: Any) -> list[Any]:
    """Return the nodes that a union puts together; a node that is none alone."""
    return [each for child in items(node.children()) for each in _nodes_of(child)] if kind(node) == "Union" else [node]
