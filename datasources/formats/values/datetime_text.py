"""Text to TIMESTAMP, TIMESTAMP_NTZ and DATE, exactly as Spark's JSON reader does it without a pattern option.

Timestamps are those of `datasources.grammar.timestamp_text`; dates may have seven digits of year and anything after
their ` ` or `T`. A text that cannot be read is tried again without any "GMT" in it, and a DATE as a number of days
since 1970, which Spark keeps for files that its first versions wrote.

A time of day without a date means today to Spark. Reading a record again tomorrow must give the same row, so such text
is refused here.

Units: microseconds since 1970-01-01 00:00:00 (UTC for TIMESTAMP, local for TIMESTAMP_NTZ); days since 1970-01-01.
"""

from __future__ import annotations

import re
import unicodedata

from datasources.grammar.timestamp_text import SPARK_BLANKS, UnreadableText, day_of, days_from_civil, wall_clock
from datasources.grammar.zones import JAVA_BLANKS, MICROS_PER_SECOND, Zone, find_zone


class ZoneMissing(UnreadableText):
    """The text names no zone and none was given to read it in."""


_DATE = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?\Z", re.DOTALL)
_DAY_COUNT = re.compile(r"([+-]?)(\d+)\Z")

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_INT32_DIGITS = 10
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
    local_us, zone_text = wall_clock(text)
    if zone_text is not None:
        raise UnreadableText("a TIMESTAMP_NTZ has no zone")
    return _checked(local_us)


def read_date(text: str) -> int:
    """Return the days from 1970-01-01 to the date that a text names.

    Raises:
        UnreadableText: the text is no date.
    """
    for candidate in (text, text.replace("GMT", "")):
        match = _DATE.match(candidate.strip(SPARK_BLANKS))
        days = None if match is None else day_of(*match.groups())
        if days is not None and _INT32_MIN <= days <= _INT32_MAX:
            return days
    return _day_count(text)


def _instant(text: str, zone: Zone | None) -> int:
    local_us, zone_text = wall_clock(text)
    if zone_text is not None:
        zone = find_zone(zone_text.strip(JAVA_BLANKS))
        if zone is None:
            raise UnreadableText("the zone in it is unknown")
    elif zone is None:
        raise ZoneMissing
    return _checked(local_us - zone.offset_s(local_us) * MICROS_PER_SECOND)


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
