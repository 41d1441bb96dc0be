"""ROW_NUMBER, RANK and DENSE_RANK with a limit, and LIMIT."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from datasources.changelog.change_plan import ChangelogMode, ChangePlan, shown_above, shown_ttl
from datasources.changelog.nodes.scalar_subqueries import joined_subqueries
from datasources.changelog.translator import Translator, by_id, name_for
from datasources.spark.operators.changelog.rank.rank_operator import RankOperator
from datasources.spark.operators.changelog.rank.ranked_rows import RankFunction
from datasources.spark.operators.changelog.rank.value_order import OrderKey, is_sortable
from datasources.spark.operators.changelog.run_changes import OperatorInput
from datasources.spark.operators.changelog.value_types import require_comparable
from datasources.spark.plans.catalyst import attribute_id, data_type, items, kind, sort_direction

_FUNCTIONS: Final[Mapping[str, RankFunction]] = {
    "RowNumber": RankFunction.ROW_NUMBER,
    "Rank": RankFunction.RANK,
    "DenseRank": RankFunction.DENSE_RANK,
}
_FLIPPED: Final = {"GreaterThan": "LessThan", "GreaterThanOrEqual": "LessThanOrEqual", "EqualTo": "EqualTo"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranking:
    """Rows by rank.

    Attributes:
        partition: expressions of PARTITION BY.
        order: Spark's SortOrder expressions.
        limit: the largest rank that is kept; None: all.
        offset: ranks up to this are left out.
        rank: the attribute of the rank; None: it is not in the result.
    """

    function: RankFunction
    partition: Sequence[Any]
    order: Sequence[Any]
    limit: int | None
    offset: int = 0
    rank: Any | None = None


def limit(translator: Translator, node: Any) -> ChangePlan:
    """ORDER BY ... LIMIT n OFFSET m, each of the parts optional; one of them may stand in another without an order."""
    begin, end, above = 0, None, []
    while kind(node) in {"GlobalLimit", "LocalLimit", "Offset"}:
        if kind(node) == "Offset":
            skipped = int(node.offsetExpr().eval(None))
            begin, end = begin + skipped, None if end is None else end + skipped
        elif kind(node) == "GlobalLimit":  # a local one repeats it
            rows = int(node.limitExpr().eval(None))
            end = rows if end is None else min(end, rows)
        above.append(node)
        node = node.child()
    if kind(node) == "Project" and kind(node.child()) == "Sort":  # ORDER BY a column that is not in the result
        return translator.node(translator.catalyst.stacked([node, *above], node.child()))
    order, attributes = list[Any](), items(node.output())
    if kind(node) == "Sort":
        order, node = joined_subqueries(translator, items(node.order()), node.child())
    ranking = _Ranking(function=RankFunction.ROW_NUMBER, partition=(), order=order, limit=end, offset=begin)
    return _ranked(translator, node, attributes, ranking)


def window(translator: Translator, node: Any) -> ChangePlan:
    """A ranking of all rows."""
    return _ranked_window(translator, node, limit=None)


def top_rows(translator: Translator, node: Any, used: Collection[int]) -> ChangePlan | None:
    """Return a filter over a ranking as Top-N; None if the node is something else.

    Further conditions are a filter of its own above it. Where the rank itself is not used, a row whose rank changes is
    no change.
    """
    if kind(node) != "Filter" or kind(node.child()) not in {"Window", "WindowGroupLimit"}:
        return None
    below = node.child()
    while kind(below) == "WindowGroupLimit":
        below = below.child()
    if kind(below) != "Window" or (rank := _rank_of(below)) is None:
        return None
    catalyst = translator.catalyst
    conditions = catalyst.conjuncts(node.condition())
    bounds = [_bound(each, attribute_id(rank)) for each in conditions]
    limits = [bound for bound in bounds if bound is not None]
    if not limits:
        return None
    if len(limits) < len(bounds):
        inner = [each for each, bound in zip(conditions, bounds, strict=True) if bound is not None]
        others = [each for each, bound in zip(conditions, bounds, strict=True) if bound is None]
        top = catalyst.filter(catalyst.conjunction(inner), below)
        return translator.node(catalyst.filter(catalyst.conjunction(others), top))
    return _ranked_window(
        translator,
        below,
        limit=min(largest for _, largest in limits),
        offset=max(smallest for smallest, _ in limits),
        keeps_rank=attribute_id(rank) in used,
    )


def _rank_of(node: Any) -> Any | None:
    """Return the attribute of the only window expression of a node, if it is a rank."""
    expressions = items(node.windowExpressions())
    if len(expressions) != 1 or kind(expressions[0]) != "Alias":
        return None
    function = expressions[0].child()
    if kind(function) != "WindowExpression" or kind(function.windowFunction()) not in _FUNCTIONS:
        return None
    return expressions[0].toAttribute()


def _bound(condition: Any, rank: int) -> tuple[int, int] | None:
    """Return (offset, limit) for a comparison of the rank with a constant from above; None for other conditions."""
    name, sides = kind(condition), items(condition.children())
    if len(sides) == 2 and sides[0].foldable():  # noqa: PLR2004 - a comparison has two sides
        sides, name = sides[::-1], _FLIPPED.get(name, "")
    if name not in _FLIPPED.values() or kind(sides[0]) != "AttributeReference" or not sides[1].foldable():
        return None
    if attribute_id(sides[0]) != rank or (value := sides[1].eval(None)) is None:
        return None
    number = int(value)
    if name == "EqualTo":
        return (max(number - 1, 0), max(number, 0))
    return (0, max(number - (name == "LessThan"), 0))


def _ranked_window(
    translator: Translator, node: Any, *, limit: int | None, offset: int = 0, keeps_rank: bool = True
) -> ChangePlan:
    rank = _rank_of(node)
    if rank is None:
        functions = ", ".join(each.sql() for each in items(node.windowExpressions()))
        translator.refuse(f"window functions other than one ROW_NUMBER, RANK or DENSE_RANK ({functions})")
    (expression,) = items(node.windowExpressions())
    ranking = _Ranking(
        function=_FUNCTIONS[kind(expression.child().windowFunction())],
        partition=items(node.partitionSpec()),
        order=items(node.orderSpec()),
        limit=limit,
        offset=offset,
        rank=rank if keeps_rank else None,
    )
    return _ranked(translator, node.child(), items(node.child().output()), ranking)


def _ranked(translator: Translator, node: Any, attributes: Sequence[Any], ranking: _Ranking) -> ChangePlan:
    """Return the rows of a node by their rank."""
    child = translator.node(node)
    translator.require_lasting(node, "ranking")
    ttl = translator.ttl(node, forgets=bool(ranking.partition))
    translator.require_deterministic(child, [*ranking.partition, *ranking.order])
    names = by_id(attributes, "c")
    columns = {names[attribute_id(each)]: each for each in attributes}
    outputs, extra = dict(columns), dict[str, Any]()
    for each in attributes:
        require_comparable(f"column {each.name()} of a ranking", data_type(each), each.name())
    for each in [*ranking.partition, *(order.child() for order in ranking.order)]:
        require_comparable(f"{each.sql()} in a ranking", data_type(each), each.sql())
    keys = [name_for(each, names, extra, "p") for each in ranking.partition]
    order = [OrderKey(name_for(each.child(), names, extra, "p"), *sort_direction(each)) for each in ranking.order]
    given = OperatorInput(changes=translator.columns(child, columns | extra), keys=keys)
    for key, each in zip(order, ranking.order, strict=True):
        if not is_sortable(given.schema.field(key.column).type):
            translator.refuse(f"ORDER BY {each.child().sql()}", " Order by the values in it.")
    operator = RankOperator(
        schema=given.schema,
        partition_keys=keys,
        order=order,
        function=ranking.function,
        limit=ranking.limit,
        offset=ranking.offset,
        rank_column=None if ranking.rank is None else "rank",
        rank_type=pa.int32(),
        is_insert_only=child.is_insert_only,
    )
    if ranking.rank is not None:
        outputs["rank"] = ranking.rank
    plan = translator.run([given], operator, outputs, ttl)
    mode = ChangelogMode.RETRACT
    shown = shown_above(_shown(ranking) + shown_ttl(ttl), mode, [child])
    return ChangePlan(plan=plan, mode=mode, key=_key(child, ranking), shown=shown)


def _key(child: ChangePlan, ranking: _Ranking) -> frozenset[int] | None:
    """Return the key: the partition if it has one row at most, or the partition and the row's number."""
    if all(kind(each) == "AttributeReference" for each in ranking.partition) and (
        ranking.function is RankFunction.ROW_NUMBER
    ):
        partition = frozenset(attribute_id(each) for each in ranking.partition)
        if ranking.limit is not None and ranking.limit - ranking.offset <= 1:
            return partition
        if ranking.rank is not None:
            return partition | {attribute_id(ranking.rank)}
    return child.key


def _shown(ranking: _Ranking) -> str:
    partition = ", ".join(each.sql() for each in ranking.partition)
    order = ", ".join(each.sql() for each in ranking.order)
    kept = f"{ranking.offset + 1} to {'all' if ranking.limit is None else ranking.limit}"
    return f"Rank [{ranking.function.value} {kept}, partition by ({partition}), order by ({order})]"
