"""A query over tables that change, as a stream of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from datasources.changelog.change_plan import ChangePlan
from datasources.changelog.nodes import aggregation, join, rank, stateless
from datasources.changelog.result import ROW_KIND_COLUMN, ResultShape, net_changes
from datasources.changelog.result_origin import has_single_rows, result_origin
from datasources.changelog.translator import TableChanges, Translator
from datasources.errors import QueryError
from datasources.spark.operators.buckets.bucket_operator import DEFAULT_BUCKETS
from datasources.spark.operators.changelog.changes import WEIGHT_COLUMN
from datasources.spark.operators.changelog.run_changes import without_times
from datasources.spark.plans.catalyst import Catalyst, attribute_id, items, kind, walk
from datasources.spark.pushdown.packing_pushdown import push_packing

NODES: Final[Mapping[str, Callable[[Translator, Any], ChangePlan]]] = {
    "LogicalRDD": stateless.table,
    "Project": stateless.project,
    "Filter": stateless.selection,
    "Expand": stateless.expand,
    "Generate": stateless.passed_on,
    "BatchEvalPython": stateless.passed_on,
    "ArrowEvalPython": stateless.passed_on,
    "Repartition": stateless.distribution,
    "RepartitionByExpression": stateless.distribution,
    "RebalancePartitions": stateless.distribution,
    "Union": stateless.union,
    "Aggregate": aggregation.aggregate,
    "Join": join.join,
    "Window": rank.window,
    "GlobalLimit": rank.limit,
    "LocalLimit": rank.limit,
    "Offset": rank.limit,
    "Sort": stateless.order,
    "LocalRelation": stateless.constant,
    "OneRowRelation": stateless.constant,
    "Range": stateless.constant,
}
"""The nodes of optimised plans that can be kept up to date."""

_CLOCKS: Final = frozenset({"CurrentTimestamp", "Now", "CurrentDate", "LocalTimestamp", "CurrentTime"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeQuery:
    """A query over tables that change.

    Attributes:
        frame: its result: `row_kind`, then the query's columns; without `row_kind` if rows are only added.
        shown: the plan, as EXPLAIN shows it.
        has_row_kind: whether rows change, so that `row_kind` is there.
        key: positions of the query's columns by which it has one row; empty: one row at most; None: not known.
    """

    frame: DataFrame
    shown: str
    has_row_kind: bool
    key: tuple[int, ...] | None


def change_query(
    query: DataFrame, tables: Mapping[int, TableChanges], *, buckets: int = DEFAULT_BUCKETS, statement: str = ""
) -> ChangeQuery:
    """Return the changes of a query's result.

    Args:
        query: over empty tables.
        tables: the tables by the ids of their empty tables, see `empty_tables`.
        buckets: into which rows of a stateful operator are hashed; fixed for the life of a checkpoint.
        statement: which one it is, for operators with state: a restart with another one is refused.

    Raises:
        QueryError: naming what cannot be kept up to date.
    """
    catalyst = Catalyst(query.sparkSession)
    translator = Translator(catalyst=catalyst, tables=tables, nodes=NODES, buckets=buckets, statement=statement)
    _refuse_clocks(translator, catalyst.plan(query))
    if any(name.lower() == ROW_KIND_COLUMN for name in query.columns):
        raise QueryError(
            f"the query has a column '{ROW_KIND_COLUMN}', which is the name of the first column of its result: give it "
            f"another name."
        )
    optimized = catalyst.optimized(query)
    changes = translator.node(optimized)
    output = items(optimized.output())
    plan = catalyst.project(
        [*(catalyst.alias(each, f"c{at}") for at, each in enumerate(output)), changes.weight], changes.plan
    )
    ids = [attribute_id(each) for each in output]
    key = None if changes.key is None else tuple(ids.index(each) for each in sorted(changes.key, key=ids.index))
    shape = ResultShape(
        names=tuple(query.columns),
        key=key,
        is_insert_only=changes.is_insert_only,
        has_single_rows=has_single_rows(plan),
        has_times=any(each.ttl_us is not None for each in tables.values()),
    )
    origin = result_origin(catalyst, translator.operators, plan)
    frame = without_times(catalyst.frame(plan), has_generation=shape.has_generation)
    return ChangeQuery(
        frame=push_packing(net_changes(frame, shape, origin, partitions=buckets)),
        shown=changes.shown,
        has_row_kind=not changes.is_insert_only,
        key=key,
    )


def empty_tables(tables: Mapping[str, TableChanges]) -> tuple[dict[str, DataFrame], dict[int, TableChanges]]:
    """Return an empty table for each changing one, by its name, and the changing ones by the ids of the empty ones."""
    empty, by_id = {}, {}
    for name, table in tables.items():
        fields = [StructField(each.name, each.dataType) for each in table.changes.schema if each.name != WEIGHT_COLUMN]
        catalyst = Catalyst(table.changes.sparkSession)
        empty[name] = catalyst.empty(StructType(fields))
        by_id[int(catalyst.plan(empty[name]).rdd().id())] = table
    return empty, by_id


def _refuse_clocks(translator: Translator, plan: Any) -> None:
    """Refuse the clock: Spark takes its time once, when the query is planned."""
    for node in _nodes(plan):
        for expression in items(node.expressions()):
            for each in walk(expression):
                if kind(each) in _CLOCKS:
                    translator.refuse(
                        f"the current time ({each.sql()})", " Compare with a time column of the row instead."
                    )
                if kind(each) in {"ScalarSubquery", "Exists", "ListQuery", "InSubquery", "LateralSubquery"}:
                    _refuse_clocks(translator, each.plan() if kind(each) != "InSubquery" else each.query().plan())


def _nodes(plan: Any) -> Sequence[Any]:
    found = [plan]
    for child in items(plan.children()):
        found += _nodes(child)
    return found
