"""The name of a topic partition as a split: ``orders-3``. A topic name may hold dashes; the last one divides."""

from __future__ import annotations

from datasources.source.api.split import SplitId

TopicPartitionName = tuple[str, int]


def split_id(topic: str, partition: int) -> SplitId:
    """Return the split's name."""
    return SplitId(f"{topic}-{partition}")


def parse_split(split: SplitId) -> TopicPartitionName:
    """Return (topic, partition)."""
    topic, _, partition = split.rpartition("-")
    return topic, int(partition)
