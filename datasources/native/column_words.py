"""The columns of `columns.h`, which C fills."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

SPARE_BYTES: Final = 16
"""Behind the texts of a column."""


class ColumnWord(IntEnum):
    """The words of `column` in `columns.h`, which documents them."""

    DOMAIN = 0
    VALUES = 1
    OFFSETS = 2
    IS_VALID = 3
    ROOM = 4
    LENGTH = 5
    BEGIN = 6
    ROW = 7
    IS_FULL = 8
    FILLED = 9
