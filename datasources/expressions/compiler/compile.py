"""The compiler's entry points: an expression, a watermark strategy's expression, a rowtime, a filter.

Rules of this file: it is imported on the driver. What it returns is evaluated elsewhere, without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import pyarrow as pa
from sqlglot import exp

from datasources.arrow_types import BIGINT, BOOLEAN, Path, is_integral, is_time, spark_name
from datasources.errors import ExpressionError
from datasources.expressions.compiler.binder import bind
from datasources.expressions.compiler.casts import widened
from datasources.expressions.compiler.columns import column, split_path
from datasources.expressions.compiler.expression_text import SourceText
from datasources.expressions.compiler.python_functions import by_name
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.compiler.syntax import parse
from datasources.expressions.evaluation.compiled_expression import CompiledExpression, constant_delay_us, unshifted
from datasources.expressions.evaluation.function_call import ReaderFunction
from datasources.expressions.evaluation.logic_nodes import Conjunction
from datasources.expressions.evaluation.nodes import FieldPath, Node, children_of

_MILLISECOND_US: Final = 1_000
_DEEPEST: Final = 150
"""The depth of nested operators: a task's stack may be smaller than the driver's."""
_UNITS: Final = {
    name: unit
    for unit, names in {
        "MILLISECOND": ("ms", "millis", "millisecond", "milliseconds"),
        "SECOND": ("s", "sec", "secs", "second", "seconds"),
        "MINUTE": ("m", "min", "mins", "minute", "minutes"),
        "HOUR": ("h", "hour", "hours"),
        "DAY": ("d", "day", "days"),
    }.items()
    for name in names
}
_LENGTH: Final = re.compile(rf"(?:INTERVAL )?(?P<amount>[0-9]{{1,9}}) ?(?P<unit>{'|'.join(_UNITS)})", re.IGNORECASE)
"""As in `watermark.as` = '5 seconds', and an interval alone; without quotes, with single blanks."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]+[Ll]?")
_NO_FUNCTIONS: Final[Mapping[str, ReaderFunction]] = MappingProxyType({})


def compile_expression(  # noqa: PLR0913 - the text and all that its meaning depends on
    text: str,
    schema: pa.Schema,
    *,
    time_zone: str | None,
    ansi: bool | None,
    purpose: str = "watermark.as",
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile a Spark SQL expression on the columns of a record.

    Args:
        text: The expression.
        schema: The columns of the records; TIMESTAMP is timestamp[us, UTC], TIMESTAMP_NTZ is timestamp[us].
        time_zone: spark.sql.session.timeZone, or None if unknown: what depends on it is refused then.
        ansi: spark.sql.ansi.enabled, or None if unknown: what depends on it is refused then.
        purpose: The option that the text came from; errors name it.
        functions: The user's own functions by name. Functions of Spark's come first.

    Raises:
        ExpressionError: The text does not parse, names unknown columns, or is not certain to be evaluated with
            Spark's own result. The message has the reason, the position and a hint.
    """
    source = SourceText(text=text, purpose=purpose)
    scope = Scope(source=source, schema=schema, time_zone=time_zone, ansi=ansi, bind=bind, functions=by_name(functions))
    try:
        plan = scope.node(parse(source))
    except RecursionError:
        raise _too_deep(source) from None
    if _depth(plan) > _DEEPEST:
        raise _too_deep(source)
    return _compiled(source, plan)


def compile_watermark(  # noqa: PLR0913 - the facts of a strategy
    text: str,
    schema: pa.Schema,
    *,
    rowtime: str | CompiledExpression,
    time_zone: str | None,
    ansi: bool | None,
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile the expression whose value is a record's watermark candidate.

    The result is of the rowtime's type, or BIGINT epoch milliseconds (smaller integers are widened).
    NULL means that the record gives no watermark. Event times are floored to whole milliseconds.

    Args:
        text: The expression.
        schema: The columns of the records.
        rowtime: The time attribute, as in `compile_rowtime`, or what gives its value.
        time_zone: As in `compile_expression`.
        ansi: As in `compile_expression`.
        functions: As in `compile_expression`.

    Raises:
        ExpressionError: As `compile_expression` and `compile_rowtime`, or the type is another one.
    """
    attribute = compile_rowtime(rowtime, schema) if isinstance(rowtime, str) else rowtime
    _refuse_length(text, attribute)
    compiled = compile_expression(text, schema, time_zone=time_zone, ansi=ansi, functions=functions)
    plan, found = compiled.plan, compiled.result_type
    if is_integral(found):
        plan, found = widened(plan, BIGINT), BIGINT
    elif found != attribute.result_type:
        raise _wrong_watermark_type(compiled, attribute)
    return replace(
        compiled,
        plan=plan,
        result_type=found,
        constant_delay_ms=_delay_behind_ms(plan, attribute.plan),
        grain_us=_MILLISECOND_US,
    )


def compile_rowtime_expression(  # noqa: PLR0913 - as compile_expression, and the attribute's name
    text: str,
    schema: pa.Schema,
    *,
    attribute: str,
    time_zone: str | None,
    ansi: bool | None,
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile the expression whose value is the rowtime, for an attribute that is no column of the records.

    See `compile_expression` for the arguments; ``attribute`` names the time attribute in errors.

    Raises:
        ExpressionError: As `compile_expression`, or the type is neither TIMESTAMP nor TIMESTAMP_NTZ.
    """
    compiled = compile_expression(
        text, schema, time_zone=time_zone, ansi=ansi, purpose="watermark.rowtime", functions=functions
    )
    if not is_time(compiled.result_type):
        source = SourceText(text=text, purpose="watermark.rowtime")
        found = spark_name(compiled.result_type)
        raise source.refusal(
            source.whole,
            f"the time attribute {attribute} is {found}, and has to be TIMESTAMP or TIMESTAMP_NTZ",
            "CAST the value, or compute it with timestamp_millis or to_timestamp.",
        )
    return compiled


def compile_filter(
    text: str,
    schema: pa.Schema,
    *,
    time_zone: str | None,
    ansi: bool | None,
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
) -> CompiledExpression:
    """Compile a condition on the columns of a record; rows where it is not true are left out.

    Raises:
        ExpressionError: As `compile_expression`, or the type is not BOOLEAN.
    """
    compiled = compile_expression(
        text, schema, time_zone=time_zone, ansi=ansi, purpose="scan.filter", functions=functions
    )
    if compiled.result_type != BOOLEAN:
        source = SourceText(text=text, purpose="scan.filter")
        found = spark_name(compiled.result_type)
        raise source.refusal(source.whole, f"the filter is {found}, and has to be BOOLEAN", "Compare the value.")
    return replace(compiled, plan=_choosing_rows(compiled.plan))


def _choosing_rows(plan: Node) -> Node:
    """Return a condition as that of a WHERE, which Spark evaluates part by part."""
    if not isinstance(plan, Conjunction) or plan.decisive:
        return plan
    left, right = map(_choosing_rows, plan.operands)
    return replace(plan, operands=(left, right), chooses_rows=True)


def compile_rowtime(path: str, schema: pa.Schema) -> CompiledExpression:
    """Compile the name of a time attribute: a column, or names joined by dots that lead into structs.

    Raises:
        ExpressionError: The column does not exist (near matches are named) or is no TIMESTAMP / TIMESTAMP_NTZ.
    """
    source = SourceText(text=path, purpose="watermark.for")
    names = split_path(path.strip())
    tree: exp.Expr = exp.column(exp.to_identifier(names[0], quoted=True))
    for name in names[1:]:
        tree = exp.Dot(this=tree, expression=exp.to_identifier(name, quoted=True))
    scope = Scope(source=source, schema=schema, time_zone=None, ansi=None, bind=bind)
    plan = column(scope, tree)
    if not is_time(plan.type):
        raise source.refusal(
            source.whole,
            f"the time attribute is {spark_name(plan.type)}, and has to be TIMESTAMP or TIMESTAMP_NTZ",
            "Declare the column with one of these types in the schema.",
        )
    return _compiled(source, plan)


def _compiled(source: SourceText, plan: Node) -> CompiledExpression:
    delay = constant_delay_us(plan)
    return CompiledExpression(
        text=source.text.strip(),
        purpose=source.purpose,
        plan=plan,
        result_type=plan.type,
        paths=tuple(dict.fromkeys(_paths(plan))),
        constant_delay_ms=None if delay is None else -(-delay[1] // _MILLISECOND_US),
    )


def _refuse_length(text: str, attribute: CompiledExpression) -> None:
    """Reject an interval or a number: '5 seconds' probably means that long behind the rowtime."""
    if _NUMBER.fullmatch(text.strip()):
        source = SourceText(text=text, purpose="watermark.as")
        raise source.refusal(
            source.whole,
            "this is a number, the same for every row, so the watermark would never move",
            f"Five seconds behind is {attribute.text} - INTERVAL '5' SECOND.",
        )
    match = _LENGTH.fullmatch(" ".join(text.replace("'", " ").replace('"', " ").split()))
    if match is not None:
        source = SourceText(text=text, purpose="watermark.as")
        unit, amount = _UNITS[match["unit"].lower()], match["amount"]
        if unit == "MILLISECOND":
            unit, amount = "SECOND", f"{int(amount) // 1_000}.{int(amount) % 1_000:03}"
        written = f"{attribute.text} - INTERVAL '{amount}' {unit}"
        raise source.refusal(source.whole, "this is a length of time, and a watermark is a moment", f"Write {written}.")


def _delay_behind_ms(watermark: Node, rowtime: Node) -> int | None:
    """Return by how much the watermark is behind the rowtime, rounded up, if that is the same for all records."""
    (late, late_us), (early, early_us) = unshifted(watermark), unshifted(rowtime)
    delay_us = late_us - early_us
    if late != early or not is_time(late.type) or delay_us < 0:
        return None
    return -(-delay_us // _MILLISECOND_US)


def _depth(plan: Node) -> int:
    """Return how many operators stand within each other, without the stack that a deep plan would need."""
    depth, level = 0, [plan]
    while level:
        depth, level = depth + 1, [child for node in level for child in children_of(node)]
    return depth


def _too_deep(source: SourceText) -> ExpressionError:
    return source.refusal(
        source.whole,
        "the expression is nested too deeply",
        "Take parentheses away, or compute a part of it in a column.",
    )


def _paths(plan: Node) -> list[Path]:
    if isinstance(plan, FieldPath):
        return [plan.path]
    return [path for child in children_of(plan) for path in _paths(child)]


def _wrong_watermark_type(compiled: CompiledExpression, attribute: CompiledExpression) -> ExpressionError:
    wanted = spark_name(attribute.result_type)
    found = compiled.result_type
    source = SourceText(text=compiled.text, purpose=compiled.purpose)
    reason = f"the watermark is {spark_name(found)}, and has to be {wanted}, as {attribute.text} is, or BIGINT"
    if is_time(found):
        hint = f"TIMESTAMP and TIMESTAMP_NTZ are different clocks; derive the watermark from {wanted} values."
    else:
        hint = f"Return a {wanted}, or epoch milliseconds as BIGINT."
    return source.refusal(source.whole, reason, hint)
