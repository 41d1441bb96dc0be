"""Where to begin and where to end: Spark's and Flink's options mapped to one set of choices.

Source: Flink OffsetsInitializer; Spark's KafkaOffsetRangeLimit.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from datasources.errors import OptionError, SourceUnavailable
from datasources.kafka.startup.kafka_options import BoundedMode, KafkaOptions, KafkaStartupMode, TimestampStrategy

__all__ = [
    "AtEarliest",
    "AtGroup",
    "AtLatest",
    "AtPositions",
    "AtTimestamp",
    "PartitionLogs",
    "Where",
    "all_of",
    "ending",
    "positions_of",
    "starting",
]

Partition = tuple[str, int]
PartitionPairs = tuple[tuple[Partition, int], ...]

_EARLIEST, _LATEST = -2, -1
_FLINK_PAIR = re.compile(r"partition:([0-9]{1,9}),offset:([0-9]{1,18})")
_PARTITION = re.compile(r"[0-9]{1,9}")
_MAX_OFFSET = 2**63 - 1


class PartitionLogs(Protocol):
    """What the brokers know of positions in partitions. An answer lacks a partition that was deleted meanwhile."""

    def beginnings(self, partitions: Iterable[Partition]) -> Mapping[Partition, int]:
        """Return the first offset of each partition."""
        ...

    def ends(self, partitions: Iterable[Partition]) -> Mapping[Partition, int]:
        """Return the offset after the last record of each partition."""
        ...

    def committed(self, partitions: Iterable[Partition]) -> Mapping[Partition, int | None]:
        """Return what the consumer group committed; None = nothing."""
        ...

    def at_times(self, times_ms: Mapping[Partition, int]) -> Mapping[Partition, int | None]:
        """Return the first offset at or after a time; None = no record is that late."""
        ...


@dataclass(frozen=True, slots=True)
class AtEarliest:
    """The first available record."""

    def resolve(self, logs: PartitionLogs, partitions: Sequence[Partition], _key: str) -> Mapping[Partition, int]:
        """Return the position in each partition; see `positions_of`."""
        return logs.beginnings(partitions)


@dataclass(frozen=True, slots=True)
class AtLatest:
    """After the last available record."""

    def resolve(self, logs: PartitionLogs, partitions: Sequence[Partition], _key: str) -> Mapping[Partition, int]:
        """Return the position in each partition; see `positions_of`."""
        return logs.ends(partitions)


@dataclass(frozen=True, slots=True)
class AtGroup:
    """Where the consumer group of kafka.group.id committed."""

    def resolve(self, logs: PartitionLogs, partitions: Sequence[Partition], _key: str) -> Mapping[Partition, int]:
        """Return the position in each partition, its end where nothing was committed; see `positions_of`."""
        return _or_ends(logs, logs.committed(partitions))


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """The first record at or after a time.

    Attributes:
        timestamp_ms: for every partition, or per partition.
        or_latest: whether a partition without such a record begins at its end; otherwise that is an error.
    """

    timestamp_ms: int | PartitionPairs
    or_latest: bool

    def resolve(self, logs: PartitionLogs, partitions: Sequence[Partition], _key: str) -> Mapping[Partition, int]:
        """Return the position in each partition; see `positions_of`.

        Raises:
            OptionError: a partition is not named, or has no record that late and `or_latest` is false.
        """
        if isinstance(self.timestamp_ms, int):
            times = dict.fromkeys(partitions, self.timestamp_ms)
        else:
            times = dict(self.timestamp_ms)
            _require_exact(times, partitions, "startingOffsetsByTimestamp")
        found = logs.at_times(times)
        missing = [pair for pair, position in found.items() if position is None]
        if missing and not self.or_latest:
            topic, partition = missing[0]
            raise OptionError(
                f"topic '{topic}', partition {partition} has no record at or after {times[missing[0]]} (epoch ms). Set "
                f"startingOffsetsByTimestampStrategy to 'latest' to begin at its end."
            )
        return _or_ends(logs, found)


@dataclass(frozen=True, slots=True)
class AtPositions:
    """Given offsets; -2 is the earliest, -1 the latest. Flink's form names no topic: it is '*'."""

    positions: PartitionPairs

    def resolve(self, logs: PartitionLogs, partitions: Sequence[Partition], key: str) -> Mapping[Partition, int]:
        """Return the position in each partition; see `positions_of`.

        Raises:
            OptionError: the option `key` does not name exactly the partitions that are read.
        """
        positions = dict(self.positions)
        if all(topic == "*" for topic, _ in positions):
            positions = {pair: positions.get(("*", pair[1]), _EARLIEST) for pair in partitions}
        _require_exact(positions, partitions, key)
        early = [pair for pair, p in positions.items() if p == _EARLIEST]
        late = [pair for pair, p in positions.items() if p == _LATEST]
        found = {**all_of(early, logs.beginnings(early)), **all_of(late, logs.ends(late))}
        return {pair: found.get(pair, position) for pair, position in positions.items()}


Where = AtEarliest | AtLatest | AtGroup | AtTimestamp | AtPositions


def positions_of(
    where: Where, logs: PartitionLogs, partitions: Sequence[Partition], key: str
) -> Mapping[Partition, int]:
    """Return the position of `where` in every partition.

    Args:
        where: the choice.
        logs: the brokers' answers.
        partitions: those that are read.
        key: the option that gave positions, for errors.

    Raises:
        OptionError: the choice does not fit the partitions or their records.
        SourceUnavailable: the brokers do not answer, or a partition was deleted meanwhile.
    """
    return all_of(partitions, where.resolve(logs, partitions, key))


def all_of(asked: Iterable[Partition], found: Mapping[Partition, int]) -> Mapping[Partition, int]:
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


def _or_ends(logs: PartitionLogs, found: Mapping[Partition, int | None]) -> Mapping[Partition, int]:
    missing = [pair for pair, position in found.items() if position is None]
    ends = all_of(missing, logs.ends(missing))
    return {pair: ends[pair] if position is None else position for pair, position in found.items()}


def _require_exact(given: Iterable[Partition], partitions: Iterable[Partition], key: str) -> None:
    missing = sorted(set(partitions) - set(given))
    extra = sorted(set(given) - set(partitions))
    if missing or extra:
        what = f"names no position for {missing[0]}" if missing else f"names {extra[0]}, which is not read"
        raise OptionError(
            f"option '{key}' {what}: it must name exactly the partitions that are read; use -2 for the earliest and -1 "
            f"for the latest offset."
        )


def starting(options: KafkaOptions, *, is_batch: bool) -> Where:
    """Return where to begin. Precedence among Spark's own options is Spark's.

    Raises:
        OptionError: two ways at once, malformed, or the latest offset in a batch read.
    """
    where = _starting(options) or (AtEarliest() if is_batch else AtLatest())
    from_latest = isinstance(where, AtPositions) and any(position == _LATEST for _, position in where.positions)
    if is_batch and (from_latest or isinstance(where, AtLatest)):
        raise OptionError("a batch read from the latest offset reads nothing: begin at the earliest or at a position.")
    return where


def _starting(options: KafkaOptions) -> Where | None:
    spark_keys = {
        "startingTimestamp": options.starting_timestamp,
        "startingOffsetsByTimestamp": options.starting_offsets_by_timestamp,
        "startingOffsets": options.starting_offsets,
    }
    given = [key for key, value in spark_keys.items() if value is not None]
    _require_mode(
        KafkaStartupMode.TIMESTAMP, options.startup_mode, "scan.startup.timestamp-millis", options.startup_timestamp
    )
    _require_mode(
        KafkaStartupMode.SPECIFIC, options.startup_mode, "scan.startup.specific-offsets", options.startup_specific
    )
    if options.startup_mode is not None:
        if given:
            raise OptionError(f"options 'scan.startup.mode' and '{given[0]}' mean the same: set one of them.")
        return _flink_start(options)
    or_latest = options.timestamp_strategy is TimestampStrategy.LATEST
    if options.starting_timestamp is not None:
        return AtTimestamp(options.starting_timestamp, or_latest)
    if options.starting_offsets_by_timestamp is not None:
        text = options.starting_offsets_by_timestamp
        return AtTimestamp(_per_partition(text, "startingOffsetsByTimestamp"), or_latest)
    return _spark_offsets(options.starting_offsets, "startingOffsets")


def ending(options: KafkaOptions, *, is_batch: bool) -> Where | None:
    """Return where to end; None = never. Batch reads end at the latest offset by default.

    Raises:
        OptionError: two ways at once, malformed, `earliest`, or an end of batch reads in a stream.
    """
    _require_mode(
        BoundedMode.TIMESTAMP, options.bounded_mode, "scan.bounded.timestamp-millis", options.bounded_timestamp
    )
    _require_mode(BoundedMode.SPECIFIC, options.bounded_mode, "scan.bounded.specific-offsets", options.bounded_specific)
    spark_keys = {
        "endingTimestamp": options.ending_timestamp,
        "endingOffsetsByTimestamp": options.ending_offsets_by_timestamp,
        "endingOffsets": options.ending_offsets,
    }
    given = [key for key, value in spark_keys.items() if value is not None]
    if given and not is_batch:
        raise OptionError(f"option '{given[0]}' ends batch reads only. To end a stream for good use scan.bounded.mode.")
    if given and options.bounded_mode is not BoundedMode.UNBOUNDED:
        raise OptionError(f"options 'scan.bounded.mode' and '{given[0]}' mean the same: set one of them.")
    if options.ending_timestamp is not None:
        return AtTimestamp(options.ending_timestamp, or_latest=True)
    if options.ending_offsets_by_timestamp is not None:
        text = options.ending_offsets_by_timestamp
        return AtTimestamp(_per_partition(text, "endingOffsetsByTimestamp"), or_latest=True)
    where = _spark_offsets(options.ending_offsets, "endingOffsets")
    if isinstance(where, AtEarliest):
        raise OptionError("option 'endingOffsets' = 'earliest': a read to the earliest offset reads nothing.")
    if isinstance(where, AtPositions) and any(position == _EARLIEST for _, position in where.positions):
        raise OptionError(
            "option 'endingOffsets' holds -2, the earliest offset: a read ends at -1, the latest, or at 0 or more."
        )
    return where or _flink_end(options) or (AtLatest() if is_batch else None)


def _require_mode(needed: enum.Enum, mode: enum.Enum | None, key: str, value: object) -> None:
    """Reject an option of a mode that is not selected: it would be silently ignored."""
    if value is not None and mode is not needed:
        prefix = "scan.startup.mode" if isinstance(needed, KafkaStartupMode) else "scan.bounded.mode"
        raise OptionError(f"option '{key}' has no effect without '{prefix}' = '{needed.value}': set both or neither.")


def _flink_start(options: KafkaOptions) -> Where:
    simple: dict[KafkaStartupMode, Where] = {
        KafkaStartupMode.EARLIEST: AtEarliest(),
        KafkaStartupMode.LATEST: AtLatest(),
        KafkaStartupMode.GROUP: AtGroup(),
    }
    mode = options.startup_mode
    if mode is KafkaStartupMode.TIMESTAMP:
        if options.startup_timestamp is None:
            raise OptionError("scan.startup.mode = 'timestamp' needs 'scan.startup.timestamp-millis'.")
        return AtTimestamp(options.startup_timestamp, or_latest=True)
    if mode is KafkaStartupMode.SPECIFIC:
        return _flink_positions(options.startup_specific, "scan.startup.specific-offsets")
    assert mode is not None
    return simple[mode]


def _flink_end(options: KafkaOptions) -> Where | None:
    if options.bounded_mode is BoundedMode.LATEST:
        return AtLatest()
    if options.bounded_mode is BoundedMode.TIMESTAMP:
        if options.bounded_timestamp is None:
            raise OptionError("scan.bounded.mode = 'timestamp' needs 'scan.bounded.timestamp-millis'.")
        return AtTimestamp(options.bounded_timestamp, or_latest=True)
    if options.bounded_mode is BoundedMode.SPECIFIC:
        return _flink_positions(options.bounded_specific, "scan.bounded.specific-offsets")
    return None


def _flink_positions(text: str | None, key: str) -> AtPositions:
    pairs = [_FLINK_PAIR.fullmatch(part.strip()) for part in (text or "").split(";") if part.strip()]
    if not pairs or not all(pairs):
        raise OptionError(f"option '{key}' = '{text}': write 'partition:0,offset:42;partition:1,offset:300'.")
    return AtPositions(tuple((("*", int(pair[1])), int(pair[2])) for pair in pairs if pair))


def _spark_offsets(text: str | None, key: str) -> Where | None:
    if text is None:
        return None
    simple: dict[str, Where] = {"earliest": AtEarliest(), "latest": AtLatest()}
    return simple.get(text.strip().lower()) or AtPositions(_per_partition(text, key, lowest=_EARLIEST))


def _per_partition(text: str, key: str, *, lowest: int = 0) -> PartitionPairs:
    problem = OptionError(f'option \'{key}\' = \'{text}\': write JSON such as {{"orders": {{"0": 23, "1": 345}}}}.')
    try:
        raw = json.loads(text)
        cells = [
            (topic, partition, value) for topic, partitions in raw.items() for partition, value in partitions.items()
        ]
    except (ValueError, AttributeError, RecursionError):
        raise problem from None
    if not cells or not all(
        _PARTITION.fullmatch(partition) and type(value) is int and lowest <= value <= _MAX_OFFSET
        for _, partition, value in cells
    ):
        raise problem
    return tuple(((topic, int(partition)), value) for topic, partition, value in cells)
