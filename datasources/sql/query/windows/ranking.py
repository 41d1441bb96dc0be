"""`ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...)` in a select list, and the row limit of the outer query."""

from __future__ import annotations

from dataclasses import dataclass

from datasources.grammar.lexer import TokenKind
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import Block, Clause, FromItem, Region
from datasources.sql.text.word_cursor import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTerm:
    """One expression of ORDER BY; `nulls_first` as written, else as Flink and Spark order: first if ascending."""

    region: Region
    is_descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """A ROW_NUMBER in a select list."""

    index: int
    name: str
    region: Region
    partition: tuple[Region, ...]
    partition_paths: tuple[tuple[str, ...], ...]
    order: tuple[OrderTerm, ...]


def ranking_of(words: Words, block: Block) -> Ranking | None:
    """Return the ranking of a block: a select item that is ROW_NUMBER() and has a name.

    Raises:
        SqlError: it has no ORDER BY, or the block has two.
    """
    found: Ranking | None = None
    for index, item in enumerate(block.items):
        region = item.expression
        if (
            not words.matches(region.first, "ROW_NUMBER")
            or item.alias is None
            or words.word(region.first + 3) != "OVER"
        ):
            continue
        over = region.first + 4
        if words.symbol(over) != "(" or words.after(over) != region.last:
            continue
        if found is not None:
            raise words.source.error(words.span(region), "there are two ROW_NUMBER here", "Number in two sub-queries.")
        found = _ranking(words, index, item.alias, region, words.inside(over))
    return found


def _ranking(words: Words, index: int, name: str, region: Region, window: Region) -> Ranking:
    order_at = next((at for at in words.top_level(window) if words.matches(at, "ORDER", "BY")), None)
    ordered = () if order_at is None else words.split(Region(order_at + 2, window.last))
    terms = tuple(_order_term(words, part) for part in ordered)
    if order_at is None or not terms or not all(term.region for term in terms):
        raise words.source.error(words.span(region), "ROW_NUMBER has no ORDER BY", "Say which rows come first.")
    partition = Region(window.first, order_at)
    if words.matches(partition.first, "PARTITION", "BY"):
        partition = Region(partition.first + 2, partition.last)
    parts = words.split(partition)
    paths = tuple(path for part in parts if (path := column_path(words, part)) is not None)
    return Ranking(index=index, name=name, region=region, partition=parts, partition_paths=paths, order=terms)


def _order_term(words: Words, region: Region) -> OrderTerm:
    nulls: bool | None = None
    last = region.last
    if last - region.first > 2 and words.word(last - 2) == "NULLS":  # noqa: PLR2004 - x NULLS FIRST
        nulls = words.word(last - 1) == "FIRST"
        last -= 2
    is_descending = words.word(last - 1) == "DESC"
    if words.word(last - 1) in {"ASC", "DESC"}:
        last -= 1
    return OrderTerm(
        region=Region(region.first, last),
        is_descending=is_descending,
        nulls_first=not is_descending if nulls is None else nulls,
    )


def row_bound(context: BlockContext, name: str, item: FromItem) -> int | None:
    """Return the largest row number that the WHERE of a block lets pass, None if it names none."""
    words, where = context.words, context.block.clause(Clause.WHERE)
    if any(words.word(at) == "OR" for at in words.top_level(where)):
        return None
    bounds = [bound for at in words.top_level(where) if (bound := _bound_at(words, at, name, item, where)) is not None]
    return min(bounds, default=None)


def _bound_at(words: Words, at: int, name: str, item: FromItem, where: Region) -> int | None:
    if not words.is_name(at) or words[at].value.lower() != name.lower():
        return None
    if words.symbol(at - 1) == "." and words[at - 2].value.lower() != item.alias.lower():
        return None
    first = at - 2 if words.symbol(at - 1) == "." else at
    if words.word(at + 1) == "BETWEEN" and words.word(at + 3) == "AND":
        return _number(words, at + 4, where)
    right = _number(words, at + 2, where)
    if right is not None and _ends(words, at + 3, where) and _begins(words, first - 1, where):
        return {"<=": right, "=": right, "==": right, "<": right - 1}.get(words.symbol(at + 1))
    left = _number(words, first - 2, where)
    if left is not None and _ends(words, at + 1, where) and _begins(words, first - 3, where):
        return {">=": left, "=": left, "==": left, ">": left - 1}.get(words.symbol(first - 1))
    return None


def _ends(words: Words, at: int, where: Region) -> bool:
    return at >= where.last or words.word(at) == "AND"


def _begins(words: Words, at: int, where: Region) -> bool:
    return at < where.first or words.word(at) == "AND"


def _number(words: Words, at: int, where: Region) -> int | None:
    if where.first <= at < where.last and words[at].kind is TokenKind.NUMBER and words[at].text.isdigit():
        return int(words[at].text)
    return None
