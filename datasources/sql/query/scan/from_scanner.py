"""Finds the sources of a FROM: tables, queries, window functions, their aliases, hints and joins."""

from __future__ import annotations

from typing import Any, Final

from datasources.sql.query.scan.from_suffix import JOIN_WORDS, MORE_WORDS, NO_ALIAS, read_suffix
from datasources.sql.query.scan.window_scanner import (
    FROM_CHANGELOG,
    SNAPSHOT,
    TABLE_FUNCTIONS,
    TO_CHANGELOG,
    QueryScanner,
    WindowScanner,
)
from datasources.sql.text.query_tree import FromItem, Join, Region, SourceKind
from datasources.sql.text.word_cursor import Words

_KINDS: Final = {TO_CHANGELOG: SourceKind.CHANGELOG, FROM_CHANGELOG: SourceKind.EVENTS}


class FromScanner:
    """Reads the region of one FROM."""

    def __init__(self, words: Words, queries: QueryScanner) -> None:
        self._words = words
        self._queries = queries
        self._inner_joins: list[Join] = []

    def read(self, region: Region) -> tuple[tuple[FromItem, ...], tuple[Join, ...], bool]:
        """Return the items, the joins between them, and whether there are parts that are only passed on."""
        items: list[FromItem] = []
        joins: list[Join] = []
        has_more = False
        at = region.first
        while at < region.last:
            word = self._words.word(at)
            if self._words.symbol(at) == ",":
                at += 1
            elif word in MORE_WORDS or self._words.matches(at, "LATERAL", "VIEW"):
                has_more, at = True, region.last
            elif items and word in JOIN_WORDS and not self._is_lateral_item(at):
                join, at = self._join(at, region.last, items)
                joins.append(join)
            else:
                item, at = self._item(at, region.last)
                items.append(item)
        return tuple(items), (*joins, *self._inner_joins), has_more

    def _is_lateral_item(self, at: int) -> bool:
        return self._words.word(at) == "LATERAL" and self._words.symbol(at - 1) == ","

    def _join(self, at: int, last: int, items: list[FromItem]) -> tuple[Join, int]:
        words = self._words
        begin = at
        while at < last and words.word(at) in JOIN_WORDS - {"LATERAL"}:
            at += 1
        join_words = tuple(words.word(each) for each in range(begin, at))
        item: FromItem | None = None
        if at < last:
            item, at = self._item(at, last)
            items.append(item)
        condition = Region(at, at)
        if words.word(at) in {"ON", "USING"} and at < last:
            end = at + 1
            while end < last and not self._ends_condition(end):
                end = words.after(end)
            condition, at = Region(at + 1, end), end
        span = words.span(Region(begin, max(at, begin + 1)))
        return Join(words=join_words, item=item, condition=condition, span=span), at

    def _ends_condition(self, at: int) -> bool:
        words = self._words
        if words.symbol(at) == "," or words.word(at) in MORE_WORDS:
            return True
        return words.word(at) in JOIN_WORDS and words.symbol(at + 1) != "("

    def _item(self, at: int, last: int) -> tuple[FromItem, int]:
        words = self._words
        begin = at
        if words.word(at) == "LATERAL" and at + 1 < last:
            at += 1
        if words.word(at) == "STREAM" and words.is_name(at + 1) and words.word(at + 1) not in NO_ALIAS | {"AS"}:
            at += 1
        if words.symbol(at) == "(":
            return self._in_brackets(begin, at, last)
        if words.word(at) == "TABLE" and words.symbol(at + 1) == "(":
            return self._table_function(begin, at, last)
        if words.is_name(at):
            return self._named(begin, at, last)
        end = at + 1
        while end < last and words.symbol(end) != ",":
            end = words.after(end)
        region = Region(at, end)
        return self._item_of(begin, region, kind=SourceKind.FUNCTION, region=region), end

    def _in_brackets(self, begin: int, at: int, last: int) -> tuple[FromItem, int]:
        words = self._words
        inside, whole = words.inside(at), Region(at, words.after(at))
        if self._queries.is_query(inside):
            item = self._item_of(begin, whole, kind=SourceKind.QUERY, query=self._queries.query(inside))
        elif words.word(inside.first) in {"VALUES", "FROM", "TABLE"} and not self._is_table_function(inside.first + 2):
            item = self._item_of(begin, whole, kind=SourceKind.FUNCTION, region=inside)
        else:
            items, joins, _more = FromScanner(words, self._queries).read(inside)
            self._inner_joins += joins
            item = self._item_of(begin, whole, kind=SourceKind.GROUP, items=items, region=inside)
        return read_suffix(words, whole.last, last, item)

    def _is_table_function(self, at: int) -> bool:
        return self._words.word(at) in TABLE_FUNCTIONS and self._words.symbol(at + 1) == "("

    def _is_snapshot(self, at: int) -> bool:
        return self._words.word(at) == SNAPSHOT and self._words.symbol(at + 1) == "("

    def _table_function(self, begin: int, at: int, last: int) -> tuple[FromItem, int]:
        words = self._words
        inside, whole = words.inside(at + 1), Region(at, words.after(at + 1))
        if self._is_table_function(inside.first) or (
            words.word(begin) == "LATERAL" and self._is_snapshot(inside.first)
        ):
            item = self._window(begin, inside.first, whole)
        else:
            item = self._item_of(begin, whole, kind=SourceKind.FUNCTION, region=inside)
        return read_suffix(words, whole.last, last, item)

    def _named(self, begin: int, at: int, last: int) -> tuple[FromItem, int]:
        words = self._words
        if self._is_table_function(at) or (words.word(begin) == "LATERAL" and self._is_snapshot(at)):
            whole = Region(at, words.after(at + 1))
            return read_suffix(words, whole.last, last, self._window(begin, at, whole))
        end = at + 1
        while words.symbol(end) == "." and words.is_name(end + 1) and end + 1 < last:
            end += 2
        if words.symbol(end) == "(":
            whole = Region(at, words.after(end))
            item = self._item_of(begin, whole, kind=SourceKind.FUNCTION, region=whole)
            return read_suffix(words, whole.last, last, item)
        name = ".".join(words[each].value for each in range(at, end, 2))
        item = self._item_of(begin, Region(at, end), kind=SourceKind.TABLE, name=name, alias=words[end - 1].value)
        return read_suffix(words, end, last, item)

    def _window(self, begin: int, at: int, whole: Region) -> FromItem:
        tvf = WindowScanner(self._words, self._queries, self._item).read(at)
        if tvf.name == SNAPSHOT:
            return self._item_of(begin, whole, kind=SourceKind.SNAPSHOT, tvf=tvf, alias=tvf.data.alias)
        return self._item_of(begin, whole, kind=_KINDS.get(tvf.name, SourceKind.TVF), tvf=tvf)

    def _item_of(self, begin: int, source: Region, *, kind: SourceKind, **parts: Any) -> FromItem:
        words = self._words
        return FromItem(
            kind=kind,
            span=words.span(Region(begin, source.last)),
            source=words.span(source),
            is_lateral=words.word(begin) == "LATERAL",
            **parts,
        )
