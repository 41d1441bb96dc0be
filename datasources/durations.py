"""Durations as people write them in options: ``5 s``, ``200ms``, ``1 min``, ``PT1M30S``.

Rules of this file: a duration is a non-negative whole number of milliseconds; nothing is guessed. A bare number
is milliseconds, as in Flink's options. Source: Flink TimeUtils; ISO 8601 durations up to days.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Final

from datasources.errors import OptionError

_logger = logging.getLogger(__name__)

UNITS_US: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""SQL's units of fixed length, in microseconds."""

_UNITS_MS: dict[str, int] = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_SIMPLE = re.compile(r"([0-9]{1,16})\s*([a-z]*)")
_NUMBER = r"([0-9]{1,16})"
_ISO = re.compile(
    rf"P(?:{_NUMBER}D)?(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}(?:\.([0-9]{{1,3}}))?S)?)?", re.IGNORECASE
)
_SECOND_MS = 1_000
_LONGEST_MS = 2**53  # exact in every JSON reader; 285,000 years


def parse_duration_ms(text: str, *, key: str) -> int:
    """Return the duration that `text` names.

    Units: milliseconds. A number without a unit that is less than a second is logged as a warning.
    Raises: OptionError naming `key`, the value, and examples of accepted values.
    """
    value = _parse(text.strip())
    warn_of_missing_unit(text, key=key)
    if value is None or value > _LONGEST_MS:
        raise OptionError(
            f"option '{key}' = '{text}' is not a duration. Write for example '200 ms', '5 s', '1 min', '2 h', "
            f"'1 d' or 'PT1M30S'."
        )
    return value


@cache
def warn_of_missing_unit(text: str, *, key: str) -> None:
    """Log once if a duration is a small bare number: 30 may have been meant as seconds."""
    digits = text.strip()
    if key and digits.isascii() and digits.isdigit() and 0 < int(digits[:16]) < _SECOND_MS:
        _logger.warning(
            "option '%s' = '%s' has no unit and is read as %s milliseconds. Write '%s ms', or '%s s' for seconds.",
            *(key, text, digits, digits, digits),
        )


def format_duration_ms(value_ms: int) -> str:
    """Return the shortest text that `parse_duration_ms` reads back as `value_ms`."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if value_ms and value_ms % size == 0:
            return f"{value_ms // size} {unit}"
    return f"{value_ms} ms"


def _parse(text: str) -> int | None:
    simple = _SIMPLE.fullmatch(text.lower())
    if simple:
        unit = _UNITS_MS.get(simple[2] or "ms")
        return None if unit is None else int(simple[1]) * unit
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groups()):
        days, hours, minutes, seconds = (int(part or 0) for part in iso.groups()[:4])
        millis = int((iso[5] or "0").ljust(3, "0"))
        return days * 86_400_000 + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + millis
    return None


def spark_duration(us: int) -> str:
    """Return a length as Spark's window() takes it: `10 seconds`."""
    for unit in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND"):
        if us % UNITS_US[unit] == 0 and us:
            return f"{us // UNITS_US[unit]} {unit.lower()}{'' if us == UNITS_US[unit] else 's'}"
    return f"{us} microseconds"


def interval_literal(us: int) -> str:
    """Return a length as a literal of Spark SQL: `INTERVAL '10' SECOND`."""
    for unit in ("DAY", "HOUR", "MINUTE", "SECOND"):
        if us % UNITS_US[unit] == 0:
            return f"INTERVAL '{us // UNITS_US[unit]}' {unit}"
    sign, size = ("-", -us) if us < 0 else ("", us)
    text = f"{size // 1_000_000}.{size % 1_000_000:06d}".rstrip("0")
    return f"INTERVAL '{sign}{text}' SECOND"
