"""Functions of numbers: roots, logarithms, angles, rounding, chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import bound
from datasources.sql.flink.functions.signature import (
    Function,
    Signature,
    first_argument,
    function,
    overloads,
)
from datasources.sql.flink.logical_types import DOUBLE, INT, STRING, is_family
from datasources.sql.flink.operators import absolute, arithmetic, remainder
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import ADDITIVE, MULTIPLICATIVE, Refused, Value, shown_type, spark_type

_DOUBLES: Final = {
    "SQRT": "sqrt", "EXP": "exp", "SIN": "sin", "COS": "cos", "TAN": "tan", "COT": "cot", "ASIN": "asin",
    "ACOS": "acos", "ATAN": "atan", "SINH": "sinh", "COSH": "cosh", "TANH": "tanh", "DEGREES": "degrees",
    "RADIANS": "radians",
}  # fmt: skip
_WITHOUT_FRACTIONS: Final = 2**52
"""From here on every DOUBLE is a whole number."""
_LOGARITHM: Final = "Spark's logarithm of zero and of negative numbers is NULL; Flink's is -Infinity, or NaN"


def _logarithm(spark: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
        return _log_text(spark, arguments[0])

    return overloads(spark.upper(), ("DOUBLE", DOUBLE, text), differs=_LOGARITHM)


def _log_text(spark: str, value: Value) -> str:
    if value.constant is not None and float(value.constant) > 0:
        return f"{spark}({value.text})"

    def made(x: Value) -> str:
        special = f"WHEN {x.text} = 0 THEN CAST('-Infinity' AS DOUBLE) WHEN {x.text} < 0 THEN CAST('NaN' AS DOUBLE)"
        return f"CASE WHEN {x.text} > 0 THEN {spark}({x.text}) {special} END"

    return bound(value, made)


def _log_of_base(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    base, value = (_log_text("ln", each) for each in arguments)
    if arguments[0].constant is not None and float(arguments[0].constant) != 1:
        return f"({value}) / ({base})"
    # The logarithm of 1 is 0, by which Flink divides.
    return arithmetic("/", Value(text=value, type=DOUBLE), Value(text=base, type=DOUBLE)).text


def _sign(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    return f"CAST(sign({arguments[0].text}) AS {spark_type(arguments[0].type)})"


def _whole(spark: str) -> Function:
    """CEIL or FLOOR; of a timestamp, see `times`."""

    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
        value = arguments[0]
        if is_family(value.type, "integer"):
            return value.text
        if value.type.root == "DECIMAL":
            return f"CAST({spark}({value.text}) AS {spark_type(_whole_type(arguments))})"

        def made(x: Value) -> str:
            small = f"abs({x.text}) < {_WITHOUT_FRACTIONS}"
            return f"CASE WHEN {small} THEN CAST({spark}({x.text}) AS {x.type.root}) ELSE {x.text} END"

        return bound(value, made)

    name = spark.upper()
    return overloads(name, ("numeric", _whole_type, text), differs="Spark's result is a BIGINT")


def _whole_type(arguments: Sequence[Value]) -> SqlType:
    kind = arguments[0].type
    return SqlType("DECIMAL", (kind.parameters[0], 0)) if kind.root == "DECIMAL" else kind


def _digits(arguments: Sequence[Value]) -> int:
    if len(arguments) == 1:
        return 0
    if arguments[1].constant is None:
        raise Refused("the number of digits is a constant here", "Write it as a number: ROUND(x, 2).")
    return int(arguments[1].constant)


def _rounded_type(arguments: Sequence[Value]) -> SqlType:
    kind = arguments[0].type
    if kind.root != "DECIMAL":
        return kind
    precision, scale = kind.parameters
    digits = _digits(arguments)
    if digits >= scale:
        return kind
    kept = max(digits, 0)
    return SqlType("DECIMAL", (min(precision, precision - scale + kept + 1), kept))


def _round(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    value, digits = arguments[0], _digits(arguments)
    if is_family(value.type, "integer") and digits >= 0:
        return value.text
    text = f"round({value.text}, {digits})"
    return f"CAST({text} AS {spark_type(_rounded_type(arguments))})" if value.type.root == "DECIMAL" else text


def _truncate(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    value, digits = arguments[0], _digits(arguments)
    if is_family(value.type, "approximate"):
        raise Refused(f"TRUNCATE of {shown_type(value.type)} is not there", "CAST the number to DECIMAL first.")
    if digits >= (value.type.parameters[1] if value.type.root == "DECIMAL" else 0):
        return value.text
    kind = spark_type(_rounded_type(arguments))

    def made(x: Value) -> str:
        if x.type.root != "DECIMAL":
            return f"CAST({x.inside(ADDITIVE)} - {x.inside(MULTIPLICATIVE)} % {10**-digits} AS {kind})"
        up, down = f"ceil({x.text}, {digits})", f"floor({x.text}, {digits})"
        return f"CAST(CASE WHEN {x.text} < 0 THEN {up} ELSE {down} END AS {kind})"

    return bound(value, made)


NUMBERS: Final[tuple[Function, ...]] = (
    *(function(name, "DOUBLE", DOUBLE, f"{spark}({{0}})") for name, spark in _DOUBLES.items()),
    *(_logarithm(spark) for spark in ("ln", "log10", "log2")),
    overloads(
        "LOG",
        ("DOUBLE", DOUBLE, lambda arguments, _: _log_text("ln", arguments[0])),
        ("DOUBLE DOUBLE", DOUBLE, _log_of_base),
        differs=_LOGARITHM,
    ),
    function("POWER", "DOUBLE DOUBLE", DOUBLE, "power({0}, {1})"),
    function("ATAN2", "DOUBLE DOUBLE", DOUBLE, "atan2({0}, {1})"),
    overloads("ABS", ("numeric", first_argument, lambda arguments, _: absolute(arguments[0]))),
    Function(
        name="MOD",
        signatures=(Signature(parameters=("numeric", "numeric"), value=lambda arguments: remainder(*arguments)),),
    ),
    function("PI", "", DOUBLE, "pi()"),
    function("E", "", DOUBLE, "e()"),
    function("BIN", "BIGINT", STRING, "bin({0})"),
    overloads("SIGN", ("numeric", first_argument, _sign)),
    *(overloads(name, ("numeric INT?", _rounded_type, _round)) for name in ("ROUND",)),
    overloads("TRUNCATE", ("numeric INT?", _rounded_type, _truncate)),
    function("RAND", "INT?", DOUBLE, "rand({all})", is_deterministic=False),
    overloads(
        "RAND_INTEGER",
        ("INT", INT, "CAST(floor(rand() * {0}) AS INT)"),
        ("INT INT", INT, "CAST(floor(rand({0}) * {1}) AS INT)"),
    ),
    function("UUID", "", SqlType("CHAR", (36,)), "uuid()", is_deterministic=False),
)
CEILING, FLOORING = _whole("ceil"), _whole("floor")
"""Their signatures for numbers; `times` adds those for timestamps."""
