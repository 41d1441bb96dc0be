"""Where keys lie: values that sort as the server sorts the keys, so that sides and chunks are found without asking.

Theory of operation. Numbers, bytes and times have an order that is known (see bounds_values.py). Text has the order of
its column's collation, which only the server knows: it is asked for the weights of the values, several hundred in one
query, and the bytes of the weights sort as the values do. Where a collation pads with spaces, that is true only of
weights that are padded to the column's length: bare ones put 'a' before 'a' and a tab, and apart from 'a' and a space.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from datasources.mysql.snapshot.bounds_key import KeyColumn, TableKey
from datasources.mysql.snapshot.bounds_range import Bound, KeyRange
from datasources.mysql.snapshot.bounds_values import is_ordered_here, literal, sort_key

__all__ = ["KeyPlaces", "Place"]

Place = tuple[int | Decimal | bytes | str, ...]
"""One value per column of the key; places of one key sort as the server sorts its rows."""

_VALUES_PER_QUERY: Final = 500
_LARGEST_CACHE: Final = 100_000
_LENGTH: Final = re.compile(r"\((\d+)\)")


class KeyPlaces:
    """Places of one table's keys; weights that were asked for are remembered.

    Args:
        connection: Asked for the weights of text; its session must be in UTC.
        key: The table's key.
    """

    def __init__(self, connection: Any, key: TableKey) -> None:
        self._connection = connection
        self._columns = key.columns
        self._weights: list[dict[str, bytes]] = [{} for _ in key.columns]
        self._padding: dict[str, str] = {}

    def of(self, keys: Sequence[Bound]) -> list[Place]:
        """Return the places of keys, in their order; keys need not exist in the table."""
        columns = [self.of_column(at, [key[at] for key in keys]) for at in range(len(self._columns))]
        return list(zip(*columns, strict=True))

    def within(self, keys: Sequence[Bound], wanted: KeyRange) -> list[bool]:
        """Return which keys lie in a range."""
        lower, upper = (None if bound is None else self.of([bound])[0] for bound in (wanted.lower, wanted.upper))
        return [(lower is None or at > lower) and (upper is None or at <= upper) for at in self.of(keys)]

    def chunks(self, keys: Sequence[Bound], bounds: Sequence[Bound]) -> list[int]:
        """Return for each key which chunk holds it: the index of the first bound that it is not above.

        A key above all bounds has the number of bounds.
        """
        ends = self.of(bounds)
        return [bisect_left(ends, place) for place in self.of(keys)]

    def of_column(self, at: int, texts: Sequence[str]) -> list[int | Decimal | bytes | str]:
        """Return what orders values of one column of the key, the ``at``-th, in their order."""
        column = self._columns[at]
        if is_ordered_here(column):
            return [sort_key(column, text) for text in texts]
        known = self._weights[at]
        if len(known) > _LARGEST_CACHE:
            known.clear()
        self._ask(column, known, dict.fromkeys(text for text in texts if text not in known))
        return [known[text] for text in texts]

    def _ask(self, column: KeyColumn, known: dict[str, bytes], texts: Iterable[str]) -> None:
        wanted = list(texts)
        for start in range(0, len(wanted), _VALUES_PER_QUERY):
            part = wanted[start : start + _VALUES_PER_QUERY]
            padding = self._padding_of(column)
            weights = self._row(", ".join(f"WEIGHT_STRING({literal(column, text)}{padding})" for text in part))
            known.update(zip(part, weights, strict=True))

    def _padding_of(self, column: KeyColumn) -> str:
        """Return what pads weights as the column's collation pads values."""
        if column.name not in self._padding:
            space, nothing = (
                f"CONVERT('{each}' USING {column.charset}) COLLATE {column.collation}" for each in (" ", "")
            )
            length = _LENGTH.search(column.column_type)
            assert length is not None, "a whole text column of a key has a length"
            is_padded = self._row(f"{space} = {nothing}")[0]
            self._padding[column.name] = f" AS CHAR({length[1]})" if is_padded else ""
        return self._padding[column.name]

    def _row(self, expressions: str) -> tuple[Any, ...]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT {expressions}")
            row: tuple[Any, ...] = cursor.fetchone()
        return row
