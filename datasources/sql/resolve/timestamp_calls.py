"""Calls of TO_TIMESTAMP and TO_TIMESTAMP_LTZ: arguments parsed, checked, and rewritten into Spark's functions."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.resolve.flink_timestamps import (
    UnsupportedFormat,
    moment_of_number,
    moment_of_text,
    wall_clock_of_text,
)
from datasources.sql.text.calls import Call
from datasources.sql.text.query_tree import Region
from datasources.sql.text.word_cursor import Words

__all__ = ["TIMESTAMP_FUNCTIONS", "TimestampCallError", "timestamp_call"]

TIMESTAMP_FUNCTIONS: Final = frozenset({"TO_TIMESTAMP", "TO_TIMESTAMP_LTZ"})
_LOCAL: Final = "TO_TIMESTAMP"
_PRECISIONS: Final = {"0": 0, "3": 3}
_MICROSECONDS: Final = "6"
_SAFE_DIGITS: Final = {"0": 11, "3": 14}
"""Numbers of so many digits are before the year 9999."""
_NUMBERS: Final = re.compile(r"TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL\(.*\)")
_OFFSET: Final = re.compile(r"[+-](?:0[0-9]|1[0-8]):[0-5][0-9]")
_SHAPES: Final = {
    "TO_TIMESTAMP": "Write TO_TIMESTAMP(text) or TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss').",
    "TO_TIMESTAMP_LTZ": "Write TO_TIMESTAMP_LTZ(number, 0) for seconds, TO_TIMESTAMP_LTZ(number, 3) for milliseconds, "
    "or TO_TIMESTAMP_LTZ(text[, 'format'[, 'zone']]).",
}
_MAX_ARGUMENTS: Final = {"TO_TIMESTAMP": 2, "TO_TIMESTAMP_LTZ": 3}
_FORMATS: Final = (
    "The fields of a format are yyyy, MM, dd, HH, mm, ss and S to SSSSSSSSS, each once; text stands in single quotes. "
    "For others use TO_TIMESTAMP_NTZ(text, format), Spark's own."
)


class TimestampCallError(Exception):
    """A call that has no meaning.

    Attributes:
        reason: the reason, a clause.
        hint: what to do, sentences.
        argument: which argument it is about; None = the call.
    """

    def __init__(self, reason: str, hint: str, argument: Region | None = None) -> None:
        super().__init__(reason, hint)
        self.reason = reason
        self.hint = hint
        self.argument = argument


def is_epoch_call(words: Words, call: Call) -> bool:
    """Whether a call is TO_TIMESTAMP_LTZ(number, precision), which Spark has no function for."""
    parts = words.split(call.inside)
    return call.name != _LOCAL and len(parts) == 2 and words[parts[1].first].kind is TokenKind.NUMBER  # noqa: PLR2004


def epoch_of_literal(words: Words, call: Call) -> str | None:
    """Return the function of Spark's that TO_TIMESTAMP_LTZ(5, 3) is; None if the number is no small whole literal."""
    if not is_epoch_call(words, call):
        return None
    number, scale = (words.text(part) for part in words.split(call.inside))
    if scale == _MICROSECONDS:
        return "timestamp_micros"
    is_small = number.isascii() and number.isdigit() and len(number) <= _SAFE_DIGITS[scale]
    return {"0": "timestamp_seconds", "3": "timestamp_millis"}[scale] if is_small else None


def timestamp_call(words: Words, call: Call, value: str, ask: Callable[[str], str] | None) -> str:
    """Return a call in Spark's functions.

    ``value`` is the first argument, as in the result; ``ask`` gives a type as Spark's DDL in upper case, None = types
    are not known.

    Raises:
        TimestampCallError: the arguments are of wrong number or type, or a format cannot be read as Flink reads it.
    """
    parts = words.split(call.inside)
    if not 1 <= len(parts) <= _MAX_ARGUMENTS[call.name] or not all(parts):
        raise TimestampCallError(f"{call.name} has {len(parts)} arguments", _SHAPES[call.name])
    if call.name == _LOCAL:
        _check_text(call, value, ask, parts[0])
        return _formatted(lambda: wall_clock_of_text(value, _format(words, call, parts)), parts)
    if is_epoch_call(words, call):
        return _of_number(words, call, value, ask)
    if len(parts) == 1 and (ask is None or _NUMBERS.fullmatch(ask(value))):
        return _of_anything(value) if ask is None else moment_of_number(value, 3, ask(value))
    _check_text(call, value, ask, parts[0])
    zone = _zone(words, parts)
    return _formatted(lambda: moment_of_text(value, _format(words, call, parts), zone), parts)


def _of_anything(value: str) -> str:
    """Return TO_TIMESTAMP_LTZ(value) of a type that Spark finds out."""
    text = moment_of_text(f"CAST({value} AS STRING)")
    return f"CASE WHEN typeof({value}) = 'string' THEN {text} ELSE {moment_of_number(value, 3, '')} END"


def _of_number(words: Words, call: Call, value: str, ask: Callable[[str], str] | None) -> str:
    part = words.split(call.inside)[1]
    scale = words.text(part)
    kind = "" if ask is None else ask(value)
    if kind and not _NUMBERS.fullmatch(kind):
        raise TimestampCallError(f"{call.name}(..., {scale}) takes a number, and this is {kind}", _SHAPES[call.name])
    if scale == _MICROSECONDS:
        return f"timestamp_micros({value})"
    if scale not in _PRECISIONS:
        raise TimestampCallError(f"{call.name} counts in 0, 3 or 6 digits, not {scale}", "", part)
    return moment_of_number(value, _PRECISIONS[scale], kind)


def _check_text(call: Call, value: str, ask: Callable[[str], str] | None, part: Region) -> None:
    kind = "STRING" if ask is None else ask(value)
    if kind not in {"STRING", "VOID"}:
        hint = f"TO_TIMESTAMP_LTZ({value}, 3) reads milliseconds, (..., 0) seconds." if _NUMBERS.fullmatch(kind) else ""
        raise TimestampCallError(f"{call.name} takes text, and this is {kind}", hint or "Use CAST.", part)


def _format(words: Words, call: Call, parts: tuple[Region, ...]) -> str | None:
    return _constant(words, call, parts[1], "format") if len(parts) > 1 else None


def _zone(words: Words, parts: tuple[Region, ...]) -> str:
    if len(parts) < 3:  # noqa: PLR2004 - text, format, zone
        return "UTC"
    zone = _constant(words, None, parts[2], "zone")
    if not _OFFSET.fullmatch(zone) and zone not in zoneinfo.available_timezones():
        raise TimestampCallError(
            f"there is no time zone {zone!r}", "Name a region, 'Europe/Berlin', or an offset, '+01:00'.", parts[2]
        )
    return zone


def _constant(words: Words, call: Call | None, part: Region, what: str) -> str:
    token = words[part.first]
    if part.last - part.first != 1 or token.kind is not TokenKind.STRING:
        name = "TO_TIMESTAMP_LTZ" if call is None else call.name
        raise TimestampCallError(f"the {what} of {name} has to be a literal", _FORMATS, part)
    return token.value


def _formatted(made: Callable[[], str], parts: tuple[Region, ...]) -> str:
    try:
        return made()
    except UnsupportedFormat as problem:
        raise TimestampCallError(f"the format holds {problem}, which is not read here", _FORMATS, parts[1]) from None
