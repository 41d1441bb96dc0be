"""CAST and TRY_CAST with Flink's results, and casts that Flink makes by itself.

A rule is chosen by the families of the two types; `_RULES` lists them. A rule returns text whose type in Spark is that
of the target. Where Flink fails at a row (text that is no number, no date), CAST may be more lenient here; TRY_CAST is
NULL there as in Flink.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import BIGINT, STRING, as_decimal, is_family
from datasources.sql.flink.typed_value import ATOM, Refused, Value, shown_type, spark_type
from datasources.sql.resolve.flink_timestamps import wall_clock_of_text

_Rule = Callable[[Value, SqlType, str], str]
"""(value, target, CAST or TRY_CAST) -> text."""
_BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_ORDER: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_DIGITS: Final = {"TINYINT": 2, "SMALLINT": 4, "INT": 9, "BIGINT": 18}
"""Every number of so many digits is in the type."""
SMALLEST: Final = {
    "TINYINT": "-128",
    "SMALLINT": "-32768",
    "INT": "-2147483648",
    "BIGINT": "(-9223372036854775807L - 1L)",
}
"""Spark SQL of the smallest number of a type."""
_LARGEST: Final = {"INT": "2147483647", "BIGINT": "9223372036854775807L"}
_MICROS: Final = 6
_MILLIS: Final = 3
_CLOCK_LENGTH: Final = 19
_WHOLE_NUMBER: Final = r"r'^ *([+-]?)(?=[0-9.])([0-9]*)(?:[.][0-9]*)? *\z', '$10$2'"
"""Digits behind the point are left out; other text stays, and is no number."""
_UNKNOWN_WORD: Final = r"r'^ *[+-]?(?!Infinity|NaN)[A-Za-z]', 'x'"
"""Spark reads more spellings of infinity and NaN."""
_DATE: Final = r"r'^ *([0-9]{4}(?:-[0-9]{1,2}){0,2})(?: .*)?\z', 1"
_UNBOUND: Final = "element"
_NAME: Final = re.compile(r"[\w.`$]+")


def cast(value: Value, target: SqlType, *, is_try: bool = False) -> Value:
    """Return CAST(value AS target), or TRY_CAST.

    Raises:
        Refused: Flink has no such cast, or Spark none with its result.
    """
    if target.root == "TIME":
        raise Refused("Spark has no values of the type TIME here", "Use a TIMESTAMP, or text.")
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
                constant=value.constant if is_family(value.type, "integer") and is_family(target, "numeric") else None,
                depth=value.depth,
                is_aggregate=value.is_aggregate,
            )
    hint = next((hint for one, other, hint in _HINTS if is_family(value.type, one) and is_family(target, other)), "")
    raise Refused(f"there is no cast from {shown_type(value.type)} to {shown_type(target)}", hint)


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


def bound(value: Value, made: Callable[[Value], str], name: str = "bound") -> str:
    """Return a text that names a value several times; one that costs something is computed once.

    Args:
        value: the value.
        made: makes the text; it gets the value, or a variable in its place.
        name: of the variable; another one for a value that is bound inside.
    """
    if value.constant is not None or _NAME.fullmatch(value.text):
        return made(value)
    while re.search(rf"\b{name}\b", value.text):
        name += "_"
    return f"transform(array({value.text}), {name} -> {made(Value(text=name, type=value.type))})[0]"


def _plain(value: Value, target: SqlType, name: str) -> str:
    return f"{name}({value.text} AS {spark_type(target)})"


def _never_fails(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001 - rules are called alike
    return f"CAST({value.text} AS {spark_type(target)})"


def _integer_to_integer(value: Value, target: SqlType, name: str) -> str:
    if _ORDER.index(target.root) >= _ORDER.index(value.type.root):
        return _never_fails(value, target, name)
    wide = value.text if value.type == BIGINT else f"CAST({value.text} AS BIGINT)"
    return wrapped(wide, target.root)


def _exact_to_exact(value: Value, target: SqlType, name: str) -> str:
    if target.root != "DECIMAL":
        return _exact_to_integer(value, target, name)
    # Flink gives NULL where the digits do not fit.
    (p1, s1), (p2, s2) = as_decimal(value.type).parameters, target.parameters
    called = "CAST" if s1 <= s2 and p1 - s1 <= p2 - s2 else "TRY_CAST"
    return f"{called}({value.text} AS {spark_type(target)})"


def _exact_to_integer(value: Value, target: SqlType, name: str) -> str:
    precision, scale = as_decimal(value.type).parameters
    if precision - scale > _DIGITS["BIGINT"] or precision - scale <= _DIGITS[target.root]:
        return _plain(value, target, name)
    return wrapped(f"CAST({value.text} AS BIGINT)", target.root)


def _float_to_integer(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    """Return Java's cast: NaN is 0, what is too large the largest BIGINT or INT; small types take bits of an INT."""
    root = "BIGINT" if target.root == "BIGINT" else "INT"
    low, high = SMALLEST[root], _LARGEST[root]

    def made(x: Value) -> str:
        ends = f"WHEN isnan({x.text}) THEN 0 WHEN {x.text} <= {low} THEN {low} WHEN {x.text} >= {high} THEN {high}"
        return f"CASE {ends} ELSE CAST({x.text} AS {root}) END"

    whole = bound(value, made)
    return whole if target.root == root else wrapped(f"CAST({whole} AS BIGINT)", target.root)


def _float_to_decimal(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    exact = value.text if value.type.root == "DOUBLE" else f"CAST({value.text} AS STRING)"
    return f"TRY_CAST({exact} AS {spark_type(target)})"


def _text_to_integer(value: Value, target: SqlType, name: str) -> str:
    return f"{name}(regexp_replace({value.text}, {_WHOLE_NUMBER}) AS {target.root})"


def _text_to_float(value: Value, target: SqlType, name: str) -> str:
    text = value.text if name == "CAST" else f"regexp_replace({value.text}, {_UNKNOWN_WORD})"
    return f"{name}({text} AS {target.root})"


def _text_to_boolean(value: Value, target: SqlType, name: str) -> str:
    text = value.text if name == "CAST" else f"replace({value.text}, ' ', '_')"
    return f"{name}({text} AS {target.root})"


def _text_to_date(value: Value, target: SqlType, name: str) -> str:
    return _plain(value, target, name) if name == "CAST" else date_of_text(value.text)


def date_of_text(text: str) -> str:
    """Return TO_DATE(text): NULL for what is no date; a time may follow."""
    return f"TRY_CAST(regexp_extract({text}, {_DATE}) AS DATE)"


def _text_to_timestamp(value: Value, target: SqlType, name: str) -> str:
    digits, kind = min(target.parameters[0], _MICROS), spark_type(target)
    if name == "CAST":
        cut = rf"r'([.][0-9]{{{digits}}})[0-9]+\z', '$1'" if digits else r"r'[.][0-9]*\z', ''"
        text = value.text if digits == _MICROS else f"regexp_replace({value.text}, {cut})"
        return f"CAST({text} AS {kind})"
    if digits == _MILLIS:
        wall = wall_clock_of_text(value.text)
        return wall if target.root == "TIMESTAMP" else f"CAST({wall} AS {kind})"
    clock = "(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}"
    fraction = f"(?:[.][0-9]{{0,{digits}}})?" if digits else ""
    rest = f"(?<=[.][0-9]{{{digits}}})[0-9]{{1,{9 - digits}}}" if digits else "(?<=:[0-9]{1,2})[.][0-9]{0,9}"
    form = rf"r'^([0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}{clock}{fraction})?)(?:{rest})?\z', 1"
    return f"TRY_CAST(regexp_extract({value.text}, {form}) AS {kind})"


def _text_to_text(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    length, given = target.parameters[0], value.type.parameters[0]
    cut = value.text if given <= length else f"left({value.text}, {length})"
    if target.root == "CHAR" and not (value.type.root == "CHAR" and given == length):
        return f"rpad({value.text}, {length})"
    return cut


def _text_to_binary(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    return _fitted_bytes(f"CAST({value.text} AS BINARY)", target, 2**31 - 1)


def _binary_to_binary(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    given = value.type.parameters[0]
    if value.type.root == target.root == "BINARY" and given == target.parameters[0]:
        return value.text
    return _fitted_bytes(value.text, target, given)


def _fitted_bytes(text: str, target: SqlType, given: int) -> str:
    length = target.parameters[0]
    if target.root == "BINARY":
        return f"rpad({text}, {length}, X'00')"
    return text if given <= length else f"left({text}, {length})"


def _to_text(made: Callable[[Value], str]) -> _Rule:
    def rule(value: Value, target: SqlType, name: str) -> str:
        return _text_to_text(Value(text=made(value), type=STRING), target, name)

    return rule


def _string(value: Value) -> str:
    return f"CAST({value.text} AS STRING)"


def _upper_string(value: Value) -> str:
    return f"upper(CAST({value.text} AS STRING))"


def timestamp_text(value: Value, digits: int) -> str:
    """Return a timestamp as text with a number of digits behind the point; the text has no zone."""
    text = f"CAST({value.text} AS STRING)"
    if not digits:
        return f"left({text}, {_CLOCK_LENGTH})"
    return rf"rpad(regexp_replace({text}, r'^([^.]*)\z', '$1.'), {_CLOCK_LENGTH + 1 + digits}, '0')"


def _timestamp_string(value: Value) -> str:
    return timestamp_text(value, value.type.parameters[0])


def _array_string(value: Value) -> str:
    name = f"{_UNBOUND}{value.depth}"
    element = Value(text=name, type=value.type.arguments[0], depth=value.depth + 1)
    return f"concat('[', array_join(transform({value.text}, {name} -> {_shown(element)}), ', '), ']')"


def _map_string(value: Value) -> str:
    name = f"{_UNBOUND}{value.depth}"
    key, inner = (
        _shown(Value(text=f"{name}.{part}", type=kind, depth=value.depth + 1))
        for part, kind in zip(("key", "value"), value.type.arguments, strict=True)
    )
    entries = f"transform(map_entries({value.text}), {name} -> concat({key}, '=', {inner}))"
    return f"concat('{{', array_join({entries}, ', '), '}}')"


def _row_string(value: Value) -> str:
    def made(row: Value) -> str:
        fields = (
            _shown(Value(text=f"{row.text}.`{field.name}`", type=field.type, depth=value.depth + 1))
            for field in value.type.fields
        )
        return f"if({row.text} IS NULL, NULL, concat('(', concat_ws(', ', {', '.join(fields)}), ')'))"

    return bound(value, made)


def _shown(value: Value) -> str:
    return f"coalesce({cast(value, STRING).text}, 'NULL')"


def _timestamp_to_timestamp(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    given, wanted = (each.parameters[0] for each in (value.type, target))
    text = value.text if value.type.root == target.root else f"CAST({value.text} AS {spark_type(target)})"
    if wanted >= given or wanted >= _MICROS:
        return text
    if target.root == "TIMESTAMP_LTZ":
        unit = 10 ** (_MICROS - wanted)
        return f"timestamp_micros(unix_micros({text}) div {unit} * {unit})"
    return f"CAST({timestamp_text(Value(text=text, type=target), wanted)} AS TIMESTAMP_NTZ)"


def _array_to_array(value: Value, target: SqlType, name: str) -> str:
    variable = f"{_UNBOUND}{value.depth}"
    (given,), (wanted,) = value.type.arguments, target.arguments
    element = cast(Value(text=variable, type=given, depth=value.depth + 1), wanted)
    if name == "TRY_CAST" and is_family(given, "text") and not is_family(wanted, "text"):
        raise Refused("TRY_CAST of the elements of an array is not there", "Write CAST, or cast the elements.")
    return value.text if element.text == variable else f"transform({value.text}, {variable} -> {element.text})"


def _map_to_map(value: Value, target: SqlType, name: str) -> str:
    if name == "TRY_CAST":
        raise Refused("TRY_CAST of a map is not there", "Write CAST.")
    text = value.text
    sides = zip(("transform_keys", "transform_values"), "kv", value.type.arguments, target.arguments, strict=True)
    for function, variable, given, wanted in sides:
        made = cast(Value(text=variable, type=given, depth=value.depth + 1), wanted).text
        text = text if made == variable else f"{function}({text}, (k, v) -> {made})"
    return text


def _row_to_row(value: Value, target: SqlType, name: str) -> str:
    if len(value.type.fields) != len(target.fields):
        raise Refused(f"a ROW of {len(value.type.fields)} fields is not one of {len(target.fields)}")
    if name == "TRY_CAST":
        raise Refused("TRY_CAST of a row is not there", "Write CAST, or TRY_CAST of its fields.")

    def made(row: Value) -> str:
        pairs = zip(value.type.fields, target.fields, strict=True)
        fields = ", ".join(
            f"'{wanted.name}', "
            + cast(Value(text=f"{row.text}.`{given.name}`", type=given.type, depth=value.depth + 1), wanted.type).text
            for given, wanted in pairs
        )
        return f"if({row.text} IS NULL, NULL, named_struct({fields}))"

    return bound(value, made)


def _refused(value: Value, target: SqlType, name: str) -> str:  # noqa: ARG001
    raise Refused("an INTERVAL is not cast here", "Compute with the timestamps, or write the parts of the text.")


_RULES: Final[tuple[tuple[str, str, _Rule], ...]] = (
    ("integer", "integer", _integer_to_integer),
    ("exact", "exact", _exact_to_exact),
    ("approximate", "integer", _float_to_integer),
    ("approximate", "exact", _float_to_decimal),
    ("numeric", "numeric", _plain),
    ("numeric", "boolean", _never_fails),
    ("boolean", "numeric", _plain),
    ("boolean", "text", _to_text(_upper_string)),
    ("numeric", "text", _to_text(_string)),
    ("text", "text", _text_to_text),
    ("text", "integer", _text_to_integer),
    ("text", "exact", _plain),
    ("text", "approximate", _text_to_float),
    ("text", "boolean", _text_to_boolean),
    ("text", "date", _text_to_date),
    ("text", "timestamp", _text_to_timestamp),
    ("text", "binary", _text_to_binary),
    ("binary", "binary", _binary_to_binary),
    ("binary", "text", _to_text(_string)),
    ("date", "text", _to_text(_string)),
    ("timestamp", "text", _to_text(_timestamp_string)),
    ("date", "timestamp", _never_fails),
    ("timestamp", "date", _never_fails),
    ("timestamp", "timestamp", _timestamp_to_timestamp),
    ("interval", "any", _refused),
    ("array", "text", _to_text(_array_string)),
    ("map", "text", _to_text(_map_string)),
    ("row", "text", _to_text(_row_string)),
    ("array", "array", _array_to_array),
    ("map", "map", _map_to_map),
    ("row", "row", _row_to_row),
)
_HINTS: Final = (
    ("numeric", "instant", "Write TO_TIMESTAMP_LTZ(x, 3), with x in milliseconds."),
    ("numeric", "local", "Write CAST(TO_TIMESTAMP_LTZ(x, 3) AS TIMESTAMP(3)), with x in milliseconds."),
    ("timestamp", "numeric", "Write EXTRACT, or UNIX_TIMESTAMP(CAST(x AS STRING))."),
)
