"""Texts of a key column compared with bounds, by the server itself.

Theory of operation. Only the server knows the order of a collation. Weights (WEIGHT_STRING) do not give it: where a
collation pads with spaces, weights must be padded too, and where a character has several weights ('ß' like 'ss'), the
padded ones have different lengths. So the server compares, with the function by which it walks the index: several
hundred texts with all bounds in one query. Results are cached, one sign per bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from datasources.errors import SourceUnavailable
from datasources.mysql.tables.chunk_key import KeyColumn
from datasources.mysql.tables.key_values import literal

_TEXTS_PER_QUERY: Final = 250
_BYTES_PER_QUERY: Final = 500_000
_MAX_BOUNDS: Final = 64
_MAX_TEXTS: Final = 100_000
_EQUAL: Final = "1"


class TextComparison:
    """Compares texts of one column.

    The character set of the connection does not matter.
    """

    def __init__(self, connection: Any, column: KeyColumn) -> None:
        self._connection, self._column = connection, column
        self._bounds: list[str] = []
        self._signs: dict[str, str] = {}

    def signs(self, texts: Sequence[str], bound: str) -> list[int]:
        """Return for each text -1, 0 or 1: whether it is less than a bound, equal or greater.

        Texts and bound are canonical (key_values.py).

        Raises:
            OffsetError: The bound is no canonical text.
            SourceUnavailable: The server could not compare a text.
        """
        if len(self._signs) > _MAX_TEXTS:
            self._signs = {}
        at = self._index_of(bound)
        self._query_signs([text for text in dict.fromkeys(texts) if len(self._signs.get(text, "")) <= at])
        return [int(self._signs[text][at]) - int(_EQUAL) for text in texts]

    def _index_of(self, bound: str) -> int:
        if bound not in self._bounds:
            if len(self._bounds) == _MAX_BOUNDS:
                self._bounds, self._signs = [], {}
            self._bounds.append(bound)
        return self._bounds.index(bound)

    def _query_signs(self, texts: list[str]) -> None:
        """Compare texts with the bounds that they have not been compared with."""
        counts = {text: len(self._signs.get(text, "")) for text in texts}
        for count, group in groupby(sorted(texts, key=counts.__getitem__), counts.__getitem__):
            for batch in _batched(list(group)):
                for text, signs in zip(batch, self._compare(batch, self._bounds[count:]), strict=True):
                    self._signs[text] = self._signs.get(text, "") + signs

    def _compare(self, texts: Sequence[str], bounds: Sequence[str]) -> list[str]:
        """Return per text its signs, one more than `signs` has: 0 for less, 1 for equal, 2 for greater."""
        signs = ", ".join(f"1 + STRCMP(k, {literal(self._column, bound)})" for bound in bounds)
        rows = " UNION ALL ".join(
            f"SELECT {at} AS i, {literal(self._column, text)} AS k" for at, text in enumerate(texts)
        )
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT i, CONCAT({signs}) FROM ({rows}) t")  # noqa: S608 - literals
            found = {int(at): None if its is None else str(its) for at, its in cursor.fetchall()}
        signs_of = [found.get(at) for at in range(len(texts))]
        if any(its is None or len(its) != len(bounds) for its in signs_of):
            raise SourceUnavailable(
                f"the server could not compare values of key column '{self._column}': leave the table out, or give it "
                f"a primary key of numbers."
            )
        return [its for its in signs_of if its is not None]


def _batched(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _TEXTS_PER_QUERY or size + len(text) > _BYTES_PER_QUERY):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    yield batch
