"""How a backlog was drained, batch by batch, from a query's progress.

A batch that is aligned may end before its planned end. Where it ended is known when the next one is planned, so the
positions after a batch are those at which the next one starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

from datasources.demo.results.timeline import epoch_ms
from datasources.kafka.client.topic_partition import parse_split
from datasources.source.api.split import SplitProgress
from datasources.source.checkpoint.offset import Offset

__all__ = ["Batch", "Drain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One micro-batch.

    Attributes:
        number: Spark's.
        committed_ms: When it ended, ms since the epoch.
        state_rows: Rows of state after it.
        dropped_rows: Spark's numRowsDroppedByWatermark.
        table: The source's own report when it was planned, as JSON; empty for Spark's connector.
        offset: The source's end offset; None for Spark's connector.
        positions: Where each partition had been read to after it, by its number.
    """

    number: int
    committed_ms: int
    state_rows: int
    dropped_rows: int
    table: Mapping[str, Any]
    offset: Offset | None
    positions: Mapping[int, int]

    @classmethod
    def from_progress(cls, text: str) -> Self:
        """Read a StreamingQueryProgress from its JSON."""
        progress = json.loads(text)
        operators = progress.get("stateOperators", [])
        source = progress["sources"][0]
        table = _as_mapping(source.get("latestOffset"))
        end = _as_mapping(source.get("endOffset"))
        offset = Offset.from_json(end) if "splits" in table else None
        return cls(
            number=progress["batchId"],
            committed_ms=(epoch_ms(progress["timestamp"]) or 0) + progress["durationMs"]["triggerExecution"],
            state_rows=sum(operator.get("numRowsTotal", 0) for operator in operators),
            dropped_rows=sum(operator.get("numRowsDroppedByWatermark", 0) for operator in operators),
            table=table if offset else {},
            offset=offset,
            positions=_spark_positions(end) if offset is None else _positions(offset, lambda split: split.end),
        )

    def ended_before(self, after: Batch) -> Self:
        """Return this batch with the positions at which the next one starts."""
        # A batch of Spark's own, without data, has the offset of the batch before it.
        if self.offset is None or after.offset is None or after.offset.sequence == self.offset.sequence:
            return self
        return replace(self, positions=_positions(after.offset, lambda split: split.start))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """All batches of one query, in order."""

    batches: Sequence[Batch]

    @classmethod
    def from_progress(cls, texts: Iterable[str]) -> Self:
        """Read the progress of all batches; a batch that was reported twice counts with its last report."""
        found = {batch.number: batch for batch in map(Batch.from_progress, texts)}
        planned = [found[number] for number in sorted(found)]
        ended = [batch.ended_before(after) for batch, after in pairwise(planned)]
        return cls(batches=(*ended, *planned[-1:]))

    @property
    def peak_state_rows(self) -> int:
        """The most rows of state that the query held."""
        return max((batch.state_rows for batch in self.batches), default=0)

    @property
    def dropped_rows(self) -> int:
        """Spark's numRowsDroppedByWatermark over all batches."""
        return sum(batch.dropped_rows for batch in self.batches)

    @property
    def seconds(self) -> float:
        """From the first commit to the last: what a query costs once it runs."""
        if not self.batches:
            return 0.0
        return (self.batches[-1].committed_ms - self.batches[0].committed_ms) / 1_000


def _positions(offset: Offset, of: Callable[[SplitProgress], int]) -> dict[int, int]:
    return {parse_split(split.split)[1]: of(split) for split in offset.splits}


def _spark_positions(end: Mapping[str, Any]) -> dict[int, int]:
    return {int(partition): position for topic in end.values() for partition, position in topic.items()}


def _as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a value of the progress; sources report JSON, which Spark shows as text or as an object."""
    decoded = json.loads(value) if isinstance(value, str) else value
    return decoded if isinstance(decoded, dict) else {}
