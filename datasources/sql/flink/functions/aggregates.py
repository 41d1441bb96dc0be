"""Aggregate functions, also over windows. A rule gets the calls of Spark's functions with DISTINCT, FILTER and OVER."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import cast, wrapped
from datasources.sql.flink.logical_types import BIGINT, INT, MAX_PRECISION, is_family
from datasources.sql.flink.typed_value import Refused, Value, shown_type, spark_type

CallOf = Callable[..., str]
"""(Spark's name, arguments) -> the call with the DISTINCT, FILTER and OVER of the call that is translated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """An aggregate function, or one that only windows have.

    Attributes:
        name: upper case.
        rule: makes the value of the arguments and of calls in Spark.
        is_window_only: whether it needs OVER.
        differs: see `signature.Function`.
    """

    name: str
    rule: Callable[[Sequence[Value], CallOf], Value]
    is_window_only: bool = False
    differs: str = ""


def _result(text: str, kind: SqlType) -> Value:
    return Value(text=text, type=kind, is_aggregate=True)


def _count(arguments: Sequence[Value], call: CallOf) -> Value:
    if len(arguments) > 1:
        tests = " AND ".join(f"({each.text}) IS NOT NULL" for each in arguments)
        return _result(call("count", f"CASE WHEN {tests} THEN 1 END"), BIGINT)
    return _result(call("count", *(each.text for each in arguments)), BIGINT)


def _sum(arguments: Sequence[Value], call: CallOf) -> Value:
    (value,) = _one(arguments, "SUM")
    kind = value.type
    if kind.root == "DECIMAL":
        result = SqlType("DECIMAL", (MAX_PRECISION, kind.parameters[1]))
        return _result(call("sum", f"CAST({value.text} AS {spark_type(result)})"), result)
    if not is_family(kind, "numeric"):
        raise Refused(f"SUM takes numbers, and this is {shown_type(kind)}")
    text = call("sum", value.text)
    if kind.root in {"BIGINT", "DOUBLE"}:
        return _result(text, kind)
    return _result(f"CAST({text} AS FLOAT)" if kind.root == "FLOAT" else wrapped(text, kind.root), kind)


def _avg(arguments: Sequence[Value], call: CallOf) -> Value:
    (value,) = _one(arguments, "AVG")
    kind = value.type
    if is_family(kind, "integer"):
        total = call("sum", value.text)
        text = f"{total} div {call('count', value.text)}"
        return _result(f"CAST({text} AS {kind.root})" if kind != BIGINT else f"({text})", kind)
    if kind.root == "DECIMAL":
        scale = max(6, kind.parameters[1])
        result = SqlType("DECIMAL", (MAX_PRECISION, scale))
        total = call("sum", f"CAST({value.text} AS DECIMAL(38, {kind.parameters[1]}))")
        return _result(f"CAST({total} / {call('count', value.text)} AS {spark_type(result)})", result)
    if not is_family(kind, "numeric"):
        raise Refused(f"AVG takes numbers, and this is {shown_type(kind)}")
    text = call("avg", value.text)
    return _result(text if kind.root == "DOUBLE" else f"CAST({text} AS FLOAT)", kind)


def _same(spark: str) -> Callable[[Sequence[Value], CallOf], Value]:
    def rule(arguments: Sequence[Value], call: CallOf) -> Value:
        (value,) = _one(arguments, spark.upper())
        return _result(call(spark, value.text), value.type)

    return rule


def _number_of_row(spark: str) -> Callable[[Sequence[Value], CallOf], Value]:
    def rule(arguments: Sequence[Value], call: CallOf) -> Value:
        return _result(call(spark, *(cast(each, INT).text for each in arguments)), BIGINT)

    return rule


def _one(arguments: Sequence[Value], name: str) -> Sequence[Value]:
    if len(arguments) != 1:
        raise Refused(f"{name} takes one argument, and here are {len(arguments)}")
    return arguments


_FOUND: Final = (
    Aggregate(name="COUNT", rule=_count),
    Aggregate(name="SUM", rule=_sum),
    Aggregate(name="AVG", rule=_avg, differs="Spark's average of whole numbers is a fraction; Flink's is whole"),
    Aggregate(name="MIN", rule=_same("min")),
    Aggregate(name="MAX", rule=_same("max")),
    Aggregate(name="FIRST_VALUE", rule=_same("first_value")),
    Aggregate(name="LAST_VALUE", rule=_same("last_value")),
    Aggregate(name="ROW_NUMBER", rule=_number_of_row("row_number"), is_window_only=True),
    Aggregate(name="RANK", rule=_number_of_row("rank"), is_window_only=True),
    Aggregate(name="DENSE_RANK", rule=_number_of_row("dense_rank"), is_window_only=True),
)
AGGREGATES: Final[dict[str, Aggregate]] = {each.name: each for each in _FOUND}
"""By name."""
