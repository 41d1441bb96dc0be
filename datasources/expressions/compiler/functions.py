"""The closed list of functions: a name, how its call is typed, and the plan for it.

A name that is not in `FUNCTIONS` is refused. docs/expressions.md has a row for each; a test holds the two
together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import pyarrow as pa
from sqlglot import exp

from datasources import arrow_types as types
from datasources.arrow_types import INT, STRING, is_numeric
from datasources.expressions.compiler import operators
from datasources.expressions.compiler import patterns as pattern
from datasources.expressions.compiler.casts import cast
from datasources.expressions.compiler.python_functions import bind_call
from datasources.expressions.compiler.scope import SEE_DOCS, Scope
from datasources.expressions.compiler.time_functions import TIME_FUNCTIONS
from datasources.expressions.evaluation.logic_nodes import Case, Coalesce, Extreme, IsNull
from datasources.expressions.evaluation.nodes import Apply, Constant, Node

__all__ = ["FUNCTIONS", "NON_DETERMINISTIC", "call", "conditional", "like", "matches"]

Binder = Callable[[Scope, exp.Expr, list[exp.Expr]], Node]

NON_DETERMINISTIC: Final = frozenset(
    {
        "curdate",
        "current_catalog",
        "current_database",
        "current_date",
        "current_time",
        "current_timestamp",
        "current_timezone",
        "current_user",
        "input_file_name",
        "localtimestamp",
        "monotonically_increasing_id",
        "now",
        "rand",
        "randn",
        "random",
        "randstr",
        "session_user",
        "shuffle",
        "spark_partition_id",
        "uniform",
        "unix_timestamp",
        "user",
        "uuid",
    }
)
_ANY: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    min_arguments: int
    max_arguments: int
    bind: Binder


def call(scope: Scope, tree: exp.Anonymous) -> Node:
    """Type a call of a function.

    Raises:
        ExpressionError: The function is unknown, gives another value at each evaluation, or is not on the list.
    """
    name = tree.name.lower()
    arguments: list[exp.Expr] = list(tree.expressions)
    if name in NON_DETERMINISTIC and not (name == "unix_timestamp" and arguments):
        raise non_deterministic(scope, tree, name)
    function = FUNCTIONS.get(name)
    if function is None and name in scope.functions:
        return bind_call(scope, tree, scope.functions[name])
    if function is None:
        near = get_close_matches(name, [*FUNCTIONS, *scope.functions], n=3)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise scope.refusal(tree, f"the function {name} is not evaluated in the reader", hint + SEE_DOCS)
    if not function.min_arguments <= len(arguments) <= function.max_arguments:
        raise scope.refusal(tree, f"{name} takes {_counts(function)}, not {len(arguments)}")
    return function.bind(scope, tree, arguments)


def non_deterministic(scope: Scope, tree: exp.Expr, name: str) -> Exception:
    """Build the error for a function whose value depends on more than the record."""
    return scope.refusal(
        tree,
        f"{name} does not depend on the record alone, so the same records would get another watermark when they "
        "are read again",
        "Use values of the record only; to use a column of this name, write it in backticks.",
    )


def _counts(function: _Function) -> str:
    if function.max_arguments == _ANY:
        return f"at least {function.min_arguments} arguments"
    if function.min_arguments == function.max_arguments:
        return f"{function.min_arguments} argument{'s' if function.min_arguments != 1 else ''}"
    return f"{function.min_arguments} to {function.max_arguments} arguments"


def conditional(
    scope: Scope, tree: exp.Expr, branches: list[tuple[Node, Node]], default: Node | None, what: str
) -> Node:
    """Type CASE or IF from conditions (already typed) and values."""
    values = [value for _, value in branches]
    values.append(Constant(value=None, type=types.VOID) if default is None else default)
    typed = operators.common(scope, tree, values, what)
    operands: list[Node] = []
    for (condition, _), value in zip(branches, typed, strict=False):
        operands += [operators.logical(scope, tree, condition), value]
    return Case(operands=(*operands, typed[-1]), type=typed[-1].type)


def _if(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    condition, value, default = (scope.node(argument) for argument in arguments)
    return conditional(scope, tree, [(condition, value)], default, "IF")


def _coalesce(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    operands = operators.common(scope, tree, [scope.node(argument) for argument in arguments], "coalesce")
    return Coalesce(operands=tuple(operands), type=operands[0].type)


def _nullif(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    left, right = (scope.node(argument) for argument in arguments)
    if types.VOID in (left.type, right.type):
        raise scope.refusal(tree, "nullif with NULL is not evaluated in the reader")
    equal = operators.comparison(scope, tree, "=", left, right)
    return Case(operands=(equal, Constant(value=None, type=left.type), left), type=left.type)


def _nvl2(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    tested, value, default = (scope.node(argument) for argument in arguments)
    known = operators.logical_not(scope, tree, IsNull(operands=(tested,)))
    return conditional(scope, tree, [(known, value)], default, "nvl2")


def _extreme(comparison: str, name: str) -> Binder:
    def bind(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        operands = operators.common(scope, tree, [scope.node(argument) for argument in arguments], name)
        if not (is_numeric(operands[0].type) or operands[0].type in (types.TIMESTAMP, types.NTZ, types.DATE, STRING)):
            raise scope.wrong_type(tree, name, operands[0].type)
        return Extreme(operands=tuple(operands), comparison=comparison, type=operands[0].type)

    return bind


def _is_null(*, negated: bool) -> Binder:
    def bind(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        node = IsNull(operands=(scope.node(arguments[0]),))
        return operators.logical_not(scope, tree, node) if negated else node

    return bind


def _abs(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    return operators.negate(scope, tree, scope.node(arguments[0]), name="abs")


def _is_nan(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    node = scope.node(arguments[0])
    if node.type not in {types.FLOAT, types.DOUBLE}:
        raise scope.wrong_type(tree, "isnan", node.type, "Only FLOAT and DOUBLE have NaN.")
    # NaN equals itself here, as in Spark.
    same = operators.comparison(scope, tree, "=", node, Constant(value=math.nan, type=types.DOUBLE))
    return Coalesce(operands=(same, Constant(value=False, type=types.BOOLEAN)), type=types.BOOLEAN)


def _mod(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    left, right = (scope.node(argument) for argument in arguments)
    return operators.remainder(scope, tree, left, right)


def _text(scope: Scope, tree: exp.Expr, what: str) -> Node:
    node = scope.node(tree)
    if node.type != STRING:
        raise scope.wrong_type(tree, what, node.type, "CAST it to STRING.")
    return node


def _of_text(kernel: str, result: pa.DataType, *params: object) -> Binder:
    def bind(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        text = _text(scope, arguments[0], tree.name.lower())
        return Apply(kernel=kernel, arguments=(text,), type=result, params=params)

    return bind


def _substring(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    text = _text(scope, arguments[0], "substring")
    position = scope.constant_int(arguments[1], "the position of substring")
    length = scope.constant_int(arguments[2], "the length of substring") if arguments[2:] else None
    if position == 0:
        raise scope.refusal(arguments[1], "the position 0 is not evaluated in the reader", "Positions start at 1.")
    if length is not None and not 0 <= length < 2**30:
        raise scope.refusal(arguments[2], "the length of substring has to be between 0 and 2^30")
    return Apply(kernel="substring", arguments=(text,), type=STRING, params=(position, length))


def _concat(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    texts = tuple(_text(scope, argument, "concat") for argument in arguments)
    return Apply(kernel="concat", arguments=texts, type=STRING)


def _split_part(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    text = _text(scope, arguments[0], "split_part")
    delimiter = scope.constant_text(arguments[1], "the delimiter of split_part")
    number = scope.constant_int(arguments[2], "the part of split_part")
    if not delimiter:
        raise scope.refusal(arguments[1], "an empty delimiter is not evaluated in the reader")
    if number == 0 or abs(number) >= 2**31:
        raise scope.refusal(arguments[2], "parts are counted from 1, or from the end from -1")
    return Apply(kernel="split_part", arguments=(text,), type=STRING, params=(delimiter, number))


def _translated(scope: Scope, tree: exp.Expr, what: str) -> tuple[str, int]:
    text = scope.constant_text(tree, what)
    try:
        return pattern.translate(text)
    except pattern.UnsupportedPattern as problem:
        raise scope.refusal(tree, f"the pattern holds {problem}, which is not evaluated in the reader") from problem


def _regexp_extract(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    text = _text(scope, arguments[0], "regexp_extract")
    translated, groups = _translated(scope, arguments[1], "the pattern of regexp_extract")
    group = scope.constant_int(arguments[2], "the group of regexp_extract") if arguments[2:] else 1
    if not 0 <= group <= groups:
        raise scope.refusal(arguments[1], f"the pattern has {groups} groups, so there is no group {group}")
    return Apply(kernel="regexp_extract", arguments=(text,), type=STRING, params=(translated, group))


def matches(scope: Scope, text_tree: exp.Expr, pattern_tree: exp.Expr) -> Node:
    """Type RLIKE."""
    text = _text(scope, text_tree, "RLIKE")
    translated, _ = _translated(scope, pattern_tree, "the pattern of RLIKE")
    return Apply(kernel="matches", arguments=(text,), type=types.BOOLEAN, params=(translated,))


def like(scope: Scope, text_tree: exp.Expr, pattern_tree: exp.Expr) -> Node:
    """Type LIKE with a pattern without escapes."""
    text = _text(scope, text_tree, "LIKE")
    try:
        translated = pattern.from_like(scope.constant_text(pattern_tree, "the pattern of LIKE"))
    except pattern.UnsupportedPattern as problem:
        raise scope.refusal(pattern_tree, f"a LIKE pattern with {problem} is not evaluated in the reader") from problem
    return Apply(kernel="matches", arguments=(text,), type=types.BOOLEAN, params=(translated,))


def _rlike(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    return matches(scope, arguments[0], arguments[1])


def _get_json_object(scope: Scope, _tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
    text = _text(scope, arguments[0], "get_json_object")
    path = scope.constant_text(arguments[1], "the path of get_json_object")
    root, *names = path.split(".")
    if root != "$" or not names or not all(_is_plain_name(name) for name in names):
        raise scope.refusal(
            arguments[1], "the reader evaluates JSON paths of plain names only", "Write a path such as '$.a.b'."
        )
    return Apply(kernel="get_json_object", arguments=(text,), type=STRING, params=tuple(names))


def _is_plain_name(name: str) -> bool:
    return bool(name) and all(char.isalnum() or char in "_-" for char in name)


def _as_cast(target: pa.DataType, *, lenient: bool = False) -> Binder:
    def bind(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        return cast(scope, tree, scope.node(arguments[0]), target, lenient=lenient)

    return bind


def _to_moment(target: pa.DataType, *, lenient: bool = False) -> Binder:
    def bind(scope: Scope, tree: exp.Expr, arguments: list[exp.Expr]) -> Node:
        node = scope.node(arguments[0])
        if node.type != STRING and not (node.type == target and not lenient):
            raise scope.wrong_type(tree, tree.name.lower(), node.type, "Use CAST for values that are no text.")
        return cast(scope, tree, node, target, lenient=lenient)

    return bind


def _function(min_arguments: int, max_arguments: int, bind: Binder) -> _Function:
    return _Function(min_arguments=min_arguments, max_arguments=max_arguments, bind=bind)


FUNCTIONS: Final[dict[str, _Function]] = {
    **{name: _function(*rule) for name, rule in TIME_FUNCTIONS.items()},
    "coalesce": _function(1, _ANY, _coalesce),
    "ifnull": _function(2, 2, _coalesce),
    "nvl": _function(2, 2, _coalesce),
    "nvl2": _function(3, 3, _nvl2),
    "nullif": _function(2, 2, _nullif),
    "if": _function(3, 3, _if),
    "greatest": _function(2, _ANY, _extreme(">", "greatest")),
    "least": _function(2, _ANY, _extreme("<", "least")),
    "isnull": _function(1, 1, _is_null(negated=False)),
    "isnotnull": _function(1, 1, _is_null(negated=True)),
    "isnan": _function(1, 1, _is_nan),
    "abs": _function(1, 1, _abs),
    "mod": _function(2, 2, _mod),
    "to_timestamp": _function(1, 1, _to_moment(types.TIMESTAMP)),
    "to_timestamp_ltz": _function(1, 1, _to_moment(types.TIMESTAMP)),
    "to_timestamp_ntz": _function(1, 1, _to_moment(types.NTZ)),
    "try_to_timestamp": _function(1, 1, _to_moment(types.TIMESTAMP, lenient=True)),
    "boolean": _function(1, 1, _as_cast(types.BOOLEAN)),
    "tinyint": _function(1, 1, _as_cast(types.TINYINT)),
    "smallint": _function(1, 1, _as_cast(types.SMALLINT)),
    "int": _function(1, 1, _as_cast(types.INT)),
    "bigint": _function(1, 1, _as_cast(types.BIGINT)),
    "double": _function(1, 1, _as_cast(types.DOUBLE)),
    "string": _function(1, 1, _as_cast(STRING)),
    "date": _function(1, 1, _as_cast(types.DATE)),
    "timestamp": _function(1, 1, _as_cast(types.TIMESTAMP)),
    "upper": _function(1, 1, _of_text("upper", STRING)),
    "ucase": _function(1, 1, _of_text("upper", STRING)),
    "lower": _function(1, 1, _of_text("lower", STRING)),
    "lcase": _function(1, 1, _of_text("lower", STRING)),
    "trim": _function(1, 1, _of_text("trim", STRING, "both")),
    "ltrim": _function(1, 1, _of_text("trim", STRING, "left")),
    "rtrim": _function(1, 1, _of_text("trim", STRING, "right")),
    "length": _function(1, 1, _of_text("length", INT)),
    "char_length": _function(1, 1, _of_text("length", INT)),
    "substring": _function(2, 3, _substring),
    "substr": _function(2, 3, _substring),
    "concat": _function(1, _ANY, _concat),
    "split_part": _function(3, 3, _split_part),
    "regexp_extract": _function(2, 3, _regexp_extract),
    "rlike": _function(2, 2, _rlike),
    "regexp_like": _function(2, 2, _rlike),
    "get_json_object": _function(2, 2, _get_json_object),
}
