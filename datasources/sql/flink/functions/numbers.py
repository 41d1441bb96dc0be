"""Functions of numbers."""

from __future__ import annotations

from typing import Final

from datasources.sql.flink.functions.signature import Function, Signature, first_argument, function, overloads
from datasources.sql.flink.logical_types import DOUBLE, INT, STRING
from datasources.sql.flink.operators import remainder

_DOUBLES: Final = {
    "SQRT": "sqrt", "LN": "ln", "LOG10": "log10", "LOG2": "log2", "EXP": "exp", "SIN": "sin", "COS": "cos",
    "TAN": "tan", "COT": "cot", "ASIN": "asin", "ACOS": "acos", "ATAN": "atan", "SINH": "sinh", "COSH": "cosh",
    "TANH": "tanh", "DEGREES": "degrees", "RADIANS": "radians",
}  # fmt: skip


NUMBERS: Final[tuple[Function, ...]] = (
    *(function(name, "DOUBLE", DOUBLE, f"{spark}({{0}})") for name, spark in _DOUBLES.items()),
    function("POWER", "DOUBLE DOUBLE", DOUBLE, "power({0}, {1})"),
    function("ATAN2", "DOUBLE DOUBLE", DOUBLE, "atan2({0}, {1})"),
    function("ABS", "numeric", first_argument, "abs({0})"),
    Function(
        name="MOD",
        signatures=(Signature(parameters=("numeric", "numeric"), value=lambda arguments: remainder(*arguments)),),
    ),
    function("PI", "", DOUBLE, "pi()"),
    function("E", "", DOUBLE, "e()"),
    function("BIN", "BIGINT", STRING, "bin({0})"),
    overloads("SIGN", ("numeric", first_argument, lambda a, _: f"CAST(sign({a[0].text}) AS {a[0].type.root})")),
    function("RAND_INTEGER", "INT", INT, "CAST(floor(rand() * {0}) AS INT)", is_deterministic=False),
)
