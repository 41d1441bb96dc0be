"""How the corpus is written: a text of an expression a line, and templates that are filled from lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

INTEGERS: Final = ("ti", "si", "i", "l")
NUMBERS: Final = (*INTEGERS, "f", "d", "dec1", "dec2", "big")
TEXTS: Final = ("s", "c", "vc")
TEMPORALS: Final = ("dt", "tm", "ts", "ts6", "ltz")
OTHERS: Final = ("b", "bin", "ai", "as_", "m", "r")
INTERVALS: Final = ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '3 04:05:06.789' DAY TO SECOND")
PARTNERS: Final = {"i": "i2", "l": "l2", "d": "d2", "b": "b2", "s": "s2", "dt": "dt2", "ts": "ts2", "ltz": "ltz2"}
"""The second column of a type that has one."""


def lines(text: str) -> tuple[str, ...]:
    """Return the expressions of a text: its lines, without empty ones and comments (`#`)."""
    stripped = (line.strip() for line in text.splitlines())
    return tuple(line for line in stripped if line and not line.startswith("#"))


def each(text: str, **choices: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text with every combination of the choices in place of their names in braces.

    A line is filled with the choices that it names only.

    Args:
        text: Lines of templates.
        choices: What stands for a name.
    """
    for line in lines(text):
        names = [name for name in choices if f"{{{name}}}" in line]
        for chosen in product(*(choices[name] for name in names)):
            filled = line
            for name, choice in zip(names, chosen, strict=True):
                filled = filled.replace(f"{{{name}}}", choice)
            yield filled


def pairs(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every pair; a column beside itself becomes its partner."""
    for one, other in product(left, right):
        yield one, PARTNERS.get(other, other) if one == other else other
