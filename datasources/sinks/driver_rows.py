"""The rows of a batch on the driver, where one transaction writes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.grammar.literals import quoted

_DRIVER_CHARACTERS: Final = 32 << 20
"""A batch with less text is brought to the driver at once, a larger one partition by partition."""


@dataclass(frozen=True, slots=True)
class DriverRows:
    """Rows that may be read several times.

    Attributes:
        rows: persisted.
        characters: of all their texts; None = there is no row.
    """

    rows: DataFrame
    characters: int | None

    @property
    def is_empty(self) -> bool:
        """Whether there is no row."""
        return self.characters is None

    def __iter__(self) -> Iterator[Row]:
        if self.is_empty:
            return iter(())
        is_small = (self.characters or 0) <= _DRIVER_CHARACTERS
        return iter(self.rows.collect() if is_small else self.rows.toLocalIterator(prefetchPartitions=True))


@contextmanager
def driver_rows(texts: DataFrame, *columns: str) -> Iterator[DriverRows]:
    """Evaluate rows once, and give access to them.

    Args:
        texts: the rows.
        columns: names of their columns of texts, which may be NULL.
    """
    rows = texts.coalesce(texts.sparkSession.sparkContext.defaultParallelism).persist()
    lengths = [F.coalesce(F.length(quoted(name)), F.lit(0)) for name in columns]
    try:
        found = rows.agg(F.sum(sum(lengths, F.lit(0)))).head()
        yield DriverRows(rows, None if found is None else found[0])
    finally:
        rows.unpersist()
