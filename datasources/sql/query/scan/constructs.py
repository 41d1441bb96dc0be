"""The function calls that are ours; the columns of their block must be known."""

from __future__ import annotations

from typing import Final

from datasources.sql.query.scan.window_scanner import WINDOW_FUNCTIONS
from datasources.sql.text.calls import Call, split_unit
from datasources.sql.text.word_cursor import Words

GROUP_WINDOWS: Final = ("TUMBLE", "HOP", "SESSION")
"""The windows that are allowed in GROUP BY."""
WINDOW_AUXILIARIES: Final = {
    f"{window}_{part}": (window, column)
    for window in GROUP_WINDOWS
    for part, column in (
        ("START", "window_start"),
        ("END", "window_end"),
        ("ROWTIME", "window_time"),
        ("PROCTIME", "window_time"),
    )
}
"""Functions of a group window -> the window and the column that they are."""


def is_construct(words: Words, call: Call) -> bool:
    """Whether a call is a group window, one of its functions, CURRENT_WATERMARK, or CEIL / FLOOR of a time."""
    if call.name in WINDOW_FUNCTIONS or call.name in WINDOW_AUXILIARIES or call.name == "CURRENT_WATERMARK":
        return True
    return call.name in {"CEIL", "CEILING", "FLOOR"} and split_unit(words, call) is not None
