"""The grammar of Spark's timestamp texts, `[+-]y{4,6}[-M[M][-d[d][( |T)[h]h[:[m]m[:[s]s[.f*][zone]]]]]]`.

CAST and the JSON reader have it in common. Missing parts are filled up, blanks and control characters at both ends are
ignored, digits after the sixth of a second are cut off. What a zone, or its absence, means is the caller's.
"""

from __future__ import annotations

import re
from typing import Final

SPARK_BLANKS: Final = "".join(map(chr, range(33))) + "\x7f"
"""The characters that Spark trims around a text."""
MICROS_PER_DAY: Final = 86_400_000_000

_GRAMMAR: Final = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*)?)?)?)?)?)?",
    re.DOTALL,
)
_TIME_ONLY: Final = re.compile(r"T[0-9]{1,2}(?:$|:)|[0-9]{1,2}:")
_DAYS_IN_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY: Final = 2


class UnreadableText(ValueError):
    """The text is no date or time of the type; the message is the reason, if known."""


class TimeWithoutDate(UnreadableText):
    """The text is a time of day, which means today to Spark: reading it again tomorrow would give another row."""


def wall_clock(text: str) -> tuple[int, str | None]:
    """Return the local time that a text names, and its zone as it is written; None = it names no zone.

    The time is in microseconds since 1970-01-01 00:00:00 local time, of any year.

    Raises:
        UnreadableText: the text is no timestamp.
    """
    trimmed = text.strip(SPARK_BLANKS)
    match = _GRAMMAR.fullmatch(trimmed)
    if match is None:
        if _TIME_ONLY.match(trimmed):
            raise TimeWithoutDate("a time without a date would be another day each time it is read")
        raise UnreadableText
    sign, year, month, day, hour, minute, second, fraction, zone = match.groups()
    days = day_of(sign, year, month, day)
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if days is None or hours > 23 or minutes > 59 or seconds > 59:  # noqa: PLR2004 - parts of a day
        raise UnreadableText("it is an invalid date or time")
    micros = int((fraction or "")[:6].ljust(6, "0"))
    return days * MICROS_PER_DAY + (hours * 3600 + minutes * 60 + seconds) * 1_000_000 + micros, zone


def day_of(sign: str, year_text: str, month_text: str | None, day_text: str | None) -> int | None:
    """Return the days from 1970-01-01 to a date in digits; None for no such day."""
    year = int(sign + year_text)
    month, day = int(month_text or 1), int(day_text or 1)
    if not 1 <= month <= len(_DAYS_IN_MONTH) or not 1 <= day <= _DAYS_IN_MONTH[month - 1]:
        return None
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == _FEBRUARY and day == _DAYS_IN_MONTH[1] and not is_leap:
        return None
    return days_from_civil(year, month, day)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the proleptic Gregorian calendar; any year, year 0 is 1 BC.

    Example:
        >>> days_from_civil(1970, 1, 1), days_from_civil(2000, 3, 1), days_from_civil(-1, 12, 31)
        (0, 11017, -719529)
    """
    # Counted in years that begin in March, the leap day is the last day of a year.
    years = year - (month <= _FEBRUARY)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return years * 365 + years // 4 - years // 100 + years // 400 + day_of_year - 719_468
