"""Time zones by the names that Spark understands, and the instants of their local times.

Source: `java.time.ZoneId.of` with its short ids, and Spark's older forms `+h:mm` and `+hh:m`. The rules of the regions
come from the machine's tz database, as Java's come from the JVM's.
"""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

MICROS_PER_SECOND = 1_000_000
JAVA_BLANKS = "".join(map(chr, range(0x21)))
"""The characters that Spark trims around the name of a zone in a text."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_MAX_OFFSET_S = 18 * 3600
_MAX_NAME_LENGTH = 100
"""Characters; the longest name of the tz database has 32."""
_CYCLE_US = 146_097 * 86_400 * MICROS_PER_SECOND
"""400 years of the Gregorian calendar: rules that repeat every year repeat after a cycle with the same weekdays."""
_LOCAL_MIN_US = -62_135_596_800 * MICROS_PER_SECOND
_LOCAL_MAX_US = 253_402_300_799 * MICROS_PER_SECOND

_SHORT_IDS = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
_NEVER_CHANGED = ("Etc/", "UCT", "Zulu")
_NOT_IN_JAVA = frozenset({"Factory", "ROC", "localtime"})
_SINGLE_HOUR = re.compile(r"([+-])([0-9]):")
_SINGLE_MINUTE = re.compile(r"([+-])([0-9]{2}):([0-9])\Z")
_PREFIXED = re.compile(r"(?:UTC|GMT|UT)([+-].*)?\Z", re.DOTALL)
_OFFSET = re.compile(r"([+-])([0-9]|[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)\Z")
_MIXED_COLONS = re.compile(r"[+-](?:[0-9]{2}:[0-9]{4}|[0-9]{4}:[0-9]{2})\Z")


@dataclass(frozen=True, slots=True)
class FixedOffset:
    """A zone whose clocks always differ from UTC by the same number of seconds."""

    seconds: int

    def offset_s(self, local_us: int) -> int:
        """Return the offset from UTC at a local time, in seconds."""
        del local_us
        return self.seconds


@dataclass(frozen=True, slots=True)
class Region:
    """A zone of the tz database."""

    info: zoneinfo.ZoneInfo

    def offset_s(self, local_us: int) -> int:
        """Return the offset from UTC at a local time, in seconds.

        A local time that occurs twice is the earlier instant; one that the clocks skip is read with the offset
        before the skip. Both are Java's rules (`LocalDateTime.atZone`), and those of Python's fold 0.

        Args:
            local_us: the local time, in microseconds since 1970-01-01 00:00:00 local time, of any year.
        """
        while local_us > _LOCAL_MAX_US:
            local_us -= _CYCLE_US
        local = _EPOCH + timedelta(microseconds=max(local_us, _LOCAL_MIN_US))
        offset = self.info.utcoffset(local)
        assert offset is not None
        return int(offset.total_seconds())


Zone = FixedOffset | Region


def find_zone(name: str) -> Zone | None:
    """Return the zone of that name, or None when there is none.

    Args:
        name: a region as in Europe/Berlin, an offset as in +02:00, UTC, GMT+2, Z, or a short id such as PST. Upper
            and lower case matter, as in Spark.
    """
    # Records contain zone names: a text of any length must not be cached.
    return _zone(name) if len(name) <= _MAX_NAME_LENGTH else None


def fixed_offset_us(name: str) -> int | None:
    """Return the offset from UTC, in µs, of a zone that never changes it; None for any other name.

    EST, MST and HST have none: newer versions of Java read them as regions.
    """
    zone = None if name in _SHORT_IDS else find_zone(name)
    if isinstance(zone, Region) and not name.startswith(_NEVER_CHANGED):
        return None
    return None if zone is None else zone.offset_s(0) * MICROS_PER_SECOND


@lru_cache(maxsize=1024)
def _zone(name: str) -> Zone | None:
    spelled = _SINGLE_MINUTE.sub(r"\g<1>\g<2>:0\g<3>", _SINGLE_HOUR.sub(r"\g<1>0\g<2>:", name, count=1))
    spelled = _SHORT_IDS.get(spelled, spelled)
    if spelled == "Z":
        return FixedOffset(0)
    if spelled.startswith(("+", "-")):
        return _fixed(spelled)
    prefixed = _PREFIXED.match(spelled)
    if prefixed is not None:
        return _fixed(prefixed.group(1)) if prefixed.group(1) else FixedOffset(0)
    return _region(spelled)


def _fixed(text: str) -> FixedOffset | None:
    match = _OFFSET.match(text)
    if match is None or _MIXED_COLONS.match(text):
        return None
    digits = match.group(2).replace(":", "")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4] or 0), int(digits[4:6] or 0)
    total = hours * 3600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or total > _MAX_OFFSET_S:  # noqa: PLR2004 - sixtieths
        return None
    return FixedOffset(total if match.group(1) == "+" else -total)


def _region(name: str) -> Region | None:
    if name in _NOT_IN_JAVA or name not in _regions():
        return None
    return Region(zoneinfo.ZoneInfo(name))


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    # Checking against the list also rejects names in other case, which some file systems would find.
    return frozenset(zoneinfo.available_timezones())
