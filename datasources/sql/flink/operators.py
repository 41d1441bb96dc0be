"""Operators of Flink SQL: types of their results, overflow, division, NULL and NaN.

Integers wrap around on overflow as Java's do, where Spark would fail or widen; a DECIMAL that does not fit is NULL.
Comparisons with NaN are false, where Spark holds NaN to be equal to itself and above all numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import cast, coerced, wrapped
from datasources.sql.flink.logical_types import (
    BIGINT,
    BOOLEAN,
    FLOAT,
    STRING,
    as_decimal,
    common_type,
    decimal,
    is_family,
)
from datasources.sql.flink.typed_value import (
    ADDITIVE,
    AND,
    ATOM,
    MULTIPLICATIVE,
    NOT,
    OR,
    PREDICATE,
    SIGN,
    Refused,
    Value,
    shown_type,
    spark_type,
)

_LEVELS: Final = {"+": ADDITIVE, "-": ADDITIVE, "*": MULTIPLICATIVE, "/": MULTIPLICATIVE, "%": MULTIPLICATIVE}
_TRIES: Final = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
_LOGIC: Final = {"AND": AND, "OR": OR}
_DEEPEST: Final = 3
"""So many operators may repeat their operands in each other's text."""
_TWO_63: Final = "9223372036854775808BD"
_TWO_64: Final = "18446744073709551616BD"
_NAN_SIDES: Final = {">": "left", ">=": "left", "<": "right", "<=": "right", "=": "left"}


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right`, for + - * / %.

    Raises:
        Refused: there is no such operator for these types.
    """
    if is_family(left.type, "numeric") and is_family(right.type, "numeric"):
        return _of_numbers(operator, left, right)
    found = _of_times(operator, left, right)
    if found is None:
        raise Refused(f"there is no {shown_type(left.type)} {operator} {shown_type(right.type)}")
    return found


def negative(value: Value) -> Value:
    """Return `-value`."""
    if value.constant is not None and is_family(value.type, "numeric"):
        return _made(f"-{value.inside(SIGN)}", value.type, SIGN, value)
    if is_family(value.type, "integer"):
        zero = Value(text="0" if value.type.root != "BIGINT" else "0L", type=value.type, constant="0")
        return _of_integers("-", zero, value, value.type)
    if not is_family(value.type, "numeric") and not is_family(value.type, "interval"):
        raise Refused(f"there is no - of {shown_type(value.type)}")
    return _made(f"-{value.inside(ATOM)}", value.type, SIGN, value)


def remainder(left: Value, right: Value) -> Value:
    """Return MOD(left, right)."""
    return arithmetic("%", left, right)


def _of_numbers(operator: str, left: Value, right: Value) -> Value:
    kind = common_type((left.type, right.type))
    assert kind is not None
    if kind.root in {"FLOAT", "DOUBLE"}:
        return _of_floats(operator, left, right, kind)
    if kind.root == "DECIMAL":
        return _of_decimals(operator, left, right)
    return _of_integers(operator, left, right, kind)


def _of_integers(operator: str, left: Value, right: Value, kind: SqlType) -> Value:
    if operator in {"/", "%"}:
        return _divided_integers(operator, left, right, kind)
    if kind.root == "BIGINT":
        return _of_longs(operator, left, right)
    first, second = (cast(each, BIGINT) for each in (left, right))
    level = _LEVELS[operator]
    text = f"{first.inside(level)} {operator} {second.inside(level + 1)}"
    return _made(wrapped(text, kind.root), kind, ATOM, left, right)


def _of_longs(operator: str, left: Value, right: Value) -> Value:
    first, second = (cast(each, BIGINT) for each in (left, right))
    depth = max(left.depth, right.depth)
    exact = _low_bits(operator, first, second)
    if depth >= _DEEPEST:
        return _made(exact, BIGINT, ATOM, left, right)
    text = f"coalesce({_TRIES[operator]}({first.text}, {second.text}), {exact})"
    made = _made(text, BIGINT, ATOM, left, right)
    return Value(text=made.text, type=BIGINT, depth=depth + 1, is_aggregate=made.is_aggregate)


def _low_bits(operator: str, left: Value, right: Value) -> str:
    first, second = (f"CAST({each.text} AS DECIMAL(20, 0))" for each in (left, right))
    return f"CAST(pmod({first} {operator} {second} + {_TWO_63}, {_TWO_64}) - {_TWO_63} AS BIGINT)"


def _divided_integers(operator: str, left: Value, right: Value, kind: SqlType) -> Value:
    first, second = left.inside(MULTIPLICATIVE), right.inside(SIGN)
    if operator == "%":
        # As Java's: of the wider type; the result of MOD is of the divisor's.
        found = f"{first} % {second}"
        made = _made(found, kind, MULTIPLICATIVE, left, right)
        return made if right.type == kind else cast(made, right.type)
    text = f"{first} div {second}"
    if kind.root == "BIGINT":
        return _made(text, kind, MULTIPLICATIVE, left, right)
    if right.constant is not None:  # the only quotient that does not fit is that by -1
        return _made(f"CAST({text} AS {kind.root})", kind, ATOM, left, right)
    return _made(wrapped(text, kind.root), kind, ATOM, left, right)


def _of_floats(operator: str, left: Value, right: Value, kind: SqlType) -> Value:
    first, second = (cast(each, kind) for each in (left, right))
    level = _LEVELS[operator]
    plain = f"{first.inside(level)} {operator} {second.inside(level + 1)}"
    if operator not in {"/", "%"} or _is_not_zero(right):
        text = plain if kind != FLOAT or operator != "/" else f"CAST({plain} AS FLOAT)"
        return _made(text, kind, level if text is plain else ATOM, left, right)
    if operator == "%":
        text = f"CASE WHEN {second.inside(ADDITIVE)} = 0 THEN CAST('NaN' AS {kind.root}) ELSE {plain} END"
        return _made(text, kind, ATOM, left, right)
    infinite = f"{first.inside(MULTIPLICATIVE)} * CAST('Infinity' AS {kind.root}) * ({second.text} + 1)"
    text = f"coalesce(try_divide({first.text}, {second.text}), {infinite})"
    return _made(f"CAST({text} AS {kind.root})", kind, ATOM, left, right)


def _is_not_zero(value: Value) -> bool:
    return value.constant is not None and any(each in "123456789" for each in value.constant.lower().partition("e")[0])


def _of_decimals(operator: str, left: Value, right: Value) -> Value:
    first, second = (
        each if each.type.root == "DECIMAL" else cast(each, as_decimal(each.type)) for each in (left, right)
    )
    (p1, s1), (p2, s2) = first.type.parameters, second.type.parameters
    level = _LEVELS[operator]
    plain = f"{first.inside(level)} {operator} {second.inside(level + 1)}"
    if operator == "/":
        scale = max(6, s1 + p2 + 1)
        kind = decimal(p1 - s1 + s2 + scale, scale)
        return _made(f"CAST({plain} AS {spark_type(kind)})", kind, ATOM, left, right)
    if operator == "%":
        kind = decimal(min(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))
        return _made(f"CAST({plain} AS {spark_type(kind)})", kind, ATOM, left, right)
    if operator == "*":
        kind = decimal(p1 + p2, s1 + s2)
        fits = p1 + p2 < 38  # noqa: PLR2004 - then the product has all of its digits
    else:
        scale = max(s1, s2)
        kind = decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
        fits = max(p1 - s1, p2 - s2) + scale + 1 <= 38  # noqa: PLR2004
        if fits:
            return _made(plain, kind, level, left, right)
    text = f"CAST({plain} AS {spark_type(kind)})" if fits else _tried(operator, first, second, kind)
    return _made(text, kind, ATOM, left, right)


def _tried(operator: str, left: Value, right: Value, kind: SqlType) -> str:
    return f"TRY_CAST({_TRIES[operator]}({left.text}, {right.text}) AS {spark_type(kind)})"


def _of_times(operator: str, left: Value, right: Value) -> Value | None:
    if operator == "+" and is_family(left.type, "interval") and is_family(right.type, "datetime"):
        left, right = right, left
    if operator in {"+", "-"} and is_family(left.type, "datetime") and is_family(right.type, "interval"):
        return _moved(operator, left, right)
    if is_family(left.type, "interval") and is_family(right.type, "interval") and operator in {"+", "-"}:
        kind = common_type((left.type, right.type))
        if kind is not None:
            text = f"{left.inside(ADDITIVE)} {operator} {right.inside(MULTIPLICATIVE)}"
            return _made(text, kind, ADDITIVE, left, right)
    if operator == "*" and is_family(left.type, "numeric") and is_family(right.type, "interval"):
        left, right = right, left
    if operator in {"*", "/"} and is_family(left.type, "interval") and is_family(right.type, "numeric"):
        text = f"{left.inside(MULTIPLICATIVE)} {operator} {right.inside(SIGN)}"
        return _made(text, left.type, MULTIPLICATIVE, left, right)
    return None


def _moved(operator: str, left: Value, right: Value) -> Value:
    text = f"{left.inside(ADDITIVE)} {operator} {right.inside(MULTIPLICATIVE)}"
    if left.type.root == "DATE":
        return _made(f"CAST({text} AS DATE)", left.type, ATOM, left, right)
    return _made(text, left.type, ADDITIVE, left, right)


def compare(operator: str, left: Value, right: Value) -> Value:
    """Return a comparison: = <> < <= > >=, and IS DISTINCT, IS SAME.

    Raises:
        Refused: the types cannot be compared.
    """
    left, right = _comparable(left, right)
    if operator in {"IS DISTINCT", "IS SAME"}:
        same = f"{left.inside(ADDITIVE)} <=> {right.inside(ADDITIVE)}"
        return _made(
            same if operator == "IS SAME" else f"NOT ({same})",
            BOOLEAN,
            PREDICATE if operator == "IS SAME" else NOT,
            left,
            right,
        )
    text = f"{left.inside(ADDITIVE)} {operator} {right.inside(ADDITIVE)}"
    floating = [each for each in (left, right) if is_family(each.type, "approximate") and each.type.root != "NULL"]
    if not floating or all(each.constant is not None for each in floating):
        return _made(text, BOOLEAN, PREDICATE, left, right)
    return _with_nan(operator, text, left, right)


def _with_nan(operator: str, text: str, left: Value, right: Value) -> Value:
    sides = [left, right] if operator == "<>" else [left if _NAN_SIDES[operator] == "left" else right]
    if operator == "=" and left.constant is not None:
        sides = [right]
    able = [each for each in sides if is_family(each.type, "approximate") and each.constant is None]
    if not able or (operator == "=" and right.constant is not None):
        return _made(text, BOOLEAN, PREDICATE, left, right)
    tests = " AND ".join(f"isnan({each.text})" for each in able)
    if operator == "<>":
        return _made(f"({text} OR {tests})", BOOLEAN, ATOM, left, right)
    return _made(f"({text} AND NOT {tests})", BOOLEAN, ATOM, left, right)


def _comparable(left: Value, right: Value) -> tuple[Value, Value]:
    kind = common_type((left.type, right.type))
    if kind is not None:
        if left.type.root == right.type.root or is_family(kind, "numeric") or is_family(kind, "text"):
            return left, right
        return coerced(left, kind), coerced(right, kind)
    for one, other in ((left, right), (right, left)):
        if is_family(one.type, "text") and not is_family(other.type, "text"):
            changed = coerced(one, other.type)
            return (changed, other) if one is left else (other, changed)
    raise Refused(
        f"{shown_type(left.type)} and {shown_type(right.type)} cannot be compared",
        "CAST one of them to the other type.",
    )


def joined(operator: str, left: Value, right: Value) -> Value:
    """Return `left AND right`, or OR.

    Raises:
        Refused: an operand is no BOOLEAN.
    """
    for each in (left, right):
        _require_boolean(each, operator)
    level = _LOGIC[operator]
    return _made(f"{left.inside(level)} {operator} {right.inside(level + 1)}", BOOLEAN, level, left, right)


def negated(value: Value) -> Value:
    """Return NOT value.

    Raises:
        Refused: it is no BOOLEAN.
    """
    _require_boolean(value, "NOT")
    return _made(f"NOT {value.inside(PREDICATE)}", BOOLEAN, NOT, value)


def concatenated(left: Value, right: Value) -> Value:
    """Return `left || right`.

    Raises:
        Refused: an operand is not text or bytes.
    """
    for each in (left, right):
        if not is_family(each.type, "text") and not is_family(each.type, "binary"):
            raise Refused(f"|| joins text, and this is {shown_type(each.type)}", "CAST it to STRING.")
    kind = left.type if is_family(left.type, "binary") and left.type.root != "NULL" else STRING
    text = f"{left.inside(ADDITIVE)} || {right.inside(MULTIPLICATIVE)}"
    return _made(text, kind, ADDITIVE, left, right)


def _require_boolean(value: Value, operator: str) -> None:
    if not is_family(value.type, "boolean"):
        raise Refused(f"{operator} takes BOOLEAN, and this is {shown_type(value.type)}", "Write a comparison.")


def _made(text: str, kind: SqlType, level: int, *operands: Value) -> Value:
    return Value(
        text=text,
        type=kind,
        level=level,
        depth=max((each.depth for each in operands), default=0),
        is_aggregate=_any_aggregate(operands),
    )


def _any_aggregate(operands: Sequence[Value]) -> bool:
    return any(each.is_aggregate for each in operands)
