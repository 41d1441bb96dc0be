"""The text of a time rounded to a unit.

Spark's date_trunc takes a TIMESTAMP_NTZ through the session's zone, where an hour may be missing, and gives a
TIMESTAMP. So a time without a zone is rounded by its own fields.
"""

from __future__ import annotations

from typing import Final

_ONE: Final = {
    "MILLISECOND": "INTERVAL '0.001' SECOND",
    "SECOND": "INTERVAL '1' SECOND",
    "MINUTE": "INTERVAL '1' MINUTE",
    "HOUR": "INTERVAL '1' HOUR",
    "DAY": "INTERVAL '1' DAY",
    "WEEK": "INTERVAL '7' DAY",
    "MONTH": "INTERVAL '1' MONTH",
    "QUARTER": "INTERVAL '3' MONTH",
    "YEAR": "INTERVAL '1' YEAR",
}
_SECONDS: Final = "extract(SECOND FROM {0})"
_FIELDS: Final = {
    "MILLISECOND": f"make_dt_interval(0, 0, 0, {_SECONDS} % 0.001)",
    "SECOND": f"make_dt_interval(0, 0, 0, {_SECONDS} % 1)",
    "MINUTE": f"make_dt_interval(0, 0, 0, {_SECONDS})",
    "HOUR": f"make_dt_interval(0, 0, minute({{0}}), {_SECONDS})",
}
_DATES: Final = frozenset({"WEEK", "MONTH", "QUARTER", "YEAR"})


def is_unit(unit: str) -> bool:
    """Whether a time can be rounded to a unit."""
    return unit in _ONE


def one_unit(unit: str) -> str:
    """Return the length of a unit as a literal."""
    return _ONE[unit]


def floor(value: str, unit: str, type_name: str) -> str:
    """Return the beginning of the unit that a time is in."""
    if type_name != "timestamp_ntz":
        return f"date_trunc('{unit}', {value})"
    if unit in _FIELDS:
        return f"({value} - {_FIELDS[unit].format(value)})"
    day = f"trunc({value}, '{unit}')" if unit in _DATES else f"CAST({value} AS DATE)"
    return f"CAST({day} AS TIMESTAMP_NTZ)"


def ceiling(value: str, unit: str, type_name: str) -> str:
    """Return the time itself if a unit begins there, else the end of the unit that it is in."""
    down = floor(value, unit, type_name)
    return f"CASE WHEN {down} = {value} THEN {value} ELSE {down} + {one_unit(unit)} END"
