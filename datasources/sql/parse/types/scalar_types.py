"""Types without parts: INT, `DECIMAL(10, 2)`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`, `INTERVAL DAY TO SECOND`.

Spark's spellings of the same types are understood as well (LONG, TIMESTAMP_NTZ), except that TIMESTAMP is Flink's:
without a zone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.sql.parse.tokens.cursor import Cursor
from datasources.sql.text.lexer import Token, TokenKind
from datasources.sql.types.sql_types import SqlType

__all__ = ["PLAIN_TYPES", "REFUSED_TYPES", "SCALAR_READERS", "refuse_parameter"]

_MAX_DIGITS: Final = 38
_MAX_FRACTION: Final = 9
_MAX_LENGTH: Final = 2**31 - 1
PLAIN_TYPES: Final = {
    **{each: each for each in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "STRING", "BYTES", "DATE")},
    "INTEGER": "INT",
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
}
_UNITS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_UNITS_OF_MONTHS: Final = ("YEAR", "MONTH")
REFUSED_TYPES: Final = {
    "RAW": "a serialised Java object cannot be read here; declare it as BYTES",
    "SYMBOL": "no column can have this type",
    "NULL": "no column can have this type; give the type that its values would have",
    "JSON": "JSON is text here: declare it as STRING, or as ROW<...> with the fields that it has",
    "TEXT": "the type of text is STRING",
    "DATETIME": "a date with a time is TIMESTAMP(3)",
    "UUID": "there is no such type; declare it as STRING",
    "VARIANT": "there is no such type; declare it as STRING",
    "SERIAL": "there is no such type; declare it as BIGINT",
    "TIMESTAMPTZ": "a moment in time is TIMESTAMP_LTZ(3)",
    "TIMETZ": "times with a zone do not exist here",
}


def refuse_parameter(cursor: Cursor, word: str) -> None:
    """Refuse `INT(11)`: the type has no parameter.

    Raises:
        SqlError: a parenthesis comes next.
    """
    if cursor.sees_symbol("("):
        raise cursor.error(cursor.token.span, f"{word} has no parameter", f"Write {word}.")


def _whole_number(cursor: Cursor, what: str, low: int, high: int) -> int:
    token = cursor.token
    if token.kind is not TokenKind.NUMBER or not (token.text.isascii() and token.text.isdigit()):
        raise cursor.unexpected(f"{what}, a whole number")
    cursor.next()
    number = int(token.text) if len(token.text) <= len(str(high)) else high + 1
    if not low <= number <= high:
        raise cursor.error(token.span, f"{what} must be {low} to {high}, not {token.text}")
    return number


def _parameter(cursor: Cursor, what: str, low: int, high: int) -> tuple[int, ...]:
    if not cursor.skip_symbol("("):
        return ()
    number = _whole_number(cursor, what, low, high)
    cursor.expect_symbol(")")
    return (number,)


def _read_decimal(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001 - readers are called alike
    if not cursor.skip_symbol("("):
        return SqlType("DECIMAL")
    parameters = [_whole_number(cursor, "the number of digits", 1, _MAX_DIGITS)]
    if cursor.skip_symbol(","):
        span = cursor.token.span
        parameters.append(_whole_number(cursor, "the number of digits after the point", 0, _MAX_DIGITS))
        if parameters[1] > parameters[0]:
            raise cursor.error(span, f"of {parameters[0]} digits {parameters[1]} cannot stand after the point")
    cursor.expect_symbol(")")
    return SqlType("DECIMAL", tuple(parameters))


def _sized(root: str) -> Callable[[Cursor, Token], SqlType]:
    def read(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
        actual = "VARCHAR" if root == "CHAR" and cursor.skip("VARYING") else root
        return SqlType(actual, _parameter(cursor, "the length", 1, _MAX_LENGTH))

    return read


def _read_double(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
    cursor.skip("PRECISION")
    refuse_parameter(cursor, "DOUBLE")
    return SqlType("DOUBLE")


def _read_time(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
    parameters = _parameter(cursor, "the number of fraction digits", 0, _MAX_FRACTION)
    if cursor.skip("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    return SqlType("TIME", parameters)


def _read_timestamp(cursor: Cursor, token: Token) -> SqlType:
    parameters = _parameter(cursor, "the number of fraction digits", 0, _MAX_FRACTION)
    if token.word != "TIMESTAMP":
        return SqlType("TIMESTAMP" if token.word == "TIMESTAMP_NTZ" else "TIMESTAMP_LTZ", parameters)
    if cursor.skip("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    elif cursor.skip("WITH"):
        if cursor.sees("TIME", "ZONE"):
            raise cursor.error(
                token.span.to(cursor.peek().span),
                "a timestamp that keeps the zone of each value does not exist here",
                "Write TIMESTAMP(3) WITH LOCAL TIME ZONE, or TIMESTAMP_LTZ(3): a moment in time.",
            )
        cursor.expect("LOCAL", "TIME", "ZONE")
        return SqlType("TIMESTAMP_LTZ", parameters)
    return SqlType("TIMESTAMP", parameters)


def _read_interval(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
    """Read the units of an INTERVAL; their digits are not kept, because values have microseconds or months anyway."""
    first = _interval_unit(cursor)
    if not cursor.skip("TO"):
        return SqlType("INTERVAL", units=(first,))
    span = cursor.token.span
    last = _interval_unit(cursor)
    is_one_kind = (first in _UNITS_OF_MONTHS) == (last in _UNITS_OF_MONTHS)
    if not is_one_kind or _UNITS.index(first) >= _UNITS.index(last):
        raise cursor.error(
            span, f"there is no INTERVAL {first} TO {last}", "The units are YEAR TO MONTH, DAY TO SECOND."
        )
    return SqlType("INTERVAL", units=(first, last))


def _interval_unit(cursor: Cursor) -> str:
    if cursor.token.word not in _UNITS:
        raise cursor.unexpected(f"a unit of the INTERVAL ({', '.join(_UNITS)})")
    unit = cursor.next().word
    _parameter(cursor, "the number of digits", 0, _MAX_FRACTION)
    return unit


SCALAR_READERS: Final[dict[str, Callable[[Cursor, Token], SqlType]]] = {
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), _read_decimal),
    **dict.fromkeys(("CHAR", "CHARACTER"), _sized("CHAR")),
    "VARCHAR": _sized("VARCHAR"),
    "BINARY": _sized("BINARY"),
    "VARBINARY": _sized("VARBINARY"),
    "DOUBLE": _read_double,
    "TIME": _read_time,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"), _read_timestamp),
    "INTERVAL": _read_interval,
}
"""How the rest of a type is read whose first word, in upper case, was read already."""
