"""Text to TIMESTAMP, TIMESTAMP_NTZ and DATE, exactly as Spark's JSON reader does it without a pattern option.

Accepted are `[+-]y{4,6}[-M[M][-d[d][( |T)[h]h[:[m]m[:[s]s[.f*][zone]]]]]]` with missing parts filled up, blanks and
control characters at both ends ignored, digits after the sixth of a second cut off; dates may have seven digits of year
and anything after their ` ` or `T`. A text that cannot be read is tried again without any "GMT" in it, and a DATE as a
number of days since 1970, which Spark keeps for files that its first versions wrote.

A time of day without a date means today to Spark. Reading a record again tomorrow must give the same row, so such text
is refused here.

Units: microseconds since 1970-01-01 00:00:00 (UTC for TIMESTAMP, local for TIMESTAMP_NTZ); days since 1970-01-01.
"""

from __future__ import annotations

import re
import unicodedata

from datasources.formats.values.zones import MICROS_PER_SECOND, Zone, find_zone

__all__ = ["UnreadableText", "ZoneMissing", "days_from_civil", "read_date", "read_local", "read_timestamp"]


class UnreadableText(ValueError):
    """The text is no date or time of the type; the message is the reason, if known."""


class ZoneMissing(UnreadableText):
    """The text names no zone and none was given to read it in."""


_TRIMMED = "".join(map(chr, (*range(0x21), 0x7F)))
_TIMESTAMP = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*)?)?)?)?)?)?\Z",
    re.DOTALL,
)
_DATE = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?\Z", re.DOTALL)
_DAY_COUNT = re.compile(r"([+-]?)(\d+)\Z")
_TIME_ONLY = re.compile(r"T?[0-9]{1,2}:")

_MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_INT32_DIGITS = 10
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY = 2
_GREGORIAN_START_DAYS = -141_427
"""1582-10-15: earlier counts of days belong to the Julian calendar, in which Spark's first versions wrote them."""
_LAST_BMP_CHARACTER = "\uffff"
_OUT_OF_RANGE = "it is beyond the range of the type"


def read_timestamp(text: str, zone: Zone | None) -> int:
    """Return the instant that a text names.

    Args:
        text: the string of the JSON document.
        zone: of texts without a zone; None = such texts are rejected.

    Raises:
        ZoneMissing: the text needs a zone and there is none.
        UnreadableText: the text is no timestamp.
    """
    try:
        return _instant(text, zone)
    except ZoneMissing:
        raise
    except UnreadableText:
        if "GMT" not in text:
            raise
        return _instant(text.replace("GMT", ""), zone)


def read_local(text: str) -> int:
    """Return the local date and time that a text names.

    Raises:
        UnreadableText: the text is none, or names a zone.
    """
    local_us, zone_text = _local(text)
    if zone_text is not None:
        raise UnreadableText("a TIMESTAMP_NTZ has no zone")
    return _checked(local_us)


def read_date(text: str) -> int:
    """Return the days from 1970-01-01 to the date that a text names.

    Raises:
        UnreadableText: the text is no date.
    """
    for candidate in (text, text.replace("GMT", "")):
        match = _DATE.match(candidate.strip(_TRIMMED))
        days = None if match is None else _days(*match.groups())
        if days is not None and _INT32_MIN <= days <= _INT32_MAX:
            return days
    return _day_count(text)


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


def _instant(text: str, zone: Zone | None) -> int:
    local_us, zone_text = _local(text)
    if zone_text is not None:
        zone = find_zone(zone_text.strip(_TRIMMED))
        if zone is None:
            raise UnreadableText("the zone in it is unknown")
    elif zone is None:
        raise ZoneMissing
    return _checked(local_us - zone.offset_s(local_us) * MICROS_PER_SECOND)


def _local(text: str) -> tuple[int, str | None]:
    """Return the local time and the text of the zone, if there is one."""
    trimmed = text.strip(_TRIMMED)
    match = _TIMESTAMP.match(trimmed)
    if match is None:
        is_time = _TIME_ONLY.match(trimmed) is not None
        raise UnreadableText("a time without a date would be another day each time it is read" if is_time else "")
    sign, year, month, day, hour, minute, second, fraction, zone_text = match.groups()
    days = _days(sign, year, month, day)
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if days is None or hours > 23 or minutes > 59 or seconds > 59:  # noqa: PLR2004 - parts of a day
        raise UnreadableText("it is an invalid date or time")
    micros = int((fraction or "")[:6].ljust(6, "0"))
    return days * _MICROS_PER_DAY + (hours * 3600 + minutes * 60 + seconds) * MICROS_PER_SECOND + micros, zone_text


def _days(sign: str, year_text: str, month_text: str | None, day_text: str | None) -> int | None:
    year = int(sign + year_text)
    month, day = int(month_text or 1), int(day_text or 1)
    if not 1 <= month <= len(_DAYS_IN_MONTH) or not 1 <= day <= _DAYS_IN_MONTH[month - 1]:
        return None
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == _FEBRUARY and day == _DAYS_IN_MONTH[1] and not is_leap:
        return None
    return days_from_civil(year, month, day)


def _checked(micros: int) -> int:
    if not _INT64_MIN <= micros <= _INT64_MAX:
        raise UnreadableText(_OUT_OF_RANGE)
    return micros


def _day_count(text: str) -> int:
    match = _DAY_COUNT.match(text)
    if match is None or max(text) > _LAST_BMP_CHARACTER:
        raise UnreadableText("")
    written = _int32(*match.groups())
    days = _julian_to_gregorian(written) if written < _GREGORIAN_START_DAYS else written
    if days < _INT32_MIN:
        raise UnreadableText(_OUT_OF_RANGE)
    return days


def _int32(sign: str, digits: str) -> int:
    """Return a number of any length, in decimal digits of any script, if it fits in 32 bits."""
    # Python refuses to convert a number of some thousand digits, and leading zeros count.
    significant = next((at for at, digit in enumerate(digits) if unicodedata.decimal(digit)), len(digits) - 1)
    if len(digits) - significant > _INT32_DIGITS:
        raise UnreadableText(_OUT_OF_RANGE)
    number = int(sign + digits[significant:])
    if not _INT32_MIN <= number <= _INT32_MAX:
        raise UnreadableText(_OUT_OF_RANGE)
    return number


def _julian_to_gregorian(days: int) -> int:
    """Return the Gregorian day count of the date that a day count names in the Julian calendar."""
    # 719_470 days lie between 0000-03-01 Julian and 1970-01-01; four Julian years have 1_461 days.
    cycles, day_of_cycle = divmod(days + 719_470, 1_461)
    year_of_cycle = min(day_of_cycle // 365, 3)
    day_of_year = day_of_cycle - 365 * year_of_cycle
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9  # noqa: PLR2004 - March to December
    year = 4 * cycles + year_of_cycle + (month <= _FEBRUARY)
    return days_from_civil(year, month, 1) + day - 1
