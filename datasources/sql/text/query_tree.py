"""The structure of a query: blocks, their sources, and the spans of their clauses.

Rules of this file: a region is a range of tokens, never text; the rewrites give meaning to the parts. Only what they
need is distinguished: an expression is a region with its nested queries.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from datasources.grammar.source_text import Span


@dataclass(frozen=True, slots=True)
class Region:
    """The tokens [first, last)."""

    first: int
    last: int

    def __bool__(self) -> bool:
        return self.first < self.last

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last))


class Clause(enum.Enum):
    """The clauses of a block that hold expressions, in the order of the text."""

    SELECT = "SELECT"
    FROM = "FROM"
    WHERE = "WHERE"
    GROUP_BY = "GROUP BY"
    HAVING = "HAVING"
    QUALIFY = "QUALIFY"
    WINDOW = "WINDOW"
    TAIL = "ORDER BY"


class SourceKind(enum.Enum):
    """An item of a FROM."""

    TABLE = "table"
    QUERY = "query"
    TVF = "window function"
    SNAPSHOT = "snapshot of a table that changes"
    CHANGELOG = "changes of a table as rows"
    EVENTS = "rows that are the changes of a table"
    FUNCTION = "function"
    GROUP = "joins in parentheses"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectItem:
    """An item of a select list.

    Attributes:
        expression: without the alias.
        alias: the name that was given, None if none was.
        span: the item.
    """

    expression: Region
    alias: str | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Tvf:
    """`TUMBLE(TABLE t, DESCRIPTOR(ts), ...)`, also `SNAPSHOT(input => TABLE t, ...)`, `TO_CHANGELOG`, `FROM_CHANGELOG`.

    Attributes:
        name: upper case.
        name_span: span of the name.
        data: what is windowed.
        partition: the regions of PARTITION BY columns.
        arguments: the others, in order: (name in upper case or "", region).
    """

    name: str
    name_span: Span
    data: FromItem
    partition: tuple[Region, ...]
    arguments: tuple[tuple[str, Region], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FromItem:
    """Something that a block reads.

    Attributes:
        span: all of it, with hints and alias.
        source: without hints, alias, sample.
        name: of a table, the parts joined by dots.
        alias: the name by which columns are qualified; "" if there is none.
        has_alias: whether an alias was written.
        hints: indexes of hint tokens.
        watermark: Spark's clause `WATERMARK ts DELAY OF INTERVAL ...`.
        is_lateral: it may name columns of preceding items.
        version: `FOR SYSTEM_TIME AS OF ...` and the like.
    """

    kind: SourceKind
    span: Span
    source: Span
    name: str = ""
    alias: str = ""
    has_alias: bool = False
    hints: tuple[int, ...] = ()
    watermark: Region = Region(0, 0)
    version: Region = Region(0, 0)
    is_lateral: bool = False
    query: Query | None = None
    tvf: Tvf | None = None
    items: tuple[FromItem, ...] = ()
    region: Region = Region(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A join inside a FROM: its words, what it joins, and the region of ON or USING."""

    words: tuple[str, ...]
    item: FromItem | None
    condition: Region
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """A SELECT.

    Attributes:
        clauses: regions without the words that begin them.
        items: the select list.
        list_span: span of the select list.
        is_distinct: SELECT DISTINCT.
        sources: what FROM names, commas and joins flattened.
        joins: of the FROM.
        has_more: it has LATERAL VIEW, PIVOT, UNPIVOT or other parts that are only passed on.
        nested: queries inside expressions.
        hints: positions of the hints behind SELECT.
    """

    span: Span
    clauses: dict[Clause, Region]
    items: tuple[SelectItem, ...]
    list_span: Span
    is_distinct: bool
    sources: tuple[FromItem, ...]
    joins: tuple[Join, ...]
    has_more: bool
    nested: tuple[Query, ...]
    hints: tuple[int, ...] = ()

    def clause(self, clause: Clause) -> Region:
        """Return the region of a clause, empty if the block has none."""
        return self.clauses.get(clause, _NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opaque:
    """VALUES, TABLE t, or what is no SELECT."""

    span: Span
    sources: tuple[FromItem, ...] = ()
    nested: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cte:
    """`name [(columns)] AS (query)`; `body` is the query without its parentheses."""

    name: str
    name_span: Span
    columns: tuple[str, ...]
    columns_span: Span
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """A query.

    Attributes:
        span: without surrounding parentheses.
        body: the same without WITH and the CTEs.
        operators: between the terms: "UNION ALL", "EXCEPT", ...
        operator_spans: their spans.
        tail: ORDER BY, LIMIT of a query with several terms.
    """

    span: Span
    body: Span
    ctes: tuple[Cte, ...]
    terms: tuple[Term, ...]
    operators: tuple[str, ...] = ()
    operator_spans: tuple[Span, ...] = ()
    tail_nested: tuple[Query, ...] = ()


Term = Block | Query | Opaque
_NOTHING = Region(0, 0)
