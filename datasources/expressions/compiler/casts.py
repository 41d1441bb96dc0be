"""CAST and TRY_CAST: which pairs of types are converted in the reader, and how.

A pair that is not in this file is refused. Without ANSI mode Spark answers a failed cast of text or to a decimal
with NULL, and lets a number that is too large wrap; the first is reproduced, the second is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from sqlglot import exp

from datasources import arrow_types as types
from datasources.arrow_types import is_integral, spark_name
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.compiler.syntax import span_of
from datasources.expressions.evaluation.nodes import Apply, Constant, Node
from datasources.expressions.vectors.vectors import EvalError

_NAMES: Final = {name: name for name in types.COLUMN_TYPES if name != "BINARY"}
_TARGETS: Final = {
    written: types.COLUMN_TYPES[name]
    for written, name in {**_NAMES, **types.SPELLINGS, "TIMESTAMP_LTZ": "TIMESTAMP"}.items()
}
_WRITTEN: Final = re.compile(
    r".*(?:\bAS\s|::)\s*(?P<name>[A-Z_]+)\s*(?:\(\s*(?P<precision>[0-9]+)\s*(?:,\s*(?P<scale>[0-9]+)\s*)?\)\s*)?\)?",
    re.DOTALL | re.IGNORECASE,
)
_DECIMAL_NAMES: Final = ("DECIMAL", "DEC", "NUMERIC")
_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cast:
    """One cast under compilation."""

    scope: Scope
    tree: exp.Expr
    operand: Node
    target: pa.DataType
    lenient: bool

    @property
    def what(self) -> str:
        return f"a cast of {spark_name(self.operand.type)} to {spark_name(self.target)}"

    def apply(self, kernel: str, *params: object) -> Apply:
        """Convert by a kernel without errors that depend on ANSI mode."""
        return Apply(
            kernel=kernel,
            arguments=(self.operand,),
            type=self.target,
            params=params,
            errors_to_null=self.lenient,
        )

    def apply_nulling(self, kernel: str, *params: object) -> Apply:
        """Convert by a kernel whose errors are NULL without ANSI mode."""
        to_null = self.lenient or not self.scope.require_ansi(self.tree, self.what)
        return Apply(kernel=kernel, arguments=(self.operand,), type=self.target, params=params, errors_to_null=to_null)

    def overflow_error(self) -> EvalError:
        """Return the error for a number that is too large for the target."""
        if self.lenient:
            return EvalError.CAST_OVERFLOW
        return self.scope.overflow_error(self.tree, self.what, EvalError.CAST_OVERFLOW)

    def offset_us(self) -> int:
        return self.scope.require_offset_us(self.tree, self.what)


def target_type(scope: Scope, tree: exp.Expr) -> pa.DataType:
    """Return the type that a CAST names, by the name as written: the parser takes some names for others.

    Raises:
        ExpressionError: The type is not on the list.
    """
    match = _WRITTEN.fullmatch(scope.source.slice(span_of(scope.source, tree)).strip())
    name = match["name"].upper() if match else ""
    if match and name in _DECIMAL_NAMES:
        decimal = types.decimal_of(int(match["precision"] or 10), int(match["scale"] or 0))
        if decimal is not None:
            return decimal
    elif match and name in _TARGETS and not match["precision"]:
        return _TARGETS[name]
    raise scope.refusal(tree, "casts to this type are not evaluated in the reader")


def literal_type(scope: Scope, tree: exp.Expr) -> pa.DataType | None:
    """Return the type that stands before a quoted literal, such as TIMESTAMP '...'; None if it is another one."""
    written = scope.source.slice(span_of(scope.source, tree)).strip()
    name = re.split("['\"]", written, maxsplit=1)[0].strip().upper()
    return _TARGETS.get(name) if name.startswith(("TIMESTAMP", "DATE")) else None


def cast(scope: Scope, tree: exp.Expr, operand: Node, target: pa.DataType, *, lenient: bool) -> Node:
    """Convert an operand to a type.

    With ``lenient``, TRY_CAST, what cannot be converted is NULL.

    Raises:
        ExpressionError: The pair of types is not on the list, or depends on something unknown.
    """
    if operand.type == target:
        return operand
    if operand.type == types.VOID:
        return Constant(value=None, type=target)
    job = _Cast(scope=scope, tree=tree, operand=operand, target=target, lenient=lenient)
    rule = _rule(operand.type, target)
    if rule is None:
        raise scope.refusal(tree, f"{job.what} is not evaluated in the reader")
    return rule(job)


def widened(operand: Node, target: pa.DataType) -> Node:
    """Give an integral operand, or NULL, the wider integral type; nothing is converted."""
    if operand.type == target:
        return operand
    if isinstance(operand, Constant):
        return Constant(value=operand.value, type=target)
    return Apply(kernel="identity", arguments=(operand,), type=target)


def to_double(operand: Node) -> Node:
    """Convert a number to DOUBLE."""
    if operand.type == types.DOUBLE:
        return operand
    if pa.types.is_decimal(operand.type):
        kernel, params = "decimal_to_double", (operand.type.scale,)
        return Apply(kernel=kernel, arguments=(operand,), type=types.DOUBLE, params=params)
    return Apply(kernel="to_double", arguments=(operand,), type=types.DOUBLE)


_Rule = Callable[[_Cast], Node]


def _rule(source: pa.DataType, target: pa.DataType) -> _Rule | None:
    return _RULES.get((_family(source), _family(target)))


def _family(data_type: pa.DataType) -> str:
    if is_integral(data_type):
        return "integral"
    return "decimal" if pa.types.is_decimal(data_type) else spark_name(data_type)


def _narrow(job: _Cast) -> Node:
    if types.wider_integral(job.target, job.operand.type) == job.target:
        return widened(job.operand, job.target)
    return job.apply("int_to_int", types.INTEGER_BITS[job.target], job.overflow_error())


def _truncate(job: _Cast) -> Node:
    return job.apply("float_to_int", types.INTEGER_BITS[job.target], job.overflow_error())


def _decimal_to_integral(job: _Cast) -> Node:
    bits = types.INTEGER_BITS[job.target]
    return job.apply("decimal_to_int", job.operand.type.scale, bits, job.overflow_error())


def _to_decimal(job: _Cast) -> Node:
    return job.apply_nulling("int_to_decimal", job.target.precision, job.target.scale)


def _rescale(job: _Cast) -> Node:
    return job.apply_nulling("decimal_to_decimal", job.operand.type.scale, job.target.precision, job.target.scale)


def _parse_integer(job: _Cast) -> Node:
    fraction_allowed = not job.lenient and not job.scope.require_ansi(job.tree, job.what)
    return job.apply_nulling("string_to_int", types.INTEGER_BITS[job.target], fraction_allowed)


def _parse_moment(job: _Cast) -> Node:
    keeps_wall_clock = job.target == types.NTZ
    return job.apply_nulling("text_to_moment", keeps_wall_clock, job.scope.session_offset_us())


def _moment_to_seconds(job: _Cast) -> Node:
    seconds = Apply(kernel="scale_down", arguments=(job.operand,), type=types.BIGINT, params=(_SECOND_US,))
    return cast(job.scope, job.tree, seconds, job.target, lenient=job.lenient)


def _seconds_to_moment(job: _Cast) -> Node:
    return job.apply("scale_up", _SECOND_US, True)


_RULES: Final[dict[tuple[str, str], _Rule]] = {
    ("integral", "integral"): _narrow,
    ("integral", "FLOAT"): lambda job: job.apply("int_to_float"),
    ("integral", "DOUBLE"): lambda job: job.apply("to_double"),
    ("integral", "decimal"): _to_decimal,
    ("integral", "STRING"): lambda job: job.apply("int_to_string"),
    ("integral", "TIMESTAMP"): _seconds_to_moment,
    ("FLOAT", "DOUBLE"): lambda job: job.apply("to_double"),
    ("FLOAT", "integral"): _truncate,
    ("DOUBLE", "integral"): _truncate,
    ("decimal", "integral"): _decimal_to_integral,
    ("decimal", "decimal"): _rescale,
    ("decimal", "DOUBLE"): lambda job: job.apply("decimal_to_double", job.operand.type.scale),
    ("STRING", "integral"): _parse_integer,
    ("STRING", "TIMESTAMP"): _parse_moment,
    ("STRING", "TIMESTAMP_NTZ"): _parse_moment,
    ("BOOLEAN", "STRING"): lambda job: job.apply("boolean_to_string"),
    ("TIMESTAMP", "integral"): _moment_to_seconds,
    ("TIMESTAMP", "DOUBLE"): lambda job: job.apply("seconds_as_double"),
    ("TIMESTAMP", "TIMESTAMP_NTZ"): lambda job: job.apply("shift", job.offset_us()),
    ("TIMESTAMP", "DATE"): lambda job: job.apply("moment_to_date", job.offset_us()),
    ("TIMESTAMP_NTZ", "TIMESTAMP"): lambda job: job.apply("shift", -job.offset_us()),
    ("TIMESTAMP_NTZ", "STRING"): lambda job: job.apply("wall_clock_to_string"),
    ("TIMESTAMP_NTZ", "DATE"): lambda job: job.apply("moment_to_date", 0),
    ("DATE", "TIMESTAMP"): lambda job: job.apply("date_to_moment", job.offset_us()),
    ("DATE", "TIMESTAMP_NTZ"): lambda job: job.apply("date_to_moment", 0),
}
