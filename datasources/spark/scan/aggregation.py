"""From the option `scan.aggregation` to the partial aggregates that a reader delivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasources.arrow_types import BIGINT, DOUBLE, FLOAT, MAX_DECIMAL_DIGITS, canonical, is_integral
from datasources.errors import ExpressionError
from datasources.expressions import CompiledExpression
from datasources.expressions.evaluation.certainty import Certainty, certainty
from datasources.source.api.abilities import RowCondition
from datasources.source.api.aggregation import GroupKey, Panes, PartialAggregation, PartialCall, PartialFunction
from datasources.source.api.connector import SessionInfo
from datasources.spark.options.aggregation_options import AGGREGATION, CallOption, PaneOption, parse_aggregation

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction

_MORE_DIGITS = 10
"""Spark's SUM of decimals has so many digits more than its values."""


def build_aggregation(
    text: str, schema: pa.Schema, session: SessionInfo, functions: Mapping[str, ReaderFunction]
) -> PartialAggregation:
    """Return the aggregation that the option describes, over the columns of `schema`.

    Raises:
        OptionError: the text has another form.
        ExpressionError: an expression is not certain to be evaluated with Spark's own result.
    """
    from datasources.expressions.compiler.compile import compile_expression, compile_filter

    option = parse_aggregation(text)
    zone: dict[str, Any] = {"time_zone": session.time_zone, "ansi": session.ansi, "functions": functions}

    def value(expression: str) -> CompiledExpression:
        return require_certain(compile_expression(expression, schema, purpose=AGGREGATION, **zone))

    def call(each: CallOption) -> PartialCall:
        argument = None if each.argument is None else value(each.argument)
        condition = None if each.condition is None else require_certain(compile_filter(each.condition, schema, **zone))
        return PartialCall(
            name=each.name,
            function=each.function,
            argument=argument,
            condition=condition,
            result_type=_result_type(each.function, argument),
        )

    return PartialAggregation(
        panes=None if option.panes is None else _panes(option.panes, schema, zone),
        keys=tuple(GroupKey(name=key.name, value=_groupable(value(key.value))) for key in option.keys),
        calls=tuple(map(call, option.calls)),
        keeps_row_watermarks=option.keeps_row_watermarks,
    )


def _panes(option: PaneOption, schema: pa.Schema, zone: Mapping[str, Any]) -> Panes:
    from datasources.expressions.compiler.compile import compile_rowtime_expression

    rowtime = compile_rowtime_expression(option.rowtime, schema, attribute=option.name, **zone)
    return Panes(
        name=option.name,
        rowtime=rowtime,
        time_type=rowtime.result_type,
        length_us=option.length_us,
        offset_us=option.offset_us,
    )


def require_certain(expression: CompiledExpression) -> CompiledExpression:
    """Return an expression that Spark does not evaluate any more.

    Raises:
        ExpressionError: there may be rows for which Spark has a value and the reader has none.
    """
    if certainty(expression.plan) is Certainty.LIMITED:
        raise ExpressionError(f"`{expression.text}` may have values that only Spark computes")
    return expression


def may_fail(expression: RowCondition) -> bool:
    """Return whether there may be rows for which an expression has no value."""
    return not isinstance(expression, CompiledExpression) or certainty(expression.plan) is not Certainty.TOTAL


def aggregation_schema(aggregation: PartialAggregation) -> pa.Schema:
    """Return the columns that are delivered."""
    panes = aggregation.panes
    return pa.schema(
        [
            *([] if panes is None else [(panes.name, panes.time_type)]),
            *((key.name, key.value.result_type) for key in aggregation.keys),
            *((call.name, call.result_type) for call in aggregation.calls),
        ]
    )


def _groupable(key: CompiledExpression) -> CompiledExpression:
    if canonical(key.result_type) is None or pa.types.is_null(key.result_type):
        raise ExpressionError(f"rows are not grouped by `{key.text}` in the reader, which is {key.result_type}")
    return key


def _result_type(function: PartialFunction, argument: CompiledExpression | None) -> pa.DataType:
    """Return the type of an aggregate, in which the sum of any two of its values is one of Spark's SUM as well."""
    if function is PartialFunction.COUNT:
        return BIGINT
    assert argument is not None
    found = argument.result_type
    if function is PartialFunction.SUM:
        if is_integral(found):
            return BIGINT
        if found in (FLOAT, DOUBLE):
            return DOUBLE
        if pa.types.is_decimal(found):
            return pa.decimal128(min(found.precision + _MORE_DIGITS, MAX_DECIMAL_DIGITS), found.scale)
    elif canonical(found) is not None and not pa.types.is_null(found):
        return found
    raise ExpressionError(f"{function.name} of `{argument.text}`, which is {found}, is not computed in the reader")
