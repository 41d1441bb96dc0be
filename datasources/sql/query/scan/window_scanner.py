"""Parses window table functions: `TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from datasources.sql.text.query_tree import FromItem, Query, Region, SourceKind, Tvf
from datasources.sql.text.word_cursor import Words

WINDOW_FUNCTIONS: Final = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
"""The window table functions."""
SNAPSHOT: Final = "SNAPSHOT"
"""`LATERAL SNAPSHOT(input => TABLE t, ...)`: a table as it is when a row comes."""

TO_CHANGELOG: Final = "TO_CHANGELOG"
"""`TO_CHANGELOG(input => TABLE t)`: the changes of a table as rows."""
FROM_CHANGELOG: Final = "FROM_CHANGELOG"
"""`FROM_CHANGELOG(input => TABLE t)`: the table whose changes are rows of another one."""
TABLE_FUNCTIONS: Final = (*WINDOW_FUNCTIONS, TO_CHANGELOG, FROM_CHANGELOG)
"""Functions of a table that stand in a FROM without LATERAL."""
_SHAPES: Final = dict.fromkeys((SNAPSHOT, TO_CHANGELOG, FROM_CHANGELOG), "input => TABLE rates")


class QueryScanner(Protocol):
    """What reads the queries inside a FROM."""

    def query(self, region: Region) -> Query:
        """Read a query."""
        ...

    def is_query(self, region: Region) -> bool:
        """Whether the content of brackets is a query."""
        ...


class WindowScanner:
    """Reads one call; `read_item` reads a FROM item, from a token to an end."""

    def __init__(
        self, words: Words, queries: QueryScanner, read_item: Callable[[int, int], tuple[FromItem, int]]
    ) -> None:
        self._words = words
        self._queries = queries
        self._read_item = read_item

    def read(self, at: int) -> Tvf:
        """Read the call that starts here.

        Raises:
            SqlError: its input is missing.
        """
        words = self._words
        data: FromItem | None = None
        partition: list[Region] = []
        arguments: list[tuple[str, Region]] = []
        data_name = "INPUT" if words.word(at) in _SHAPES else "DATA"
        for part in words.split(words.inside(at + 1)):
            name, value = self._argument(part)
            if data is None and name in {"", data_name} and value:
                data, partition = self._data(value)
            elif not name and not arguments and partition and self._is_column(value):
                partition.append(value)
            else:
                arguments.append((name, value))
        if data is None:
            shape = _SHAPES.get(words.word(at), "TABLE orders, DESCRIPTOR(ts), ...")
            raise words.source.error(
                words[at].span,
                f"{words.word(at)} does not name what it {'reads' if words.word(at) in _SHAPES else 'windows'}",
                f"Write {words.word(at)}({shape}).",
            )
        return Tvf(
            name=words.word(at),
            name_span=words[at].span,
            data=data,
            partition=tuple(partition),
            arguments=tuple(each for each in arguments if each[1]),
        )

    def _argument(self, part: Region) -> tuple[str, Region]:
        words = self._words
        if words.is_name(part.first) and words.symbol(part.first + 1) == "=>":
            return words[part.first].value.upper(), Region(part.first + 2, part.last)
        return "", part

    def _is_column(self, region: Region) -> bool:
        return bool(region) and all(self._words.is_name(at) or self._words.symbol(at) == "." for at in region)

    def _data(self, region: Region) -> tuple[FromItem, list[Region]]:
        """`TABLE t [PARTITION BY a, (b, c)]`, `TABLE (query)` or `(query)`."""
        words = self._words
        by = next((at for at in words.top_level(region) if words.matches(at, "PARTITION", "BY")), region.last)
        first = region.first + (words.word(region.first) == "TABLE")
        if first >= by:
            raise words.source.error(words.span(region), "a table is missing here", "Write TABLE orders.")
        if self._queries.is_query(Region(first, by)) and words.symbol(first) != "(":
            source = words.span(Region(first, by))
            query = self._queries.query(Region(first, by))
            item = FromItem(kind=SourceKind.QUERY, span=source, source=source, query=query)
        else:
            item, end = self._read_item(first, by)
            if end < by:
                raise words.source.error(words[end].span, "this is not expected here", "Write TABLE orders.")
        keys = Region(min(by + 2, region.last), region.last)
        if keys and words.symbol(keys.first) == "(":
            keys = words.inside(keys.first)
        return item, list(words.split(keys))
