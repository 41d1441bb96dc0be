"""The watermarks in a query's progress, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from datasources.kafka.client.topic_partition import parse_split


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitMoment:
    """One split at one batch.

    Attributes:
        position: Its next offset.
        watermark_ms: Its own watermark, ms since the epoch; None while it has none.
        status: ``active``, ``idle``, ...
    """

    position: int
    watermark_ms: int | None
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A query at one batch.

    Attributes:
        at_ms: When the batch began, ms since the epoch.
        batch: Its number.
        watermark_ms: Spark's watermark in this batch; None before the first.
        dropped_rows: Spark's numRowsDroppedByWatermark of this batch.
        state_rows: Rows of state after it.
        read_rows: Position in the topic, summed over its partitions.
        splits: Each split by the number of its partition; empty if the source does not report them.
    """

    at_ms: int
    batch: int
    watermark_ms: int | None
    dropped_rows: int
    state_rows: int
    read_rows: int
    splits: Mapping[int, SplitMoment] = field(default_factory=dict)

    @classmethod
    def from_progress(cls, text: str) -> Self:
        """Read a StreamingQueryProgress from its JSON."""
        progress = json.loads(text)
        operators = progress.get("stateOperators", [])
        source = progress["sources"][0]
        splits = _splits(source.get("latestOffset"))
        watermark_ms = epoch_ms(progress.get("eventTime", {}).get("watermark"))
        return cls(
            at_ms=epoch_ms(progress["timestamp"]) or 0,
            batch=progress["batchId"],
            watermark_ms=watermark_ms or None,  # Spark reports 1970 where there is none
            dropped_rows=sum(operator.get("numRowsDroppedByWatermark", 0) for operator in operators),
            state_rows=sum(operator.get("numRowsTotal", 0) for operator in operators),
            read_rows=sum(split.position for split in splits.values()) if splits else _kafka_rows(source),
            splits=splits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTimeline:
    """All batches of one query, in order."""

    moments: tuple[Moment, ...]

    @classmethod
    def from_progress(cls, texts: Iterable[str]) -> Self:
        """Read the progress of all batches; a batch that was reported twice counts with its last report."""
        moments = {moment.batch: moment for moment in map(Moment.from_progress, texts)}
        return cls(moments=tuple(moments[batch] for batch in sorted(moments)))

    @property
    def dropped_rows(self) -> int:
        """Spark's numRowsDroppedByWatermark over all batches."""
        return sum(moment.dropped_rows for moment in self.moments)

    @property
    def peak_state_rows(self) -> int:
        """The most rows of state that the query held."""
        return max((moment.state_rows for moment in self.moments), default=0)

    @property
    def last_splits(self) -> Mapping[int, SplitMoment]:
        """The splits at the end, with the status that each had when the last rows were read.

        A query that runs for longer than the idle timeout after them finds every split idle.
        """
        if not self.moments:
            return {}
        last = self.moments[-1]
        reading = next(moment for moment in self.moments if moment.read_rows == last.read_rows)
        return {
            number: replace(split, status=reading.splits[number].status if number in reading.splits else split.status)
            for number, split in last.splits.items()
        }


def epoch_ms(text: str | None) -> int | None:
    """Return the milliseconds since the epoch of one of Spark's ISO times."""
    return None if text is None else round(datetime.fromisoformat(text).timestamp() * 1_000)


def _splits(latest: Any) -> dict[int, SplitMoment]:
    summary = _as_mapping(latest)
    return {
        parse_split(split["split"])[1]: SplitMoment(
            position=split["position"], watermark_ms=split["watermark"], status=split["status"]
        )
        for split in summary.get("splits", ())
    }


def _kafka_rows(source: Mapping[str, Any]) -> int:
    """Return the rows read so far by Spark's own Kafka source, from its end offsets by topic and partition."""
    topics = _as_mapping(source.get("endOffset"))
    return sum(sum(partitions.values()) for partitions in topics.values() if isinstance(partitions, dict))


def _as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a value of the progress; sources report JSON, which Spark shows as text or as an object."""
    decoded = json.loads(value) if isinstance(value, str) else value
    return decoded if isinstance(decoded, dict) else {}
