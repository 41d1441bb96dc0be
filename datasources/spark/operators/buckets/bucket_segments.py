"""Rows of a bucket's state in parts: appended batch by batch, merged so that they stay few.

Parts are numbered and written once. `merge_from` says which of the newest ones a new part should swallow, so that each
part is larger than all that follow it together: a state of n rows that grows by d rows a batch has about log2(n / d)
parts, and a row is rewritten about as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

import pyarrow as pa

__all__ = ["Part", "PartStore", "merge_from"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is known of a part without reading it.

    Attributes:
        number: its name in the store; used once.
        token: who wrote it, so that two parts that two attempts at one batch wrote under one number differ.
        first: the smallest arrival number that can be in it.
        rows: how many rows it has.
        low_us: the smallest time of a row that still counts, µs; 0 where nobody asks.
    """

    number: int
    token: str
    first: int
    rows: int
    low_us: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON primitives."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Return what `to_json` gave."""
        return cls(**raw)


class PartStore(Protocol):
    """Where the parts of a bucket are."""

    def read(self, number: int) -> pa.Table:
        """Return a part."""
        ...

    def write(self, number: int, table: pa.Table) -> None:
        """Store a part under a number that was never used."""
        ...

    def drop(self, number: int) -> None:
        """Remove a part."""
        ...


def merge_from(parts: Sequence[Part], added_rows: int, *, most_rows: int | None = None) -> int:
    """Return the place of the first part that a new one with `added_rows` should swallow; len(parts) for none.

    Args:
        parts: in order.
        added_rows: rows of the new part.
        most_rows: no merged part becomes larger than that; None = it may.
    """
    place, total = len(parts), added_rows
    while place and parts[place - 1].rows <= total:
        total += parts[place - 1].rows
        if most_rows is not None and total > most_rows:
            break
        place -= 1
    return place
