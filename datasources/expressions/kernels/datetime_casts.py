"""Text to moments, by Spark's CAST(text AS TIMESTAMP); the grammar is `datasources.grammar.timestamp_text`.

What Spark answers from its clock (a time without a date) or from a zone database (a region) is a limit of the
reader: such text is never taken for malformed, as Spark may accept it.
"""

from __future__ import annotations

import re
from typing import Final

from datasources.expressions.vectors.vectors import EvalError
from datasources.grammar.timestamp_text import TimeWithoutDate, UnreadableText, wall_clock
from datasources.grammar.zones import JAVA_BLANKS, fixed_offset_us

_REGION: Final = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]+")
_RANGE: Final = 2**63


def parse_timestamp(text: str, *, keeps_wall_clock: bool, offset_us: int | None) -> int | EvalError:
    """Return the moment that a text stands for, or why there is none.

    Args:
        text: The text; blanks around it are ignored.
        keeps_wall_clock: For TIMESTAMP_NTZ: a zone in the text is dropped, not applied.
        offset_us: The session zone's fixed offset; None if the text must bring its own.

    Returns:
        Microseconds since the epoch, or the error.
    """
    try:
        wall_us, zone = wall_clock(text)
    except TimeWithoutDate:
        return EvalError.MALFORMED_TIMESTAMP if keeps_wall_clock else EvalError.CLOCK_IN_TEXT
    except UnreadableText:
        return EvalError.MALFORMED_TIMESTAMP
    offset = _offset_of(zone, offset_us)
    if isinstance(offset, EvalError):
        return offset if not (keeps_wall_clock and offset is EvalError.ZONE_NEEDED) else _in_range(wall_us)
    return _in_range(wall_us if keeps_wall_clock else wall_us - offset)


def _offset_of(zone: str | None, session_us: int | None) -> int | EvalError:
    if zone is None:
        return EvalError.ZONE_NEEDED if session_us is None else session_us
    name = zone.strip(JAVA_BLANKS)
    offset = fixed_offset_us(name)
    if offset is not None:
        return offset
    return EvalError.REGION_IN_TEXT if _REGION.fullmatch(name) else EvalError.MALFORMED_TIMESTAMP


def _in_range(moment_us: int) -> int | EvalError:
    return moment_us if -_RANGE <= moment_us < _RANGE else EvalError.MALFORMED_TIMESTAMP
