"""The compiler's entry points: an expression, a watermark strategy's expression, a rowtime column.

Rules of this file: it is imported on the driver. What it returns is evaluated elsewhere, without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pyarrow as pa
from sqlglot import exp

from datasources.errors import ExpressionError
from datasources.expressions.binder import bind
from datasources.expressions.casts import widened
from datasources.expressions.columns import column, split_path
from datasources.expressions.compiled import CompiledExpression, constant_delay_us
from datasources.expressions.plan import FieldPath, Node, children_of
from datasources.expressions.scope import Scope
from datasources.expressions.source_text import SourceText
from datasources.expressions.spark_types import BIGINT, is_integral, is_time, spark_name
from datasources.expressions.syntax import parse

__all__ = ["compile_expression", "compile_rowtime", "compile_watermark"]

_MILLISECOND_US: Final = 1_000


def compile_expression(
    text: str,
    schema: pa.Schema,
    *,
    time_zone: str | None,
    ansi: bool | None,
    purpose: str = "watermark.as",
) -> CompiledExpression:
    """Compile a Spark SQL expression on the columns of a record.

    Args:
        text: The expression.
        schema: The columns of the records; TIMESTAMP is timestamp[us, UTC], TIMESTAMP_NTZ is timestamp[us].
        time_zone: spark.sql.session.timeZone, or None if unknown: what depends on it is refused then.
        ansi: spark.sql.ansi.enabled, or None if unknown: what depends on it is refused then.
        purpose: The option that the text came from; errors name it.

    Raises:
        ExpressionError: The text does not parse, names unknown columns, or is not certain to be evaluated with
            Spark's own result. The message has the reason, the place and the way out.
    """
    source = SourceText(text=text, purpose=purpose)
    scope = Scope(source=source, schema=schema, time_zone=time_zone, ansi=ansi, bind=bind)
    return _compiled(source, scope.node(parse(source)))


def compile_watermark(
    text: str, schema: pa.Schema, *, rowtime: str, time_zone: str | None, ansi: bool | None
) -> CompiledExpression:
    """Compile the expression whose value is a record's watermark candidate.

    The result is of the rowtime column's type, or BIGINT epoch milliseconds (smaller integers are widened).
    NULL means that the record gives no watermark. Event times are floored to whole milliseconds.

    Args:
        text: The expression.
        schema: The columns of the records.
        rowtime: The time attribute, as in `compile_rowtime`.
        time_zone: As in `compile_expression`.
        ansi: As in `compile_expression`.

    Raises:
        ExpressionError: As `compile_expression` and `compile_rowtime`, or the type is another one.
    """
    attribute = compile_rowtime(rowtime, schema)
    compiled = compile_expression(text, schema, time_zone=time_zone, ansi=ansi)
    plan, found = compiled.plan, compiled.result_type
    if is_integral(found):
        plan, found = widened(plan, BIGINT), BIGINT
    elif found != attribute.result_type:
        raise _wrong_watermark_type(compiled, attribute)
    delay = constant_delay_us(plan)
    return replace(
        compiled,
        plan=plan,
        result_type=found,
        constant_delay_ms=None if delay is None or delay[0] != attribute.plan else compiled.constant_delay_ms,
        grain_us=_MILLISECOND_US,
    )


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
        columns=tuple(dict.fromkeys(_columns(plan))),
        constant_delay_ms=None if delay is None else -(-delay[1] // _MILLISECOND_US),
    )


def _columns(plan: Node) -> list[str]:
    if isinstance(plan, FieldPath):
        return [plan.path[0]]
    return [name for child in children_of(plan) for name in _columns(child)]


def _wrong_watermark_type(compiled: CompiledExpression, attribute: CompiledExpression) -> ExpressionError:
    wanted = spark_name(attribute.result_type)
    found = compiled.result_type
    source = SourceText(text=compiled.text, purpose=compiled.purpose)
    reason = f"the watermark is {spark_name(found)}, and has to be {wanted}, as {attribute.text} is, or BIGINT"
    if is_time(found):
        way_out = f"TIMESTAMP and TIMESTAMP_NTZ are different clocks; derive the watermark from {wanted} values."
    else:
        way_out = f"Return a {wanted}, or epoch milliseconds as BIGINT."
    return source.refusal(source.whole, reason, way_out)
