"""What a sink implements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from datasources.errors import DataLossError


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkTable:
    """The table that a sink keeps.

    Attributes:
        name: in SQL.
        schema: its stored columns.
        key: names of the columns of its primary key, as in the schema; none = it takes rows that are only added.
        options: of the connector, with lower-case keys and secrets expanded; not in the repr.
    """

    name: str
    schema: StructType
    key: Sequence[str]
    options: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNumber:
    """A batch of a query.

    Attributes:
        query: id of the query; a checkpoint has one, whatever process runs it.
        number: of the batch; one that is repeated has the same rows.
    """

    query: str
    number: int


def is_written(number: int, last: int, target: str) -> bool:
    """Return whether a target has a batch, by the number of the last one that it has.

    Args:
        number: of the batch that the query writes.
        last: of the batch that was written last.
        target: for the error.

    Raises:
        DataLossError: the target has later batches. A query repeats the last one only, so its checkpoint is an older
            one, and the batch may have other rows than the one of that number.
    """
    if number < last:
        raise DataLossError(
            f"the query writes batch {number}, and {target} has its batches up to {last}: the checkpoint is older than "
            f"the target, as when it was restored from a copy. Batches that are planned again may have other rows, so "
            f"none is passed over. Restore the newest checkpoint, or begin with a new one."
        )
    return number == last


class ChangeSink(Protocol):
    """Applies changes to a table, or appends rows to one without a key."""

    def check(self) -> None:
        """Raise unless the sink can keep the table; creates what the sink needs.

        Raises:
            OptionError: an option is wrong, or the target does not take the table's columns and key.
            SourceUnavailable: the server cannot be reached.
        """
        ...

    def apply(self, actions: DataFrame, batch: BatchNumber | None) -> None:
        """Apply actions, and run their plan in any case.

        Args:
            actions: of `net_actions`, or rows if the table has no key; each action of Spark's evaluates them anew, so
                persist them to use them twice.
            batch: whose; None = the rows of a query that is no stream.
        """
        ...
