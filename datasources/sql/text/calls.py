"""Function calls and columns inside the expressions of a block; nested queries are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.text.query_tree import Block, Clause, Region
from datasources.sql.text.word_cursor import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`NAME(arguments)`; `name` in upper case, `region` all of it."""

    name: str
    region: Region
    inside: Region


def calls(words: Words, region: Region) -> Iterator[Call]:
    """Return the calls of unquoted, unqualified functions, outer ones first."""
    at = region.first
    while at < region.last:
        if words.symbol(at) == "(" and words.word(at + 1) in {"SELECT", "WITH"}:
            at = words.after(at)
            continue
        if words.word(at) and words.symbol(at + 1) == "(" and words.symbol(at - 1) != ".":
            yield Call(name=words.word(at), region=Region(at, words.after(at + 1)), inside=words.inside(at + 1))
        at += 1


def expression_regions(block: Block) -> tuple[Region, ...]:
    """Return every region of a block that holds expressions of its own."""
    clauses = (each for clause, each in block.clauses.items() if clause is not Clause.FROM and each)
    return (*clauses, *(join.condition for join in block.joins if join.condition))


def column_path(words: Words, region: Region) -> tuple[str, ...] | None:
    """Return the names of `a`, `t.a` or `a.b.c`; None for any other expression."""
    if not region or (region.last - region.first) % 2 == 0:
        return None
    for offset, at in enumerate(region):
        if offset % 2 == 0 and not (words.is_name(at) and words.word(at) not in {"NULL", "TRUE", "FALSE"}):
            return None
        if offset % 2 == 1 and words.symbol(at) != ".":
            return None
    return tuple(words[at].value for at in range(region.first, region.last, 2))


def is_star(words: Words, at: int) -> bool:
    """Whether a token is a star for columns: no product, and not the one of `count(*)`."""
    if words.symbol(at) != "*":
        return False
    before = words[at - 1] if at else None
    if before is None or words.symbol(at - 1) == ".":
        return True
    if before.kind in {TokenKind.NUMBER, TokenKind.STRING, TokenKind.QUOTED} or before.text in {")", "]"}:
        return False
    if before.kind is TokenKind.WORD:
        return before.word in {"SELECT", "DISTINCT", "ALL"}
    return not (words.word(at - 2) == "COUNT" and words.symbol(at - 1) == "(" and words.symbol(at + 1) == ")")


def split_unit(words: Words, call: Call) -> tuple[Region, str, Span] | None:
    """Return operand, unit and the unit's span of `FLOOR(x TO DAY)`; None if this is the function of numbers."""
    last = call.inside.last - 1
    if last - call.inside.first <= 1 or words.word(last - 1) != "TO" or not words.word(last):
        return None
    return Region(call.inside.first, last - 1), words.word(last), words[last].span
