"""Types without parts: INT, `DECIMAL(10, 2)`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`, `INTERVAL DAY TO SECOND`.

A reader reads what follows the first word of a type. A dialect takes those that it has (`type_grammar.TypeDialect`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.sql_types import SqlType

ScalarReader: TypeAlias = Callable[[Cursor, Token], SqlType]
"""Takes the cursor behind the first word of a type, and that word."""

_MAX_DIGITS: Final = 38
_MAX_FRACTION: Final = 9
_MAX_LENGTH: Final = 2**31 - 1
_UNITS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_UNITS_OF_MONTHS: Final = ("YEAR", "MONTH")


def refuse_parameter(cursor: Cursor, word: str) -> None:
    """Refuse `INT(11)`: the type has no parameter.

    Raises:
        SqlError: a parenthesis comes next.
    """
    if cursor.sees_symbol("("):
        raise cursor.error(cursor.token.span, f"{word} has no parameter", f"Write {word}.")


def read_decimal(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001 - readers are called alike
    """Read `(10, 2)`, `(10)` or nothing."""
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


def sized(root: str, *, low: int = 1, is_required: bool = False, varying: str = "") -> ScalarReader:
    """Return the reader of a length.

    Args:
        root: the canonical name of the type.
        low: the smallest length.
        is_required: whether the type needs a length.
        varying: what the type is with VARYING behind its name; "" = the dialect has no such spelling.
    """

    def read(cursor: Cursor, token: Token) -> SqlType:
        actual = varying if varying and cursor.skip("VARYING") else root
        if is_required and not cursor.sees_symbol("("):
            raise cursor.error(token.span, f"{token.word} needs a length, as in {token.word}(10)")
        return SqlType(actual, _parameter(cursor, "the length", low, _MAX_LENGTH))

    return read


def read_double(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
    """Read the word PRECISION, if it is there."""
    cursor.skip("PRECISION")
    refuse_parameter(cursor, "DOUBLE")
    return SqlType("DOUBLE")


def read_time(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
    """Read the digits of a TIME and WITHOUT TIME ZONE."""
    parameters = _parameter(cursor, "the number of fraction digits", 0, _MAX_FRACTION)
    _skip_without_zone(cursor)
    return SqlType("TIME", parameters)


def read_instant_or_local(cursor: Cursor, token: Token) -> SqlType:
    """Read Spark's TIMESTAMP, an instant also WITH LOCAL TIME ZONE, or TIMESTAMP WITHOUT TIME ZONE."""
    if _skip_without_zone(cursor):
        return SqlType("TIMESTAMP")
    refuse_parameter(cursor, token.word)
    if cursor.skip("WITH"):
        cursor.expect("LOCAL", "TIME", "ZONE")
    return SqlType("TIMESTAMP_LTZ")


def read_precise_timestamp(cursor: Cursor, token: Token) -> SqlType:
    """Read Flink's `TIMESTAMP(3)`, which is local, `TIMESTAMP(3) WITH LOCAL TIME ZONE`, `TIMESTAMP_LTZ(3)`."""
    parameters = _parameter(cursor, "the number of fraction digits", 0, _MAX_FRACTION)
    if token.word != "TIMESTAMP":
        return SqlType("TIMESTAMP" if token.word == "TIMESTAMP_NTZ" else "TIMESTAMP_LTZ", parameters)
    if not _skip_without_zone(cursor) and cursor.skip("WITH"):
        if cursor.sees("TIME", "ZONE"):
            raise cursor.error(
                token.span.to(cursor.peek().span),
                "a timestamp that keeps the zone of each value does not exist here",
                "Write TIMESTAMP(3) WITH LOCAL TIME ZONE, or TIMESTAMP_LTZ(3): a moment in time.",
            )
        cursor.expect("LOCAL", "TIME", "ZONE")
        return SqlType("TIMESTAMP_LTZ", parameters)
    return SqlType("TIMESTAMP", parameters)


def read_interval(cursor: Cursor, token: Token) -> SqlType:  # noqa: ARG001
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


def _skip_without_zone(cursor: Cursor) -> bool:
    if not cursor.skip("WITHOUT"):
        return False
    cursor.expect("TIME", "ZONE")
    return True


def _whole_number(cursor: Cursor, what: str, low: int, high: int) -> int:
    token = cursor.token
    if token.kind is not TokenKind.NUMBER or not (token.text.isascii() and token.text.isdigit()):
        raise cursor.unexpected(f"{what}, a whole number")
    cursor.next()
    significant = token.text.lstrip("0") or "0"
    number = int(significant) if len(significant) <= len(str(high)) else high + 1
    if not low <= number <= high:
        raise cursor.error(token.span, f"{what} must be {low} to {high}, not {token.text}")
    return number


def _parameter(cursor: Cursor, what: str, low: int, high: int) -> tuple[int, ...]:
    if not cursor.skip_symbol("("):
        return ()
    number = _whole_number(cursor, what, low, high)
    cursor.expect_symbol(")")
    return (number,)


def _interval_unit(cursor: Cursor) -> str:
    if cursor.token.word not in _UNITS:
        raise cursor.unexpected(f"a unit of the INTERVAL ({', '.join(_UNITS)})")
    unit = cursor.next().word
    _parameter(cursor, "the number of digits", 0, _MAX_FRACTION)
    return unit
