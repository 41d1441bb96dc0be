"""Spark's types under SQL's names, for what users read."""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = {
    "TIMESTAMP": "TIMESTAMP_LTZ(6)",
    "TIMESTAMP_NTZ": "TIMESTAMP(6)",
    "STRUCT": "ROW",
    "BINARY": "BYTES",
}
# In a struct a field's name, which may look like a type, is followed by a colon.
_WORD: Final = re.compile(r"(`(?:[^`]|``)*`|\w+)(\s*:\s*)?")


def sql_name_of(spark_type: str) -> str:
    """Return a type of Spark's as SQL names it: TIMESTAMP_NTZ is TIMESTAMP(6), TIMESTAMP is TIMESTAMP_LTZ(6)."""
    return _WORD.sub(_renamed, spark_type)


def _renamed(match: re.Match[str]) -> str:
    word, colon = match[1], match[2]
    if colon is not None:
        return f"{word} "
    return word if word.startswith("`") else _NAMES.get(word.upper(), word.upper())
