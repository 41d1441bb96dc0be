"""From syntax to plan: each kind of node is typed here or refused.

Theory of operation. `bind` looks up the class of the syntax node in a table; a class that is not in it is
refused with its text. Operands are bound before operators, so the innermost reason is the one a user sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from datasources import arrow_types as types
from datasources.arrow_types import STRING, is_integral
from datasources.expressions.compiler import functions, literals, operators
from datasources.expressions.compiler.casts import cast, literal_type, target_type
from datasources.expressions.compiler.columns import column, field_of
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.compiler.syntax import span_of
from datasources.expressions.evaluation.logic_nodes import Conjunction, InList, IsNull, NullSafeEqual
from datasources.expressions.evaluation.nodes import Apply, Constant, Node
from datasources.expressions.kernels.datetime_casts import parse_timestamp
from datasources.expressions.vectors.vectors import EvalError

_Rule = Callable[[Scope, exp.Expr], Node]

_SYMBOLS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def bind(scope: Scope, tree: exp.Expr) -> Node:
    """Return the typed plan of a subtree.

    Raises:
        ExpressionError: Something in it is not on the closed list, or not certain to be Spark's.
    """
    rule = _RULES.get(type(tree))
    if rule is None:
        if type(tree).__name__.startswith(("Current", "Session", "Localtime")):
            raise functions.non_deterministic(scope, tree, scope.source.slice(span_of(scope.source, tree)))
        text = scope.source.slice(span_of(scope.source, tree)).strip()
        raise scope.refusal(tree, f"`{text}` is not a form that the reader evaluates")
    return rule(scope, tree)


def _paren(scope: Scope, tree: exp.Expr) -> Node:
    return scope.node(tree.this)


def _literal(scope: Scope, tree: exp.Expr) -> Node:
    raw = scope.source.slice(span_of(scope.source, tree)).strip()
    try:
        if tree.args.get("is_string") or isinstance(tree, exp.RawString):
            return literals.string_literal(raw)
        return literals.number_literal(raw, negative=False)
    except literals.LiteralProblem as problem:
        raise scope.refusal(tree, str(problem)) from problem


def _null(_scope: Scope, _tree: exp.Expr) -> Node:
    return Constant(value=None, type=types.VOID)


def _boolean(_scope: Scope, tree: exp.Expr) -> Node:
    return Constant(value=bool(tree.this), type=types.BOOLEAN)


def _negated(scope: Scope, tree: exp.Expr) -> Node:
    inner = tree.this
    raw = scope.source.slice(span_of(scope.source, inner)).strip()
    if raw[:1].isdigit() or raw[:1] == ".":
        try:
            return literals.number_literal(raw, negative=True)
        except literals.LiteralProblem as problem:
            raise scope.refusal(tree, str(problem)) from problem
    return operators.negate(scope, tree, scope.node(inner))


def _sum(*, subtract: bool) -> _Rule:
    def rule(scope: Scope, tree: exp.Expr) -> Node:
        left, right = scope.node(tree.this), scope.node(tree.expression)
        return operators.add(scope, tree, left, right, subtract=subtract)

    return rule


def _multiplied(scope: Scope, tree: exp.Expr) -> Node:
    return operators.multiply(scope, tree, scope.node(tree.this), scope.node(tree.expression))


def _divided(*, whole: bool) -> _Rule:
    def rule(scope: Scope, tree: exp.Expr) -> Node:
        left, right = scope.node(tree.this), scope.node(tree.expression)
        return operators.divide(scope, tree, left, right, whole=whole)

    return rule


def _remainder(scope: Scope, tree: exp.Expr) -> Node:
    return operators.remainder(scope, tree, scope.node(tree.this), scope.node(tree.expression))


def _compared(scope: Scope, tree: exp.Expr) -> Node:
    left, right = scope.node(tree.this), scope.node(tree.expression)
    return operators.comparison(scope, tree, _SYMBOLS[type(tree)], left, right)


def _null_safe_equal(scope: Scope, tree: exp.Expr) -> Node:
    left, right = scope.node(tree.this), scope.node(tree.expression)
    operands = operators.comparable(scope, tree, left, right)
    return NullSafeEqual(operands=operands)


def _conjunction(*, decisive: bool) -> _Rule:
    def rule(scope: Scope, tree: exp.Expr) -> Node:
        left = operators.logical(scope, tree.this, scope.node(tree.this))
        right = operators.logical(scope, tree.expression, scope.node(tree.expression))
        return Conjunction(operands=(left, right), decisive=decisive)

    return rule


def _not(scope: Scope, tree: exp.Expr) -> Node:
    return operators.logical_not(scope, tree, scope.node(tree.this))


def _is(scope: Scope, tree: exp.Expr) -> Node:
    if not isinstance(tree.expression, exp.Null):
        raise scope.refusal(tree, "only IS NULL and IS NOT NULL are evaluated in the reader", "Use = or <=>.")
    return IsNull(operands=(scope.node(tree.this),))


def _between(scope: Scope, tree: exp.Expr) -> Node:
    tested = scope.node(tree.this)
    low, high = scope.node(tree.args["low"]), scope.node(tree.args["high"])
    above = operators.comparison(scope, tree, ">=", tested, low)
    below = operators.comparison(scope, tree, "<=", tested, high)
    return Conjunction(operands=(above, below), decisive=False)


def _member(scope: Scope, tree: exp.Expr) -> Node:
    tested = scope.node(tree.this)
    nodes = [scope.node(element) for element in tree.expressions]
    elements = [node for node in nodes if isinstance(node, Constant)]
    if not elements or len(elements) < len(nodes):
        raise scope.refusal(tree, "IN is evaluated for lists of literals only")
    known = [element for element in elements if element.value is not None]
    for element in known:
        if element.type != tested.type and not (is_integral(element.type) and is_integral(tested.type)):
            raise scope.wrong_type(tree, "the list of IN", element.type, "Give the literals the type of the operand.")
    return InList(operands=(tested, *known), has_null=len(known) < len(elements))


def _case(scope: Scope, tree: exp.Expr) -> Node:
    tested = None if tree.this is None else scope.node(tree.this)
    branches = []
    for branch in tree.args["ifs"]:
        condition = scope.node(branch.this)
        if tested is not None:
            condition = operators.comparison(scope, branch.this, "=", tested, condition)
        branches.append((condition, scope.node(branch.args["true"])))
    default = tree.args.get("default")
    return functions.conditional(scope, tree, branches, None if default is None else scope.node(default), "CASE")


def _if(scope: Scope, tree: exp.Expr) -> Node:
    if tree.args.get("false") is None:
        raise scope.refusal(tree, "IF takes 3 arguments", "Add the value for a false condition, or write CASE.")
    condition, value, default = (scope.node(part) for part in (tree.this, tree.args["true"], tree.args["false"]))
    return functions.conditional(scope, tree, [(condition, value)], default, "IF")


def _cast(scope: Scope, tree: exp.Expr) -> Node:
    raw = scope.source.slice(span_of(scope.source, tree)).strip()
    if isinstance(tree.this, exp.Literal) and (raw[:1].isdigit() or raw[:1] == ".") and "::" not in raw:
        return _number(scope, tree, raw)
    target = target_type(scope, tree)
    return cast(scope, tree, scope.node(tree.this), target, lenient=bool(tree.args.get("safe")))


def _number(scope: Scope, tree: exp.Expr, raw: str) -> Node:
    try:
        return literals.number_literal(raw, negative=False)
    except literals.LiteralProblem as problem:
        raise scope.refusal(tree, str(problem)) from problem


def _typed_literal(scope: Scope, tree: exp.Expr) -> Node:
    """TIMESTAMP '...', TIMESTAMP_NTZ '...' and DATE '...'; the parser gives nothing else this class."""
    target = literal_type(scope, tree)
    text = tree.this.name if isinstance(tree.this, exp.Literal) else ""
    try:
        if target == types.DATE:
            return literals.date_literal(text)
        if target in (types.TIMESTAMP, types.NTZ):
            return _moment(scope, tree, text, is_local=target == types.NTZ)
    except literals.LiteralProblem as problem:
        raise scope.refusal(tree, str(problem)) from problem
    raise scope.refusal(tree, "this literal is not evaluated in the reader")


def _moment(scope: Scope, tree: exp.Expr, text: str, *, is_local: bool) -> Node:
    session_us = 0 if is_local else scope.session_offset_us()
    found = parse_timestamp(text, keeps_wall_clock=False, offset_us=session_us)
    if found is EvalError.ZONE_NEEDED:
        scope.require_offset_us(tree, "a timestamp literal without an offset")
    if isinstance(found, EvalError) or (
        is_local and found != parse_timestamp(text, keeps_wall_clock=True, offset_us=0)
    ):
        raise literals.LiteralProblem(
            "the text is not a moment that the reader reads; write 'yyyy-mm-dd hh:mm:ss', with an offset for TIMESTAMP"
        )
    return Constant(value=found, type=types.NTZ if is_local else types.TIMESTAMP)


def _interval(scope: Scope, tree: exp.Expr) -> Node:
    amount = tree.this
    sign = ""
    if isinstance(amount, exp.Neg):
        amount, sign = amount.this, "-"
    if not isinstance(amount, exp.Literal) or (sign and amount.name[:1] in "+-"):
        raise scope.refusal(
            tree, "the length of an interval has to be a literal", "Multiply: `n * INTERVAL '1' SECOND`."
        )
    unit = tree.args.get("unit")
    first, last = unit, None
    if isinstance(unit, exp.IntervalSpan):
        first, last = unit.this, unit.expression
    try:
        micros = literals.interval_us(
            sign + amount.name, None if first is None else first.name, None if last is None else last.name
        )
    except literals.LiteralProblem as problem:
        raise scope.refusal(tree, str(problem)) from problem
    return Constant(value=micros, type=types.INTERVAL)


def _joined(scope: Scope, tree: exp.Expr) -> Node:
    operands = tuple(scope.node(side) for side in (tree.this, tree.expression))
    for side, node in zip((tree.this, tree.expression), operands, strict=True):
        if node.type != STRING:
            raise scope.wrong_type(side, "the operator ||", node.type, "CAST it to STRING.")
    return Apply(kernel="concat", arguments=operands, type=STRING)


def _matched(scope: Scope, tree: exp.Expr) -> Node:
    return functions.matches(scope, tree.this, tree.expression)


def _like(scope: Scope, tree: exp.Expr) -> Node:
    node = functions.like(scope, tree.this, tree.expression)
    return operators.logical_not(scope, tree, node) if tree.args.get("negate") else node


def _called(scope: Scope, tree: exp.Expr) -> Node:
    assert isinstance(tree, exp.Anonymous)
    return functions.call(scope, tree)


_RULES: Final[dict[type[exp.Expr], _Rule]] = {
    exp.Paren: _paren,
    exp.Column: column,
    exp.Dot: field_of,
    exp.Literal: _literal,
    exp.RawString: _literal,
    exp.Null: _null,
    exp.Boolean: _boolean,
    exp.Neg: _negated,
    exp.Add: _sum(subtract=False),
    exp.Sub: _sum(subtract=True),
    exp.Mul: _multiplied,
    exp.Div: _divided(whole=False),
    exp.IntDiv: _divided(whole=True),
    exp.Mod: _remainder,
    **dict.fromkeys(_SYMBOLS, _compared),
    exp.NullSafeEQ: _null_safe_equal,
    exp.And: _conjunction(decisive=False),
    exp.Or: _conjunction(decisive=True),
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _member,
    exp.Case: _case,
    exp.If: _if,
    exp.TryCast: _cast,
    exp.Cast: _typed_literal,
    exp.Interval: _interval,
    exp.DPipe: _joined,
    exp.RegexpLike: _matched,
    exp.Like: _like,
    exp.Anonymous: _called,
}
