"""Text to moments, by the grammar of Spark's CAST(text AS TIMESTAMP).

The grammar: ``[+-]yyyy[-m[m][-d[d][( |T)h[h][:m[m][:s[s][.fraction][zone]]]]]]`` with a year of 4 to 6 digits and
a fraction cut (not rounded) to microseconds. A zone may follow the seconds only: Z, an offset, or a region.
What Spark answers from its clock (a time without a date) or from a zone database (a region) is a limit of the
reader: such text is never taken for malformed, as Spark may accept it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from datasources.expressions.vectors.vectors import SPARK_BLANKS, EvalError

__all__ = ["fixed_offset_us", "parse_timestamp"]

_GRAMMAR: Final = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9].*)?)?)?)?)?)?",
    re.DOTALL,
)
_TIME_ONLY: Final = re.compile(r"T[0-9]{1,2}(?:$|:)|[0-9]{1,2}:")
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{2}))?)?")
_COMPACT_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{2})([0-9]{2})([0-9]{2})?")
_ETC_OFFSET: Final = re.compile(r"Etc/(?:GMT|UTC)([+-])([0-9]{1,2})")
_NO_OFFSET: Final = frozenset({"Z", "UTC", "GMT", "UT", "Etc/UTC", "Etc/GMT", "Etc/UCT", "UCT", "Zulu"})
_REGION: Final = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]+")
_SECOND_US: Final = 1_000_000
_DAY_US: Final = 86_400 * _SECOND_US
_DAYS_PER_400_YEARS: Final = 146_097
_LARGEST_OFFSET_S: Final = 18 * 3600
_LARGEST_ETC_HOURS: Final = 12
_LAST_HOUR: Final = 23
_LAST_MINUTE: Final = 59
_RANGE: Final = 2**63


def fixed_offset_us(zone: str) -> int | None:
    """Return the offset from UTC, in µs, of a zone that never changes it; None for any other name."""
    if zone in _NO_OFFSET:
        return 0
    etc = _ETC_OFFSET.fullmatch(zone)
    if etc and zone.startswith("Etc/GMT") and int(etc[2]) <= _LARGEST_ETC_HOURS:
        hours = int(etc[2]) if etc[1] == "-" else -int(etc[2])
        return hours * 3600 * _SECOND_US
    match = _OFFSET.fullmatch(zone) or _COMPACT_OFFSET.fullmatch(zone)
    return _offset_us(match) if match else None


def _offset_us(match: re.Match[str]) -> int | None:
    hours, minutes, seconds = int(match[2]), int(match[3] or 0), int(match[4] or 0)
    total = hours * 3600 + minutes * 60 + seconds
    if max(minutes, seconds) > _LAST_MINUTE or total > _LARGEST_OFFSET_S:
        return None
    return (total if match[1] == "+" else -total) * _SECOND_US


def parse_timestamp(text: str, *, keeps_wall_clock: bool, offset_us: int | None) -> int | EvalError:
    """Return the moment that a text stands for, or why there is none.

    Args:
        text: The text; blanks around it are ignored.
        keeps_wall_clock: For TIMESTAMP_NTZ: a zone in the text is dropped, not applied.
        offset_us: The session zone's fixed offset; None if the text must bring its own.

    Returns:
        Microseconds since the epoch, or the error.
    """
    stripped = text.strip(SPARK_BLANKS)
    match = _GRAMMAR.fullmatch(stripped)
    if match is None:
        clock = not keeps_wall_clock and _TIME_ONLY.match(stripped)
        return EvalError.CLOCK_IN_TEXT if clock else EvalError.MALFORMED_TIMESTAMP
    wall_us = _wall_clock_us(match)
    if wall_us is None:
        return EvalError.MALFORMED_TIMESTAMP
    offset = _offset_of(match[9], offset_us)
    if isinstance(offset, EvalError):
        return offset if not (keeps_wall_clock and offset is EvalError.ZONE_NEEDED) else _in_range(wall_us)
    return _in_range(wall_us if keeps_wall_clock else wall_us - offset)


def _offset_of(zone: str | None, session_us: int | None) -> int | EvalError:
    name = (zone or "").strip()
    if not zone:
        return EvalError.ZONE_NEEDED if session_us is None else session_us
    offset = fixed_offset_us(name)
    if offset is not None:
        return offset
    return EvalError.REGION_IN_TEXT if _REGION.fullmatch(name) else EvalError.MALFORMED_TIMESTAMP


def _in_range(moment_us: int) -> int | EvalError:
    return moment_us if -_RANGE <= moment_us < _RANGE else EvalError.MALFORMED_TIMESTAMP


def _wall_clock_us(match: re.Match[str]) -> int | None:
    year = int(match[2]) * (-1 if match[1] == "-" else 1)
    days = _days(year, int(match[3] or 1), int(match[4] or 1))
    hour, minute, second = (int(match[group] or 0) for group in (5, 6, 7))
    if days is None or hour > _LAST_HOUR or max(minute, second) > _LAST_MINUTE:
        return None
    fraction_us = int((match[8] or "")[:6].ljust(6, "0"))
    return days * _DAY_US + (hour * 3600 + minute * 60 + second) * _SECOND_US + fraction_us


def _days(year: int, month: int, day: int) -> int | None:
    """Return the days since the epoch in the proleptic Gregorian calendar; None for no such day."""
    cycles, year_of_cycle = divmod(year, 400)
    try:
        ordinal = date(year_of_cycle + 400, month, day).toordinal()
    except ValueError:
        return None
    return ordinal - date(1970, 1, 1).toordinal() + (cycles - 1) * _DAYS_PER_400_YEARS
