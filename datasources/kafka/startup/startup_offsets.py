"""Where to begin and where to end: Spark's and Flink's options mapped to one set of choices.

Source: Flink OffsetsInitializer; Spark's KafkaOffsetRangeLimit.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from datasources.errors import OptionError
from datasources.kafka.startup.kafka_options import BoundedMode, KafkaOptions, KafkaStartupMode, TimestampStrategy

__all__ = ["AtEarliest", "AtGroup", "AtLatest", "AtPositions", "AtTimestamp", "Where", "ending", "starting"]

PartitionMap = Mapping[tuple[str, int], int]

_EARLIEST, _LATEST = -2, -1
_FLINK_PAIR = re.compile(r"partition:([0-9]{1,9}),offset:([0-9]{1,18})")
_PARTITION = re.compile(r"[0-9]{1,9}")
_MAX_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class AtEarliest:
    """The first available record."""


@dataclass(frozen=True, slots=True)
class AtLatest:
    """After the last available record."""


@dataclass(frozen=True, slots=True)
class AtGroup:
    """Where the consumer group of kafka.group.id committed."""


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """The first record at or after a time.

    Attributes:
        timestamp_ms: for every partition, or per partition.
        or_latest: whether a partition without such a record begins at its end; otherwise that is an error.
    """

    timestamp_ms: int | tuple[tuple[tuple[str, int], int], ...]
    or_latest: bool


@dataclass(frozen=True, slots=True)
class AtPositions:
    """Given offsets; -2 is the earliest, -1 the latest. Flink's form names no topic: it is '*'."""

    positions: tuple[tuple[tuple[str, int], int], ...]


Where = AtEarliest | AtLatest | AtGroup | AtTimestamp | AtPositions


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


def _per_partition(text: str, key: str, *, lowest: int = 0) -> tuple[tuple[tuple[str, int], int], ...]:
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
