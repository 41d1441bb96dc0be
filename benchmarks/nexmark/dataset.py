"""The events of a benchmark: a topic for the sides, Parquet files for the truth, each filled by one process a core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, Message, TopicPartition

from benchmarks.nexmark.generator.generator_config import GeneratorConfig
from benchmarks.nexmark.generator.topic_writer import TopicPart
from benchmarks.orders.json_orders import make_topic

__all__ = ["PARTITIONS", "TOPIC", "Filled", "fill_topic", "topic_messages", "write_files"]

TOPIC: Final = "nexmark"
PARTITIONS: Final = 4
_MESSAGES: Final = 10_000
_POLL_S: Final = 10.0
_MEMORY: Final = {
    "MIMALLOC_PURGE_DELAY": "-1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 31),
    "MALLOC_TOP_PAD_": str(1 << 26),
}
"""Memory that is free again stays with the process: each chunk needs as much as the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """How a topic was filled."""

    events: int
    events_per_s: float
    bytes_per_event: float


def fill_topic(bootstrap: str, events: int, config: GeneratorConfig, *, topic: str = TOPIC) -> Filled:
    """Create a topic and write the events into it."""
    make_topic(bootstrap, topic, PARTITIONS)
    writers = min(os.cpu_count() or 1, PARTITIONS)
    asked = [
        TopicPart(
            bootstrap=bootstrap,
            topic=topic,
            partitions=PARTITIONS,
            written=tuple(range(PARTITIONS))[writer::writers],
            events=events,
            config=asdict(config),
        )
        for writer in range(writers)
    ]
    begun = time.perf_counter()
    printed = _run_all([["topic_writer", json.dumps(asdict(part))] for part in asked])
    elapsed = time.perf_counter() - begun
    return Filled(
        events=events, events_per_s=round(events / elapsed), bytes_per_event=round(sum(map(int, printed)) / events, 1)
    )


def topic_messages(bootstrap: str, topic: str) -> Iterator[list[Message]]:
    """Yield the records of a topic of one partition, as many as it has now.

    Raises:
        SystemExit: they do not come.
    """
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "results", "enable.auto.commit": False})
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0))
    consumer.assign([TopicPartition(topic, 0, 0)])
    count = 0
    while count < end:
        messages = consumer.consume(min(_MESSAGES, end - count), _POLL_S)
        if not messages:
            raise SystemExit(f"{topic}: {end - count} records did not come within {_POLL_S:.0f} s")
        count += len(messages)
        yield messages
    consumer.close()


def write_files(directory: Path, events: int, config: GeneratorConfig) -> None:
    """Write the events into Parquet files of a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    writers = os.cpu_count() or 1
    share = -(-events // writers)
    commands = [
        ["parquet_writer", str(directory), str(first), str(min(share, events - first)), json.dumps(asdict(config))]
        for first in range(0, events, share)
    ]
    _run_all(commands)


def _run_all(commands: Sequence[Sequence[str]]) -> list[str]:
    """Run programs of the generator side by side; return what they print.

    Raises:
        SystemExit: one of them failed.
    """
    package = "benchmarks.nexmark.generator"
    environment = {**os.environ, **_MEMORY}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", f"{package}.{name}", *arguments], stdout=subprocess.PIPE, text=True, env=environment
        )
        for name, *arguments in commands
    ]
    printed = [each.communicate()[0] for each in running]
    if any(each.returncode for each in running):
        raise SystemExit("a program of the generator failed")
    return printed
