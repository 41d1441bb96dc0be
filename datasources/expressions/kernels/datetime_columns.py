"""Texts in the usual forms of ISO 8601, read as whole columns: the fast way of `datetime_text`.

Read here: ``yyyy-mm-dd( |T)hh:mm:ss``, then nothing or a point and three or six digits, then nothing or ``Z``. Every
other text, the malformed ones included, is left to `parse_timestamp`, which gives these texts the same moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from datasources.expressions.vectors.vectors import Mask, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["parse_columns"]

Characters: TypeAlias = "NDArray[np.int64]"

_WIDTH: Final = 28
_SECONDS_END: Final = 19
_FRACTIONS: Final = {19: 0, 23: 3, 26: 6}
_DIGITS: Final = (0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18)
_MARKS: Final = ((4, "-"), (7, "-"), (13, ":"), (16, ":"))
_SECOND_US: Final = 1_000_000
_DAY_US: Final = 86_400 * _SECOND_US
_EPOCH_YEAR: Final = 1970
_LAST_HOUR: Final = 23
_LAST_MINUTE: Final = 59
_MONTHS: Final = 12


def parse_columns(texts: Values, *, keeps_wall_clock: bool, offset_us: int | None) -> tuple[Values, Mask]:
    """Return moments in microseconds, and which texts were read.

    Args:
        texts: Texts.
        keeps_wall_clock: For TIMESTAMP_NTZ: a zone in the text is dropped, not applied.
        offset_us: The session zone's fixed offset; None if the text must bring its own.
    """
    moments = np.zeros(len(texts), dtype=np.int64)
    done = np.zeros(len(texts), dtype=np.bool_)
    if len(texts) == 0:
        return moments, done
    # A longer text is cut to one character more than the longest form, so it never has a form's length.
    wide = texts.astype(f"U{_WIDTH}")
    lengths = np.char.str_len(wide)
    characters = wide.view(np.uint32).reshape(len(texts), _WIDTH)
    for length, digits in _FRACTIONS.items():
        for has_zone in (False, True):
            rows = np.flatnonzero(lengths == length + has_zone)
            if len(rows) == 0 or (not has_zone and offset_us is None and not keeps_wall_clock):
                continue
            wall_us, read = _wall_clock(characters[rows].astype(np.int64), digits, length if has_zone else None)
            shift_us = 0 if has_zone or keeps_wall_clock else offset_us or 0
            moments[rows] = np.where(read, wall_us - shift_us, 0)
            done[rows] = read
    return moments, done


def _wall_clock(chars: Characters, fraction_digits: int, zone_at: int | None) -> tuple[Any, Mask]:
    positions = [*_DIGITS, *range(_SECONDS_END + 1, _SECONDS_END + 1 + fraction_digits)]
    numbers = chars - ord("0")
    read: Mask = np.logical_and.reduce([(numbers[:, at] >= 0) & (numbers[:, at] <= 9) for at in positions])  # noqa: PLR2004 - a digit
    for at, mark in _MARKS:
        read &= chars[:, at] == ord(mark)
    read &= (chars[:, 10] == ord(" ")) | (chars[:, 10] == ord("T"))
    if fraction_digits:
        read &= chars[:, _SECONDS_END] == ord(".")
    if zone_at is not None:
        read &= chars[:, zone_at] == ord("Z")
    fields = [_number(numbers, start, end) for start, end in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19))]
    days, exists = _days(fields[0], fields[1], fields[2])
    hour, minute, second = fields[3:]
    read &= exists & (hour <= _LAST_HOUR) & (minute <= _LAST_MINUTE) & (second <= _LAST_MINUTE)
    start = _SECONDS_END + 1
    fraction_us = _number(numbers, start, start + fraction_digits) * 10 ** (6 - fraction_digits)
    return days * _DAY_US + (hour * 3600 + minute * 60 + second) * _SECOND_US + fraction_us, read


def _number(numbers: Characters, start: int, end: int) -> Characters:
    total = np.zeros(len(numbers), dtype=np.int64)
    for at in range(start, end):
        total = total * 10 + numbers[:, at]
    return total


def _days(year: Characters, month: Characters, day: Characters) -> tuple[Characters, Mask]:
    """Return days since the epoch, and which dates exist."""
    exists = (month >= 1) & (month <= _MONTHS) & (day >= 1)
    months = np.where(exists, (year - _EPOCH_YEAR) * _MONTHS + month - 1, 0)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    following = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    days = first + day - 1
    return days, exists & (days < following)
