"""Operators: Spark's typing and coercion of arithmetic, comparison and logic, and the plan for each.

Coercion is narrower than Spark's: text is never turned into a number or a moment unasked, TIMESTAMP and
TIMESTAMP_NTZ never meet, FLOAT meets only FLOAT and DOUBLE. What Spark would coerce there is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from sqlglot import exp

from datasources import arrow_types as types
from datasources.arrow_types import as_decimal, is_integral, is_numeric, is_time, spark_name
from datasources.errors import ExpressionError
from datasources.expressions.compiler.casts import to_double, widened
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.evaluation.nodes import Apply, Constant, Node, children_of
from datasources.expressions.vectors.vectors import EvalError

_DAY_US: Final = 86_400_000_000
_ANY_PRECISION: Final = 80
_CAST_FIRST: Final = "Make the types equal with CAST."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A binary operator under compilation."""

    scope: Scope
    tree: exp.Expr
    symbol: str
    left: Node
    right: Node

    @property
    def what(self) -> str:
        return f"the operator {self.symbol}"

    def kinds(self) -> tuple[pa.DataType, pa.DataType]:
        return self.left.type, self.right.type

    def refusal(self) -> ExpressionError:
        names = f"{spark_name(self.left.type)} and {spark_name(self.right.type)}"
        return self.scope.refusal(self.tree, f"{self.what} is not evaluated for {names}", _CAST_FIRST)

    def integers(self, kernel: str) -> Node:
        """Combine integral operands in the wider type."""
        target = types.wider_integral(self.left.type, self.right.type)
        params = (types.INTEGER_BITS[target], self.scope.overflow_error(self.tree, self.what))
        return Apply(kernel=kernel, arguments=(self.left, self.right), type=target, params=params)

    def doubles(self, kernel: str) -> Node:
        """Combine numbers as DOUBLE, or FLOAT with FLOAT."""
        if self.kinds() == (types.FLOAT, types.FLOAT):
            return Apply(kernel=kernel, arguments=(self.left, self.right), type=types.FLOAT)
        return Apply(kernel=kernel, arguments=(to_double(self.left), to_double(self.right)), type=types.DOUBLE)

    def is_integral(self) -> bool:
        return is_integral(self.left.type) and is_integral(self.right.type)

    def is_floating(self) -> bool:
        left, right = self.kinds()
        if types.DOUBLE in (left, right):
            return is_numeric(left) and is_numeric(right)
        return bool(left == right == types.FLOAT)

    def is_decimal(self) -> bool:
        return all(is_integral(side) or pa.types.is_decimal(side) for side in self.kinds())

    def decimals(self) -> tuple[Node, Node]:
        return _exact_decimal(self.left), _exact_decimal(self.right)


def _exact_decimal(node: Node) -> Node:
    if pa.types.is_decimal(node.type):
        return node
    literal = node.value if isinstance(node, Constant) else None
    target = as_decimal(node.type, literal)
    if isinstance(node, Constant):
        return Constant(value=node.value, type=target)
    return Apply(kernel="int_to_decimal", arguments=(node,), type=target, params=(_ANY_PRECISION, 0))


def add(scope: Scope, tree: exp.Expr, left: Node, right: Node, *, subtract: bool) -> Node:
    """Type ``left + right`` or ``left - right``."""
    pair = _Pair(scope=scope, tree=tree, symbol="-" if subtract else "+", left=left, right=right)
    if is_time(left.type) or is_time(right.type):
        return _add_time(pair, subtract=subtract)
    name = "subtract" if subtract else "add"
    if left.type == right.type == types.INTERVAL:
        return _folded(
            Apply(kernel=f"int_{name}", arguments=(left, right), type=types.INTERVAL, params=(64, EvalError.OVERFLOW))
        )
    if pair.is_integral():
        return pair.integers(f"int_{name}")
    if pair.is_floating():
        return pair.doubles(f"float_{name}")
    if pair.is_decimal():
        return _add_decimals(pair, -1 if subtract else 1)
    raise pair.refusal()


def _add_decimals(pair: _Pair, sign: int) -> Node:
    left, right = pair.decimals()
    target = types.decimal_sum(left.type, right.type)
    if target is None:
        raise pair.scope.refusal(pair.tree, "the result needs more than 38 digits", "CAST an operand to fewer digits.")
    params = (10 ** (target.scale - left.type.scale), sign * 10 ** (target.scale - right.type.scale))
    return Apply(kernel="decimal_add", arguments=(left, right), type=target, params=params)


def _add_time(pair: _Pair, *, subtract: bool) -> Node:
    left, right = pair.left, pair.right
    if is_time(left.type) and right.type == types.INTERVAL:
        return _shifted(pair, left, right, subtract=subtract)
    if left.type == types.INTERVAL and not subtract:
        return _shifted(pair, right, left, subtract=False)
    if left.type == right.type and subtract:
        if left.type == types.TIMESTAMP:
            pair.scope.require_offset_us(pair.tree, "the difference of two TIMESTAMPs")
        return Apply(
            kernel="int_subtract", arguments=(left, right), type=types.INTERVAL, params=(64, EvalError.OVERFLOW)
        )
    if is_numeric(left.type) or is_numeric(right.type):
        raise pair.scope.refusal(
            pair.tree, "a number cannot be added to a timestamp", "Write an interval, such as INTERVAL '5' SECOND."
        )
    raise pair.refusal()


def _shifted(pair: _Pair, moment: Node, interval: Node, *, subtract: bool) -> Node:
    if moment.type == types.TIMESTAMP:
        longest = _longest_us(interval)
        if longest is None or longest >= _DAY_US:
            pair.scope.require_offset_us(pair.tree, "a shift of TIMESTAMP by a day or more")
    if isinstance(interval, Constant) and interval.value is not None:
        delta = -interval.value if subtract else interval.value
        return Apply(kernel="shift", arguments=(moment,), type=moment.type, params=(delta,))
    kernel = "int_subtract" if subtract else "int_add"
    # Spark evaluates the timestamp first, also in `interval + timestamp`: its NULL hides an error of the interval.
    return Apply(
        kernel=kernel, arguments=(moment, interval), type=moment.type, params=(64, EvalError.TIMESTAMP_OVERFLOW)
    )


def _longest_us(node: Node) -> int | None:
    """Return a bound of an interval's length, or None if it depends on data."""
    if isinstance(node, Constant):
        return abs(int(node.value or 0))
    if isinstance(node, Apply) and node.kernel != "int_negate":
        return None
    lengths = [_longest_us(child) for child in children_of(node) if child.type == types.INTERVAL]
    return max((length for length in lengths if length is not None), default=None) if None not in lengths else None


def multiply(scope: Scope, tree: exp.Expr, left: Node, right: Node) -> Node:
    """Type ``left * right``."""
    pair = _Pair(scope=scope, tree=tree, symbol="*", left=left, right=right)
    if types.INTERVAL in pair.kinds():
        interval, other = (left, right) if left.type == types.INTERVAL else (right, left)
        if not is_integral(other.type):
            raise pair.refusal()
        return _folded(
            Apply(
                kernel="int_multiply", arguments=(interval, other), type=types.INTERVAL, params=(64, EvalError.OVERFLOW)
            )
        )
    if pair.is_integral():
        return pair.integers("int_multiply")
    if pair.is_floating():
        return pair.doubles("float_multiply")
    if not pair.is_decimal():
        raise pair.refusal()
    operands = pair.decimals()
    target = types.decimal_product(operands[0].type, operands[1].type)
    if target is None:
        raise scope.refusal(tree, "the result needs more than 38 digits", "CAST an operand to fewer digits.")
    return Apply(kernel="decimal_multiply", arguments=operands, type=target)


def divide(scope: Scope, tree: exp.Expr, left: Node, right: Node, *, whole: bool) -> Node:
    """Type ``left / right`` (always DOUBLE here), or ``left div right`` (always BIGINT).

    Spark evaluates the divisor first, so it is the first argument of the kernels.
    """
    pair = _Pair(scope=scope, tree=tree, symbol="div" if whole else "/", left=left, right=right)
    ansi = scope.require_ansi(tree, pair.what)
    if whole and pair.is_integral():
        error = EvalError.OVERFLOW if ansi else EvalError.SILENT_WRAP
        return Apply(
            kernel="int_quotient",
            arguments=(right, left),
            type=types.BIGINT,
            params=(error,),
            errors_to_null=not ansi,
        )
    if not whole and (pair.is_integral() or pair.is_floating()):
        operands = (to_double(right), to_double(left))
        return Apply(kernel="float_divide", arguments=operands, type=types.DOUBLE, errors_to_null=not ansi)
    raise pair.refusal()


def remainder(scope: Scope, tree: exp.Expr, left: Node, right: Node) -> Node:
    """Type ``left % right``."""
    pair = _Pair(scope=scope, tree=tree, symbol="%", left=left, right=right)
    ansi = scope.require_ansi(tree, pair.what)
    if not pair.is_integral():
        raise pair.refusal()
    target = types.wider_integral(left.type, right.type)
    return Apply(kernel="int_remainder", arguments=(right, left), type=target, errors_to_null=not ansi)


def negate(scope: Scope, tree: exp.Expr, operand: Node, *, name: str = "negate") -> Node:
    """Type ``-operand``, or its absolute value with ``name`` "abs"."""
    what = "the operator -" if name == "negate" else "abs"
    if is_integral(operand.type):
        params = (types.INTEGER_BITS[operand.type], scope.overflow_error(tree, what))
        return Apply(kernel=f"int_{name}", arguments=(operand,), type=operand.type, params=params)
    if operand.type == types.INTERVAL and name == "negate":
        return _folded(
            Apply(kernel="int_negate", arguments=(operand,), type=types.INTERVAL, params=(64, EvalError.OVERFLOW))
        )
    if operand.type in (types.FLOAT, types.DOUBLE):
        return Apply(kernel=f"float_{name}", arguments=(operand,), type=operand.type)
    if pa.types.is_decimal(operand.type) and name == "negate":
        return Apply(kernel="decimal_negate", arguments=(operand,), type=operand.type)
    raise scope.wrong_type(tree, what, operand.type)


def _folded(node: Apply) -> Node:
    """Compute an interval that consists of literals; one that overflows stays an error of every row."""
    values = [argument.value for argument in node.arguments if isinstance(argument, Constant)]
    if len(values) < len(node.arguments) or None in values:
        return node
    left, right = values[0], values[-1]
    value = {
        "int_add": left + right,
        "int_subtract": left - right,
        "int_multiply": left * right,
        "int_negate": -left,
    }[node.kernel]
    return Constant(value=value, type=node.type) if abs(value) < 2**63 else node


def comparable(scope: Scope, tree: exp.Expr, left: Node, right: Node) -> tuple[Node, Node]:
    """Bring two operands of a comparison to one type.

    Raises:
        ExpressionError: Their types are not compared in the reader.
    """
    pair = _Pair(scope=scope, tree=tree, symbol="of comparison", left=left, right=right)
    first, second = pair.kinds()
    if types.VOID in (first, second) and first != second:
        return _typed_null(left, second), _typed_null(right, first)
    if (first == second != types.VOID) or pair.is_integral():
        return left, right
    if types.DOUBLE in (first, second) and is_numeric(first) and is_numeric(second):
        return to_double(left), to_double(right)
    if pair.is_decimal():
        return _aligned(pair)
    raise pair.refusal()


def _typed_null(node: Node, target: pa.DataType) -> Node:
    return Constant(value=None, type=target) if node.type == types.VOID else node


def _aligned(pair: _Pair) -> tuple[Node, Node]:
    left, right = pair.decimals()
    scale = max(left.type.scale, right.type.scale)
    whole = max(left.type.precision - left.type.scale, right.type.precision - right.type.scale)
    target = types.decimal_of(whole + scale, scale)
    if target is None:
        raise pair.scope.refusal(pair.tree, "the comparison needs more than 38 digits", _CAST_FIRST)
    return _rescaled(left, target), _rescaled(right, target)


def _rescaled(node: Node, target: pa.DataType) -> Node:
    params = (node.type.scale, _ANY_PRECISION, target.scale)
    return Apply(kernel="decimal_to_decimal", arguments=(node,), type=target, params=params)


def comparison(scope: Scope, tree: exp.Expr, symbol: str, left: Node, right: Node) -> Node:
    """Type a comparison; ``symbol`` is one of = <> < <= > >=."""
    operands = comparable(scope, tree, left, right)
    if symbol == "<>":
        return logical_not(scope, tree, comparison(scope, tree, "=", left, right))
    return Apply(kernel="compare", arguments=operands, type=types.BOOLEAN, params=(symbol,))


def logical(scope: Scope, tree: exp.Expr, operand: Node) -> Node:
    """Check that an operand is a condition; NULL is one.

    Raises:
        ExpressionError: It is not.
    """
    if operand.type == types.VOID:
        return Constant(value=None, type=types.BOOLEAN)
    if operand.type != types.BOOLEAN:
        raise scope.wrong_type(tree, "a condition", operand.type, "Compare it with something, such as `flag = 1`.")
    return operand


def logical_not(scope: Scope, tree: exp.Expr, operand: Node) -> Node:
    """Type NOT."""
    return Apply(kernel="not", arguments=(logical(scope, tree, operand),), type=types.BOOLEAN)


def common(scope: Scope, tree: exp.Expr, operands: Sequence[Node], what: str) -> list[Node]:
    """Bring branches to one type: equal types, integral types, and NULL with anything.

    Raises:
        ExpressionError: Their types differ otherwise, or all are NULL.
    """
    found = [operand.type for operand in operands if operand.type != types.VOID]
    if not found:
        raise scope.refusal(tree, f"{what} gives NULL for every record", "Give at least one branch a value.")
    target = found[0]
    for other in found[1:]:
        if is_integral(target) and is_integral(other):
            target = types.wider_integral(target, other)
        elif other != target:
            names = f"{spark_name(target)} and {spark_name(other)}"
            raise scope.refusal(tree, f"the branches of {what} have different types ({names})", _CAST_FIRST)
    return [widened(operand, target) for operand in operands]
