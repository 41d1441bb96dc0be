"""Aggregate functions, also over windows. A rule gets the calls of Spark's functions with DISTINCT, FILTER and OVER."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import bound, cast, coerced, wrapped
from datasources.sql.flink.functions.binding import constant_text
from datasources.sql.flink.logical_types import BIGINT, DOUBLE, INT, MAX_PRECISION, STRING, array_of, is_family
from datasources.sql.flink.operators import arithmetic
from datasources.sql.flink.typed_value import Refused, Value, shown_type, spark_type, text_literal

_PERCENTILE_ARGUMENTS: Final = (2, 3)
CallOf = Callable[..., str]
"""(Spark's name, arguments) -> the call with the DISTINCT, FILTER and OVER of the call that is translated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """An aggregate function, or one that only windows have.

    Attributes:
        name: upper case.
        rule: makes the value of the arguments and of calls in Spark.
        is_window_only: whether it needs OVER.
        nulls: IGNORE NULLS where that is Flink's rule without a word of it.
        differs: see `signature.Function`.
        differs_of_integers: whether it differs of whole numbers only.
    """

    name: str
    rule: Callable[[Sequence[Value], CallOf], Value]
    is_window_only: bool = False
    nulls: str = ""
    differs: str = ""
    differs_of_integers: bool = False


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


def _spread(name: str) -> Callable[[Sequence[Value], CallOf], Value]:
    """Return the rule of a variance or deviation: Flink computes them of sums, in the type of these."""

    def rule(arguments: Sequence[Value], call: CallOf) -> Value:
        (value,) = _one(arguments, name)
        if not is_family(value.type, "numeric"):
            raise Refused(f"{name} takes numbers, and this is {shown_type(value.type)}")
        total, squares = _sum([value], call), _sum([arithmetic("*", value, value)], call)
        count = _count([value], call)
        spread = arithmetic("-", squares, arithmetic("/", arithmetic("*", total, total), count))
        rows = count if name.endswith("POP") else Value(text=f"nullif({count.text} - 1, 0L)", type=BIGINT)
        variance = arithmetic("/", spread, rows)
        if name.startswith("STDDEV"):
            variance = Value(text=f"power({cast(variance, DOUBLE).text}, 0.5D)", type=DOUBLE)
        kind = _avg([value], call).type
        return _result(cast(variance, kind).text, kind)

    return rule


def _joined_texts(arguments: Sequence[Value], call: CallOf) -> Value:
    value, *separator = arguments
    if not is_family(value.type, "text") or len(separator) > 1:
        raise Refused("LISTAGG takes texts, and the text between them")
    between = constant_text(separator[0], "the text between those of LISTAGG") if separator else ","
    return _result(call("listagg", value.text, text_literal(between)), STRING)


def _approximate_count(arguments: Sequence[Value], call: CallOf) -> Value:
    (value,) = _one(arguments, "APPROX_COUNT_DISTINCT")
    return _result(call("approx_count_distinct", value.text), BIGINT)


def _percentile(arguments: Sequence[Value], call: CallOf) -> Value:
    if len(arguments) not in _PERCENTILE_ARGUMENTS or not is_family(arguments[0].type, "numeric"):
        raise Refused("PERCENTILE takes numbers, a share or an array of shares, and how often each number counts")
    value, shares, *frequency = arguments
    is_several = shares.type.root == "ARRAY"
    texts = (coerced(value, DOUBLE).text, shares.text, *(each.text for each in frequency))
    return _result(call("percentile", *texts), array_of(DOUBLE) if is_several else DOUBLE)


def _collect(arguments: Sequence[Value], call: CallOf) -> Value:
    (value,) = _one(arguments, "COLLECT")

    def counted(values: Value) -> str:
        distinct = f"array_distinct({values.text})"
        number = f"size(filter({values.text}, other -> other <=> item))"
        return f"map_from_arrays({distinct}, transform({distinct}, item -> {number}))"

    found = Value(text=call("collect_list", value.text), type=array_of(value.type))
    return _result(bound(found, counted, "items"), SqlType("MULTISET", arguments=(value.type,)))


def _array(arguments: Sequence[Value], call: CallOf) -> Value:
    (value,) = _one(arguments, "ARRAY_AGG")

    def values(rows: Value) -> str:
        return f"if(size({rows.text}) = 0, NULL, transform({rows.text}, item -> item.v))"

    # Spark's arrays of values leave NULL out.
    found = Value(text=call("collect_list", f"named_struct('v', {value.text})"), type=array_of(value.type))
    return _result(bound(found, values, "items"), array_of(value.type))


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
    Aggregate(
        name="AVG",
        rule=_avg,
        differs="Spark's average of whole numbers is a fraction; Flink's is whole",
        differs_of_integers=True,
    ),
    Aggregate(name="MIN", rule=_same("min")),
    Aggregate(name="MAX", rule=_same("max")),
    *(
        Aggregate(
            name=name,
            rule=_same(name.lower()),
            nulls="IGNORE NULLS",
            differs="Spark's may be NULL; Flink's leave NULL out",
        )
        for name in ("FIRST_VALUE", "LAST_VALUE")
    ),
    *(
        Aggregate(
            name=name,
            rule=_spread(name),
            differs="Spark's is a fraction, also of whole numbers",
            differs_of_integers=True,
        )
        for name in ("STDDEV_POP", "STDDEV_SAMP", "STDDEV", "VAR_POP", "VAR_SAMP", "VARIANCE")
    ),
    Aggregate(name="LISTAGG", rule=_joined_texts),
    Aggregate(name="COLLECT", rule=_collect),
    Aggregate(name="ARRAY_AGG", rule=_array, differs="Spark's leaves NULL out, and is empty where Flink's is NULL"),
    Aggregate(name="PERCENTILE", rule=_percentile),
    Aggregate(name="APPROX_COUNT_DISTINCT", rule=_approximate_count),
    Aggregate(name="ROW_NUMBER", rule=_number_of_row("row_number"), is_window_only=True),
    Aggregate(name="RANK", rule=_number_of_row("rank"), is_window_only=True),
    Aggregate(name="DENSE_RANK", rule=_number_of_row("dense_rank"), is_window_only=True),
)
AGGREGATES: Final[dict[str, Aggregate]] = {each.name: each for each in _FOUND}
"""By name."""
