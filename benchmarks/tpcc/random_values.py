"""Random values as the specification has them (clauses 2.1.6 and 4.3.2), determined by a seed."""

from __future__ import annotations

import random
import string
from decimal import Decimal
from typing import Final

from benchmarks.tpcc.schema import Scale

__all__ = ["RandomValues", "last_name"]

_SYLLABLES: Final = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
_NAMES: Final = 1_000
_LETTERS: Final = string.ascii_letters + string.digits
_NAME_C: Final = {True: 157, False: 223}
"""The constant C of a last name, while tables are filled and later; clause 2.1.6.1 bounds their distance."""
_CUSTOMER_C: Final = 259
_ITEM_C: Final = 7_911


def last_name(number: int) -> str:
    """Return the last name of a number from 0 to 999."""
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:03}")


class RandomValues:
    """Values in one sequence.

    Args:
        seed: determines all of them.
        scale: how many customers and items there are.
        is_loading: whether tables are being filled.
    """

    def __init__(self, seed: str, scale: Scale, *, is_loading: bool = False) -> None:
        self.random = random.Random(seed)
        self._scale = scale
        self._name_c = _NAME_C[is_loading]

    def number(self, first: int, last: int) -> int:
        """Return a number; both ends belong to the range."""
        return self.random.randint(first, last)

    def decimal(self, first: int, last: int, scale: int) -> Decimal:
        """Return a number of so many digits behind the point; the ends are without the point."""
        return Decimal(self.number(first, last)).scaleb(-scale)

    def happens(self, percent: int) -> bool:
        """Return whether something happens that happens in so many of 100 cases."""
        return self.number(1, 100) <= percent

    def text(self, shortest: int, longest: int | None = None) -> str:
        """Return letters and digits."""
        return "".join(self.random.choices(_LETTERS, k=self.number(shortest, longest or shortest)))

    def digits(self, count: int) -> str:
        """Return digits."""
        return "".join(self.random.choices(string.digits, k=count))

    def address(self) -> tuple[str, ...]:
        """Return two streets, a city, a state and a zip code."""
        streets_and_city = (self.text(10, 20), self.text(10, 20), self.text(10, 20))
        return (*streets_and_city, self.text(2).upper(), f"{self.digits(4)}11111")

    def data(self) -> str:
        """Return data of an item or a stock: one of ten has the word ORIGINAL in it."""
        text = self.text(26, 50)
        if not self.happens(10):
            return text
        at = self.number(0, len(text) - 8)
        return f"{text[:at]}ORIGINAL{text[at + 8 :]}"

    def customer(self) -> int:
        """Return the number of a customer, some more often than others."""
        return self._uneven(1_023, 1, self._scale.customers, _CUSTOMER_C)

    def item(self) -> int:
        """Return the number of an item, some more often than others."""
        return self._uneven(8_191, 1, self._scale.items, _ITEM_C)

    def name(self) -> str:
        """Return the last name of a customer, some more often than others."""
        return last_name(self._uneven(255, 0, min(_NAMES, self._scale.customers) - 1, self._name_c))

    def _uneven(self, a: int, first: int, last: int, c: int) -> int:
        """Return NURand(A, x, y)."""
        return ((self.number(0, a) | self.number(first, last)) + c) % (last - first + 1) + first
