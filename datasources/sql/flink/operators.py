"""Operators of Flink SQL: types of their results, overflow, division, NULL and NaN.

Integers wrap around on overflow as Java's do, where Spark would fail or widen; a DECIMAL that does not fit is NULL.
Comparisons with NaN are false, where Spark holds NaN to be equal to itself and above all numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import SMALLEST, bound, cast, coerced, wrapped
from datasources.sql.flink.logical_types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    MAX_PRECISION,
    STRING,
    as_decimal,
    common_type,
    decimal,
    is_family,
)
from datasources.sql.flink.parse.literals import literal_type
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
_SMALL: Final = frozenset({"TINYINT", "SMALLINT", "INT"})
_DEEPEST: Final = 3
"""So many operators may repeat their operands in each other's text."""
_NEGATED_DIGITS: Final = 34
"""Spark negates a DECIMAL with so many digits (Java's MathContext.DECIMAL128) and rounds what is behind them."""
_TWO_63: Final = "9223372036854775808BD"
_TWO_64: Final = "18446744073709551616BD"
_DAY: Final = 86_400_000
_FEW_DAYS: Final = 3
"""So many days are added as hours, which the planning of joins understands."""
_EQUALITIES: Final = frozenset({"=", "<>", "IS DISTINCT", "IS SAME"})
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


def decimal_literal(digits: str, kind: SqlType) -> str:
    """Return a constant of a DECIMAL whose type in Spark is that: a leading zero is a digit in Flink."""
    return f"CAST({digits} AS {spark_type(kind)})" if digits.lstrip("-")[0] in "0." else digits


def negative_literal(digits: str) -> Value:
    """Return a number with a minus before its digits.

    Raises:
        Refused: it is out of range.
    """
    constant = f"-{digits}"
    kind = literal_type(constant)
    if kind is None:
        raise Refused("the number is out of the range of BIGINT")
    text = decimal_literal(constant, kind) if kind.root == "DECIMAL" else constant.rstrip(".")
    return Value(text=text, type=kind, level=SIGN, constant=constant)


def negative(value: Value) -> Value:
    """Return `-value`.

    Raises:
        Refused: it is no number and no INTERVAL.
    """
    if value.type.root == "NULL":
        return value
    if is_family(value.type, "integer"):
        zero = Value(text="0" if value.type.root != "BIGINT" else "0L", type=value.type, constant="0")
        return _of_integers("-", zero, value, value.type)
    if not is_family(value.type, "numeric") and not is_family(value.type, "interval"):
        raise Refused(f"there is no - of {shown_type(value.type)}")
    if value.type.root == "DECIMAL" and value.type.parameters[0] > _NEGATED_DIGITS:
        return _made(bound(value, _other_sign), value.type, ATOM, value)
    operand = value.inside(ATOM)  # two minus signs would begin a comment
    return _made(f"-({operand})" if operand.startswith("-") else f"-{operand}", value.type, SIGN, value)


def _other_sign(value: Value) -> str:
    digits = f"CAST({value.text} AS STRING)"
    text = f"if({value.text} < 0, substr({digits}, 2), concat('-', {digits}))"
    return f"CAST({text} AS {spark_type(value.type)})"


def absolute(value: Value) -> str:
    """Return ABS(value)."""
    if is_family(value.type, "integer"):  # Java's leaves the smallest as it is
        return bound(value, lambda x: f"if({x.text} = {SMALLEST[x.type.root]}, {x.text}, abs({x.text}))")
    if value.type.root == "DECIMAL" and value.type.parameters[0] > _NEGATED_DIGITS:
        return bound(value, lambda x: f"if({x.text} < 0, {_other_sign(x)}, {x.text})")
    return f"abs({value.text})"


def digits_of(value: Value) -> Value:
    """Return a constant as an operand of a comparison, where the precision of its type does not matter."""
    if value.constant is None or value.type.root != "DECIMAL":
        return value
    return replace(value, text=value.constant, level=SIGN)


def remainder(left: Value, right: Value) -> Value:
    """Return MOD(left, right)."""
    return arithmetic("%", left, right)


def _of_numbers(operator: str, left: Value, right: Value) -> Value:
    kind = common_type((left.type, right.type))
    assert kind is not None
    if is_family(kind, "approximate"):
        if operator == "%":
            raise Refused("% takes whole numbers and decimals", "CAST the operands to DECIMAL.")
        # Computed with the wider type; of two floating numbers the first one's type is that of the result.
        wide = DOUBLE if DOUBLE in {left.type, right.type} else kind
        return cast(_of_floats(operator, left, right, wide), kind)
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
        # As Java's: of the wider type; the result of MOD is of the divisor's, than which it is smaller.
        found = f"{first} % {second}"
        if right.type == kind:
            return _made(found, kind, MULTIPLICATIVE, left, right)
        return _made(f"CAST({found} AS {right.type.root})", right.type, ATOM, left, right)
    text = f"{first} div {second}"
    if kind.root == "BIGINT":
        return _made(text, kind, MULTIPLICATIVE, left, right)
    if right.constant not in {None, "-1"}:  # the only quotient that does not fit is that by -1
        return _made(f"CAST({text} AS {kind.root})", kind, ATOM, left, right)
    return _made(wrapped(text, kind.root), kind, ATOM, left, right)


def _of_floats(operator: str, left: Value, right: Value, kind: SqlType) -> Value:
    first, second = (cast(each, kind) for each in (left, right))
    level = _LEVELS[operator]
    plain = f"{first.inside(level)} {operator} {second.inside(level + 1)}"
    if operator != "/" or _is_not_zero(right):
        text = plain if kind != FLOAT or operator != "/" else f"CAST({plain} AS FLOAT)"
        return _made(text, kind, level if text is plain else ATOM, left, right)
    infinite = f"{first.inside(MULTIPLICATIVE)} * CAST('Infinity' AS {kind.root}) * ({second.text} + 1)"
    text = f"coalesce(try_divide({first.text}, {second.text}), {infinite})"
    return _made(f"CAST({text} AS {kind.root})", kind, ATOM, left, right)


def _is_not_zero(value: Value) -> bool:
    return value.constant is not None and any(each in "123456789" for each in value.constant.lower().partition("e")[0])


def _of_decimals(operator: str, left: Value, right: Value) -> Value:
    """Spark's types of the results are the same; what does not fit is NULL in Flink."""
    first, second = (_decimal_operand(each) for each in (left, right))
    (p1, s1), (p2, s2) = (as_decimal(each.type).parameters for each in (left, right))
    level = _LEVELS[operator]
    plain = f"{first.inside(level)} {operator} {second.inside(level + 1)}"
    scale = max(s1, s2)
    if operator == "/":
        scale = max(6, s1 + p2 + 1)
        return _made(plain, decimal(p1 - s1 + s2 + scale, scale), level, left, right)
    if operator == "%":
        made = _made(plain, decimal(min(p1 - s1, p2 - s2) + scale, scale), level, left, right)
        return made if scale else cast(made, right.type)  # of whole numbers it has the divisor's type
    if operator == "*":
        precision, scale = p1 + p2 + 1, s1 + s2
    else:
        precision = max(p1 - s1, p2 - s2) + scale + 1
    kind = decimal(precision, scale)
    if precision <= MAX_PRECISION:
        return _made(plain, kind, level, left, right)
    text = f"TRY_CAST({_TRIES[operator]}({first.text}, {second.text}) AS {spark_type(kind)})"
    return _made(text, kind, ATOM, left, right)


def _decimal_operand(value: Value) -> Value:
    """Spark takes a column of a small type for the same DECIMAL, but not a constant and no BIGINT."""
    is_same = value.type.root == "DECIMAL" or (value.type.root in _SMALL and value.constant is None)
    return value if is_same else cast(value, as_decimal(value.type))


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
    if left.type.root == "DATE" and is_family(right.type, "milliseconds"):
        return _moved_date(operator, left, right)
    if left.type.root == "TIMESTAMP_LTZ":
        return _moved_moment(operator, left, right)
    return _made(text, left.type, ADDITIVE, left, right)


def _moved_date(operator: str, left: Value, right: Value) -> Value:
    """Of an interval the whole days count."""
    if right.constant is None:
        days = f"{'-' if operator == '-' else ''}CAST(CAST({right.text} AS INTERVAL DAY) AS INT)"
        return _made(f"date_add({left.text}, {days})", left.type, ATOM, left, right)
    millis = int(right.constant)
    count = abs(millis) // _DAY * (-1 if millis < 0 else 1)
    if not count:
        return left
    return _made(f"{left.inside(ADDITIVE)} {operator} INTERVAL '{count}' DAY", left.type, ADDITIVE, left, right)


def _moved_moment(operator: str, left: Value, right: Value) -> Value:
    """A day of a moment has 24 hours; Spark would take one of the session's zone."""
    if is_family(right.type, "months"):
        raise Refused(
            "Flink counts the months of a TIMESTAMP_LTZ in UTC", "CAST it to TIMESTAMP(3), or count the days."
        )
    first = left.inside(ADDITIVE)
    if right.constant is None:
        micros = f"CAST(CAST(CAST({right.text} AS INTERVAL SECOND) AS DECIMAL(18, 6)) * 1000000 AS BIGINT)"
        text = f"timestamp_micros(unix_micros({left.text}) {operator} {micros})"
        return _made(text, left.type, ATOM, left, right)
    days, rest = divmod(int(right.constant), _DAY)
    if not days:
        return _made(f"{first} {operator} {right.inside(MULTIPLICATIVE)}", left.type, ADDITIVE, left, right)
    if rest or not 0 < days <= _FEW_DAYS:
        text = f"timestamp_micros(unix_micros({left.text}) {operator} ({right.constant}000L))"
        return _made(text, left.type, ATOM, left, right)
    halves = f" {operator} INTERVAL '12' HOUR" * (2 * days)
    return _made(first + halves, left.type, ADDITIVE, left, right)


def compare(operator: str, left: Value, right: Value) -> Value:
    """Return a comparison: = <> < <= > >=, and IS DISTINCT, IS SAME.

    Raises:
        Refused: the types cannot be compared.
    """
    left, right = map(digits_of, _comparable(operator, left, right))
    if operator in {"IS DISTINCT", "IS SAME"}:
        return _same(operator, left, right)
    text = f"{left.inside(ADDITIVE)} {operator} {right.inside(ADDITIVE)}"
    if _is_nan_unequal(left, right):
        return _with_nan(operator, text, left, right)
    return _made(text, BOOLEAN, PREDICATE, left, right)


def _same(operator: str, left: Value, right: Value) -> Value:
    same = f"{left.inside(ADDITIVE)} <=> {right.inside(ADDITIVE)}"
    if _is_nan_unequal(left, right) and left.constant is None and right.constant is None:
        tested = left if is_family(left.type, "approximate") else right
        same = f"{same} AND NOT isnan({tested.text})"
        level = AND
    else:
        level = PREDICATE
    if operator == "IS SAME":
        return _made(same, BOOLEAN, level, left, right)
    return _made(f"NOT ({same})", BOOLEAN, NOT, left, right)


def _is_nan_unequal(left: Value, right: Value) -> bool:
    """Return whether Flink compares two numbers as Java's operators do, to which NaN is equal to nothing.

    It compares a DECIMAL with a floating number as Spark does, and knows that an expression is equal to itself.
    """
    if left.text == right.text or "DECIMAL" in {left.type.root, right.type.root}:
        return False
    floating = [each for each in (left, right) if is_family(each.type, "approximate") and each.type.root != "NULL"]
    return any(each.constant is None for each in floating)


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


def _comparable(operator: str, left: Value, right: Value) -> tuple[Value, Value]:
    kind = common_type((left.type, right.type))
    if kind is not None and is_family(kind, "map") and kind.root != "NULL":
        raise Refused("Spark does not compare maps", "Compare their values, or CAST both to STRING.")
    if kind is not None:
        return _alike(operator, left, right, kind)
    for one, other in ((left, right), (right, left)):
        if is_family(one.type, "text") and is_family(other.type, "numeric"):
            changed = coerced(one, other.type)
            return (changed, other) if one is left else (other, changed)
        if is_family(one.type, "text") and is_family(other.type, "datetime"):
            # In a test of equality text that is no date is NULL.
            changed = cast(one, other.type, is_try=operator in _EQUALITIES and one.constant is None)
            return (changed, other) if one is left else (other, changed)
    raise Refused(
        f"{shown_type(left.type)} and {shown_type(right.type)} cannot be compared",
        "CAST one of them to the other type.",
    )


def _alike(operator: str, left: Value, right: Value, kind: SqlType) -> tuple[Value, Value]:
    if is_family(kind, "array") and left.type != right.type and kind.root != "NULL":
        return coerced(left, kind), coerced(right, kind)
    if left.type.root == right.type.root or is_family(kind, "text"):
        return left, right
    is_equality = operator in {"=", "<>"}
    if is_family(kind, "numeric"):
        is_narrow = left.type == FLOAT and right.type.root == "DOUBLE" and right.constant is not None
        return left, coerced(right, FLOAT) if is_equality and is_narrow else right
    if {left.type.root, right.type.root} == {"TIMESTAMP", "TIMESTAMP_LTZ"}:
        if is_equality:
            return left, coerced(right, left.type)
        kind = SqlType("TIMESTAMP_LTZ", kind.parameters)
    return coerced(left, kind), coerced(right, kind)


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
    text = f"{left.inside(ADDITIVE)} || {right.inside(MULTIPLICATIVE)}"
    return _made(text, _concatenated_type(left.type, right.type), ADDITIVE, left, right)


def _concatenated_type(left: SqlType, right: SqlType) -> SqlType:
    if is_family(left, "binary") and left.root != "NULL":
        return left
    if "NULL" in {left.root, right.root}:
        return STRING
    length = min(left.parameters[0] + right.parameters[0], STRING.parameters[0])
    return SqlType("CHAR" if left.root == right.root == "CHAR" else "VARCHAR", (length,))


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
