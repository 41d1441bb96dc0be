"""The split enumerator of Kafka: which partitions, from where, to where."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from datasources.kafka.client.topic_partition import TopicPartitionName, parse_split, split_id
from datasources.kafka.metadata.absent_partitions import AbsentPartitions
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.group_commits import GroupCommits
from datasources.kafka.metadata.log_identities import LogIdentities
from datasources.kafka.metadata.planning_ends import CurrentEnds
from datasources.kafka.metadata.subscriber import AssignedPartitions, Subscriber
from datasources.kafka.startup.startup_offsets import Where, all_of, positions_of
from datasources.source.api.enumerator import Absence
from datasources.source.api.split import LogIdentity, SplitBounds, SplitId
from watermark import Clock

_logger = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRange:
    """The partitions and bounds of a scan.

    ``discovery_ms`` is the interval of partition discovery, 0 = never; ``end`` = None reads on; with
    ``fail_on_data_loss`` a restarted query requires every named topic to exist; positions are committed to
    ``commit_group``, None = to none.
    """

    subscriber: Subscriber
    start: Where
    end: Where | None
    discovery_ms: int
    fail_on_data_loss: bool = True
    commit_group: str | None = None


class KafkaEnumerator:
    """SplitEnumerator over a cluster.

    ``verify`` is called once, before the brokers are asked for partitions; it raises what is to stop the query.
    """

    def __init__(
        self, metadata: BrokerMetadata, wanted: KafkaRange, clock: Clock, verify: Callable[[], None] = lambda: None
    ) -> None:
        self._verify = verify
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
        group = wanted.commit_group
        self._commits = None if group is None else GroupCommits(group, metadata.begin_commit, clock)

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
        if self._commits is not None:
            self._commits.poll()
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
        return all_of([pair], self._metadata.beginnings([pair]))[pair]

    def may_lose_records(self, split: SplitId) -> bool:
        """Whether the topic is compacted; requested once per topic."""
        topic, _ = parse_split(split)
        if topic not in self._compacted:
            self._compacted[topic] = self._metadata.is_compacted(topic)
        return self._compacted[topic]

    def publish_positions(self, positions: Mapping[SplitId, int]) -> None:
        """Commit the positions to the consumer group (PublishesPositions); deleted partitions are left out."""
        if self._commits is not None:
            pairs = {parse_split(split): position for split, position in positions.items()}
            self._commits.offer({pair: pairs[pair] for pair in self._partitions or () if pair in pairs})

    def flush_positions(self) -> None:
        """Wait for the commit that is under way."""
        if self._commits is not None:
            self._commits.flush()

    def commit_counts(self) -> Mapping[str, int]:
        """Return Flink's metrics of commits; none without a group."""
        return {} if self._commits is None else self._commits.counts()

    def close(self) -> None:
        """Close the clients."""
        self._metadata.close()

    def _current(self, *, is_new: bool = False) -> list[TopicPartitionName]:
        """The partitions, refreshed once per discovery interval; fixed for a bounded read."""
        now = self._clock.monotonic_ns()
        interval = self._wanted.discovery_ms
        if self._partitions is None:
            self._verify()
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
        found = positions_of(where, self._metadata, self._current(is_new=True), key)
        return {split_id(*pair): position for pair, position in found.items()}
