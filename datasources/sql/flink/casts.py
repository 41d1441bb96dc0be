"""CAST and TRY_CAST with Flink's results, and casts that Flink makes by itself.

A rule is chosen by the families of the two types; `_RULES` lists them. A rule returns text whose type in Spark is that
of the target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import BIGINT, as_decimal, is_family
from datasources.sql.flink.typed_value import ATOM, Refused, Value, shown_type, spark_type

_Rule = Callable[[Value, SqlType, str], str]
"""(value, target, CAST or TRY_CAST) -> text."""
_BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_ORDER: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def cast(value: Value, target: SqlType, *, is_try: bool = False) -> Value:
    """Return CAST(value AS target), or TRY_CAST.

    Raises:
        Refused: Flink has no such cast, or Spark none with its result.
    """
    if value.type.root == "NULL":
        return Value(text=f"CAST(NULL AS {spark_type(target)})", type=target)
    if _is_same(value.type, target):
        return value.of_type(target)
    for source_family, target_family, rule in _RULES:
        if is_family(value.type, source_family) and is_family(target, target_family):
            return Value(
                text=rule(value, target, "TRY_CAST" if is_try else "CAST"),
                type=target,
                level=ATOM,
                depth=value.depth,
                is_aggregate=value.is_aggregate,
            )
    raise Refused(f"there is no cast from {shown_type(value.type)} to {shown_type(target)}")


def coerced(value: Value, target: SqlType) -> Value:
    """Return a value as an argument of a type; the cast is Flink's own.

    Raises:
        Refused: there is no such cast.
    """
    return cast(value, target)


def wrapped(text: str, root: str) -> str:
    """Return a BIGINT's low bits as a smaller integer, as Java's cast does."""
    shift = 64 - _BITS[root]
    return f"CAST(shiftright(shiftleft({text}, {shift}), {shift}) AS {root})"


def _is_same(source: SqlType, target: SqlType) -> bool:
    if source.root != target.root:
        return False
    return (
        source.parameters == target.parameters
        and source.arguments == target.arguments
        and (source.fields == target.fields)
    )


def _plain(value: Value, target: SqlType, name: str) -> str:
    return f"{name}({value.text} AS {spark_type(target)})"


def _integer_to_integer(value: Value, target: SqlType, name: str) -> str:
    if _ORDER.index(target.root) >= _ORDER.index(value.type.root):
        return _plain(value, target, name)
    wide = value.text if value.type == BIGINT else f"CAST({value.text} AS BIGINT)"
    return wrapped(wide, target.root)


def _to_decimal(value: Value, target: SqlType, name: str) -> str:
    if target.root != "DECIMAL":
        return _plain(value, target, name)
    # Flink gives NULL where the digits do not fit.
    (p1, s1), (p2, s2) = as_decimal(value.type).parameters, target.parameters
    called = "CAST" if s1 <= s2 and p1 - s1 <= p2 - s2 else "TRY_CAST"
    return f"{called}({value.text} AS {spark_type(target)})"


def _text_to_text(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    length, given = target.parameters[0], value.type.parameters[0]
    cut = value.text if given <= length else f"left({value.text}, {length})"
    if target.root == "CHAR" and not (value.type.root == "CHAR" and given == length):
        return f"rpad({cut}, {length})"
    return cut


def _to_text(made: Callable[[Value], str]) -> _Rule:
    def rule(value: Value, target: SqlType, name: str) -> str:
        text = Value(text=made(value), type=SqlType("VARCHAR", (2**31 - 1,)))
        return _text_to_text(text, target, name)

    return rule


def _string(value: Value) -> str:
    return f"CAST({value.text} AS STRING)"


def _upper_string(value: Value) -> str:
    return f"upper(CAST({value.text} AS STRING))"


def _timestamp_string(value: Value) -> str:
    digits = value.type.parameters[0]
    fraction = "." + "S" * min(digits, 6) if digits else ""
    return f"date_format({value.text}, 'yyyy-MM-dd HH:mm:ss{fraction}')"


def _timestamp_to_timestamp(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    text = value.text if value.type.root == target.root else f"CAST({value.text} AS {spark_type(target)})"
    given, wanted = (each.parameters[0] for each in (value.type, target))
    return text if wanted >= given or wanted >= 6 else _cut(text, wanted, target.root)  # noqa: PLR2004 - micros


def _cut(text: str, digits: int, root: str) -> str:
    """Return a timestamp without the digits behind some; on TIMESTAMP_NTZ, date_trunc uses the session's zone."""
    unit = 10 ** (6 - digits)
    if root == "TIMESTAMP_LTZ":
        return f"timestamp_micros(unix_micros({text}) - pmod(unix_micros({text}), {unit}))"
    fraction = f"pmod(CAST(extract(SECOND FROM {text}) * 1000000 AS BIGINT), {unit})"
    return f"({text} - make_dt_interval(0, 0, 0, {fraction} / 1000000.0))"


_RULES: Final[tuple[tuple[str, str, _Rule], ...]] = (
    ("integer", "integer", _integer_to_integer),
    ("exact", "exact", _to_decimal),
    ("numeric", "numeric", _plain),
    ("text", "text", _text_to_text),
    ("boolean", "text", _to_text(_upper_string)),
    ("timestamp", "text", _to_text(_timestamp_string)),
    ("any", "text", _to_text(_string)),
    ("timestamp", "timestamp", _timestamp_to_timestamp),
    ("any", "any", _plain),
)
