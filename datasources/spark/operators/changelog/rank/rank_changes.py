"""Changes of the rows that have a rank in a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from datasources.spark.operators.changelog.changes import Ints
from datasources.spark.operators.changelog.rank.ranked_rows import RankedRows, RankFunction

NO_LIMIT: Final = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """The ranks above ``offset`` up to and including ``limit``."""

    offset: int = 0
    limit: int = NO_LIMIT

    def spans(self, ranks: Ints, copies: Ints) -> RankSpans:
        """Return the ranks in this range of rows whose copies have consecutive ranks."""
        begin = np.clip(ranks - 1, self.offset, self.limit)
        return RankSpans(begin=begin, end=np.clip(ranks - 1 + copies, begin, self.limit))

    def copies(self, ranks: Ints, copies: Ints) -> Ints:
        """Return how often rows whose copies have one rank are in this range."""
        return np.where((ranks > self.offset) & (ranks <= self.limit), copies, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSpans:
    """The ranks ``begin`` + 1 to ``end`` of each row; none if they are equal."""

    begin: Ints
    end: Ints

    @property
    def counts(self) -> Ints:
        """The number of ranks of each row."""
        return self.end - self.begin

    def without(self, other: RankSpans) -> tuple[Ints, Ints]:
        """Return the ranks that are not among those of ``other``: positions of rows, and a rank for each."""
        lower = _expanded(self.begin, np.minimum(self.end, other.begin))
        upper = _expanded(np.maximum(self.begin, other.end), self.end)
        return np.concatenate([lower[0], upper[0]]), np.concatenate([lower[1], upper[1]])


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChanges:
    """Changes of the result.

    Attributes:
        rows: positions in sorted order.
        ranks: the rank in each change; meaningless in changes without regard to ranks.
        weights: how many rows are added or removed.
    """

    rows: Ints
    ranks: Ints
    weights: Ints

    @classmethod
    def of_counts(cls, ranks: Ints, counts: Ints) -> Self:
        """Return changes by these counts, without those of 0."""
        changed = np.flatnonzero(counts)
        return cls(rows=changed, ranks=ranks[changed], weights=counts[changed])

    def and_also(self, other: RankChanges) -> RankChanges:
        """Return the changes of both."""
        return RankChanges(
            rows=np.concatenate([self.rows, other.rows]),
            ranks=np.concatenate([self.ranks, other.ranks]),
            weights=np.concatenate([self.weights, other.weights]),
        )


def changes_without_ranks(
    ranked: RankedRows, function: RankFunction, shown: RankRange, before: Ints, after: Ints
) -> RankChanges:
    """Return the changes of the rows in a range: a row whose rank changes within it does not change.

    Args:
        ranked: the sorted rows.
        function: how they are numbered.
        shown: the range.
        before: how often each row, in sorted order, is in the table before the micro-batch.
        after: the same after it.
    """
    new, old = (copies_in_range(ranked, function, shown, copies) for copies in (after, before))
    return RankChanges.of_counts(np.zeros_like(new), new - old)


def copies_in_range(ranked: RankedRows, function: RankFunction, shown: RankRange, copies: Ints) -> Ints:
    """Return how many copies of each row, in sorted order, have a rank in the range."""
    ranks = ranked.ranks(function, copies)
    if function is RankFunction.ROW_NUMBER:
        return shown.spans(ranks, copies).counts
    return shown.copies(ranks, copies)


def changes_with_ranks(
    ranked: RankedRows, function: RankFunction, shown: RankRange, before: Ints, after: Ints
) -> RankChanges:
    """Return the changes of the rows in a range with their rank; parameters as of `changes_without_ranks`."""
    old, new = ranked.ranks(function, before), ranked.ranks(function, after)
    if function is RankFunction.ROW_NUMBER:
        return _numbered(shown.spans(old, before), shown.spans(new, after))
    removed, added = shown.copies(old, before), shown.copies(new, after)
    is_same = old == new
    return RankChanges.of_counts(old, np.where(is_same, 0, -removed)).and_also(
        RankChanges.of_counts(new, np.where(is_same, added - removed, added))
    )


def _numbered(old: RankSpans, new: RankSpans) -> RankChanges:
    removed, added = old.without(new), new.without(old)
    return RankChanges(
        rows=np.concatenate([removed[0], added[0]]),
        ranks=np.concatenate([removed[1], added[1]]),
        weights=np.repeat(np.array([-1, 1], dtype=np.int64), [len(removed[0]), len(added[0])]),
    )


def _expanded(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the position and the number for each number from ``begin`` + 1 to ``end``."""
    rows = np.flatnonzero(end > begin)
    sizes = (end - begin)[rows]
    starts = np.cumsum(sizes) - sizes
    ranks = np.arange(int(sizes.sum())) + np.repeat(begin[rows] + 1 - starts, sizes)
    return np.repeat(rows, sizes), ranks
