"""The split enumerator of Kafka: which partitions, from where, to where."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from datasources.errors import OptionError, SourceUnavailable
from datasources.kafka.client.topic_partition import TopicPartitionName, parse_split, split_id
from datasources.kafka.metadata.absent_partitions import AbsentPartitions
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.log_identities import LogIdentities
from datasources.kafka.metadata.planning_ends import CurrentEnds
from datasources.kafka.metadata.subscriber import AssignedPartitions, Subscriber
from datasources.kafka.startup.startup_offsets import AtEarliest, AtGroup, AtLatest, AtPositions, AtTimestamp, Where
from datasources.source.api.enumerator import Absence
from datasources.source.api.split import LogIdentity, SplitBounds, SplitId
from watermark import Clock

__all__ = ["KafkaEnumerator", "KafkaRange"]

_logger = logging.getLogger(__name__)
_EARLIEST, _LATEST = -2, -1
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRange:
    """The partitions and bounds of a scan.

    Attributes:
        subscriber: which partitions.
        start: where a new query begins.
        end: where it ends for good; None = never.
        discovery_ms: the interval of partition discovery; 0 = never.
        fail_on_data_loss: whether a restarted query requires every named topic to exist.
    """

    subscriber: Subscriber
    start: Where
    end: Where | None
    discovery_ms: int
    fail_on_data_loss: bool = True


class KafkaEnumerator:
    """SplitEnumerator over a cluster.

    Args:
        metadata: of the cluster.
        wanted: the columns and fields that the scan reads.
        clock: paces discovery.
    """

    def __init__(self, metadata: BrokerMetadata, wanted: KafkaRange, clock: Clock) -> None:
        self._metadata = metadata
        self._wanted = wanted
        self._clock = clock
        self._partitions: list[TopicPartitionName] | None = None
        self._topics: set[str] = set()
        self._next_discovery_ns = 0
        self._absent = AbsentPartitions(wanted.subscriber, metadata.exists, clock)
        self._compacted: dict[str, bool] = {}
        self._identities = LogIdentities(metadata.topic_ids, clock)
        self._logs: Mapping[TopicPartitionName, LogIdentity | None] = {}
        self._ends: CurrentEnds | None = None
        self._bounds: Mapping[SplitId, SplitBounds] = {}

    def start_positions(self) -> Mapping[SplitId, int]:
        """Resolve the start in every partition that exists now."""
        return self._resolve(self._wanted.start, "startingOffsets")

    def limits(self) -> Mapping[SplitId, int] | None:
        """Resolve the end in every partition that exists now."""
        if self._wanted.end is None:
            return None
        return self._resolve(self._wanted.end, "endingOffsets")

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """Return the end of every partition; beginnings are checked by the reader."""
        found = self._metadata.current_ends(self._current())
        logs = self._identities.of(found)
        if found != self._ends or logs is not self._logs:  # else the same object, which is compared by identity
            self._ends, self._logs = found, logs
            self._bounds = {
                split_id(*pair): SplitBounds(
                    start_inclusive=0,
                    end_exclusive=end,
                    unanswered=found.unanswered.get(pair),
                    log=logs[pair],
                )
                for pair, end in found.ends.items()
            }
        return self._bounds

    def absence(self, split: SplitId) -> Absence:
        """Classify a split that `bounds` no longer lists (ConfirmsAbsence)."""
        pair = parse_split(split)
        found = self._absent.absence(pair)
        if found is Absence.UNCONFIRMED and pair not in (self._partitions or ()):
            self._next_discovery_ns = 0  # the last answer may have been incomplete
        return found

    def late_start_position(self, split: SplitId) -> int:
        """Return the beginning of a partition that appeared while the query ran."""
        pair = parse_split(split)
        return _all_of([pair], self._metadata.beginnings([pair]))[pair]

    def may_lose_records(self, split: SplitId) -> bool:
        """Whether the topic is compacted; requested once per topic."""
        topic, _ = parse_split(split)
        if topic not in self._compacted:
            self._compacted[topic] = self._metadata.is_compacted(topic)
        return self._compacted[topic]

    def close(self) -> None:
        """Close the clients."""
        self._metadata.close()

    def _current(self, *, is_new: bool = False) -> list[TopicPartitionName]:
        """The partitions, refreshed once per discovery interval; fixed for a bounded read.

        Args:
            is_new: whether a query starts, so that every named topic must exist.
        """
        now = self._clock.monotonic_ns()
        interval = self._wanted.discovery_ms
        is_fixed = (
            isinstance(self._wanted.subscriber, AssignedPartitions) or interval == 0 or self._wanted.end is not None
        )
        if self._partitions is None or (not is_fixed and now >= self._next_discovery_ns):
            is_lenient = not (is_new or self._wanted.fail_on_data_loss)
            self._partitions = self._metadata.partitions(
                self._wanted.subscriber, may_be_missing=lambda topic: is_lenient or topic in self._topics
            )
            self._topics.update(topic for topic, _ in self._partitions)
            self._identities.note_discovery()
            self._next_discovery_ns = now + interval * _NS_PER_MS
        return self._partitions

    def _resolve(self, where: Where, key: str) -> dict[SplitId, int]:
        partitions = self._current(is_new=True)
        if isinstance(where, AtEarliest):
            found = self._metadata.beginnings(partitions)
        elif isinstance(where, AtLatest):
            found = self._metadata.ends(partitions)
        elif isinstance(where, AtGroup):
            found = self._or_ends(self._metadata.committed(partitions))
        elif isinstance(where, AtTimestamp):
            found = self._at_timestamp(where, partitions)
        else:
            found = self._at_positions(where, partitions, key)
        return {split_id(*pair): position for pair, position in _all_of(partitions, found).items()}

    def _at_timestamp(self, where: AtTimestamp, partitions: list[TopicPartitionName]) -> dict[TopicPartitionName, int]:
        if isinstance(where.timestamp_ms, int):
            times = dict.fromkeys(partitions, where.timestamp_ms)
        else:
            times = dict(where.timestamp_ms)
            _require_exact(times, partitions, "startingOffsetsByTimestamp")
        found = self._metadata.at_times(times)
        missing = [pair for pair, position in found.items() if position is None]
        if missing and not where.or_latest:
            topic, partition = missing[0]
            raise OptionError(
                f"topic '{topic}', partition {partition} has no record at or after {times[missing[0]]} (epoch ms). Set "
                f"startingOffsetsByTimestampStrategy to 'latest' to begin at its end."
            )
        return self._or_ends(found)

    def _or_ends(self, found: Mapping[TopicPartitionName, int | None]) -> dict[TopicPartitionName, int]:
        missing = [pair for pair, position in found.items() if position is None]
        ends = _all_of(missing, self._metadata.ends(missing))
        return {pair: ends[pair] if position is None else position for pair, position in found.items()}

    def _at_positions(
        self, where: AtPositions, partitions: list[TopicPartitionName], key: str
    ) -> dict[TopicPartitionName, int]:
        positions = dict(where.positions)
        if all(topic == "*" for topic, _ in positions):
            positions = {pair: positions.get(("*", pair[1]), _EARLIEST) for pair in partitions}
        _require_exact(positions, partitions, key)
        early = [pair for pair, p in positions.items() if p == _EARLIEST]
        late = [pair for pair, p in positions.items() if p == _LATEST]
        found = {
            **_all_of(early, self._metadata.beginnings(early)),
            **_all_of(late, self._metadata.ends(late)),
        }
        return {pair: found.get(pair, position) for pair, position in positions.items()}


def _all_of(
    asked: Iterable[TopicPartitionName], found: Mapping[TopicPartitionName, int]
) -> Mapping[TopicPartitionName, int]:
    """Return `found` if it covers all partitions: a partition deleted meanwhile must not be dropped silently.

    Raises:
        SourceUnavailable: a requested partition was deleted in the meantime.
    """
    gone = next((pair for pair in asked if pair not in found), None)
    if gone is not None:
        raise SourceUnavailable(
            f"topic '{gone[0]}', partition {gone[1]} was deleted while its start and end offsets were resolved. Start "
            f"the query again: it reads the partitions that exist then."
        )
    return found


def _require_exact(given: Iterable[TopicPartitionName], partitions: Iterable[TopicPartitionName], key: str) -> None:
    missing = sorted(set(partitions) - set(given))
    extra = sorted(set(given) - set(partitions))
    if missing or extra:
        what = f"names no position for {missing[0]}" if missing else f"names {extra[0]}, which is not read"
        raise OptionError(
            f"option '{key}' {what}: it must name exactly the partitions that are read; use -2 for the earliest and -1 "
            f"for the latest offset."
        )
