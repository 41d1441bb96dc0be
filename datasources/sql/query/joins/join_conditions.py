"""The condition of a join: its conjuncts, and the columns that are equal."""

from __future__ import annotations

from datasources.sql.query.block.table_filter import conjuncts
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import Region
from datasources.sql.text.word_cursor import Words

Path = tuple[str, ...]
"""The names of `t.a.b`."""


def conjuncts_of(words: Words, condition: Region) -> tuple[Region, ...]:
    """Return the parts of a condition that must all hold, without brackets around them."""
    found = [_bare(words, each) for each in conjuncts(words, _bare(words, condition))]
    return tuple(part for each in found for part in (conjuncts_of(words, each) if len(found) > 1 else (each,)))


def sides_of(words: Words, part: Region) -> tuple[Path, Path] | None:
    """Return the columns of `a.x = b.y`; None for any other condition."""
    cuts = [at for at in words.top_level(part) if words.symbol(at) in {"=", "=="}]
    if len(cuts) != 1:
        return None
    left, right = column_path(words, Region(part.first, cuts[0])), column_path(words, Region(cuts[0] + 1, part.last))
    return None if left is None or right is None else (left, right)


def _bare(words: Words, region: Region) -> Region:
    while region and words.symbol(region.first) == "(" and words.after(region.first) == region.last:
        region = words.inside(region.first)
    return region
