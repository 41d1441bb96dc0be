"""Writes events of some partitions into a topic, in the order of their numbers; prints how many bytes the values have.

python -m benchmarks.nexmark.generator.topic_writer '{"bootstrap": "...", "topic": "...", ...}'     see `TopicPart`

The event with the number n is in the partition n modulo their number. Writers of different partitions run side by side.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.nexmark.generator.event_json import JsonWriter
from benchmarks.nexmark.generator.events import EventMaker
from benchmarks.nexmark.generator.generator_config import AUCTION, BID, PERSON, GeneratorConfig, Numbers
from benchmarks.nexmark.generator.raw_producer import MESSAGE, RawProducer

__all__ = ["EventWriter", "TopicPart"]

_CHUNK: Final = 32_768
_PRODUCER: Final = {
    "acks": "all",
    "enable.idempotence": "true",
    "linger.ms": "20",
    "batch.size": str(1 << 20),
    "batch.num.messages": "10000",
    "queue.buffering.max.messages": "200000",
    "queue.buffering.max.kbytes": str(1 << 18),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPart:
    """What a writer writes.

    Attributes:
        bootstrap, topic: where to.
        partitions: of the topic.
        written: the partitions that this writer fills.
        first, events: the numbers are first, first + 1, ... first + events - 1.
        config: changes of the generator's configuration.
    """

    bootstrap: str
    topic: str
    partitions: int
    written: tuple[int, ...]
    first: int = 0
    events: int
    config: dict[str, int]


class EventWriter:
    """Writes events with a producer.

    Args:
        part: what it writes.
    """

    def __init__(self, part: TopicPart) -> None:
        self._part = part
        self._maker = EventMaker(GeneratorConfig(**part.config))
        self._json = JsonWriter(self._maker.channels)
        self._producer = RawProducer({"bootstrap.servers": part.bootstrap, **_PRODUCER}, part.topic)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._producer.__exit__(kind, *error)

    def write(self, first: int, events: int) -> int:
        """Write events from a number on; return how many bytes their values have."""
        return sum(self._written(numbers) for numbers in self._chunks(first, events))

    def _chunks(self, first: int, events: int) -> Iterator[Numbers]:
        part = self._part
        span = _CHUNK * part.partitions // len(part.written)
        for begin in range(first, first + events, span):
            numbers = np.arange(begin, min(begin + span, first + events))
            yield numbers[np.isin(numbers % part.partitions, part.written)]

    def _written(self, numbers: Numbers) -> int:
        events = self._maker.make(numbers)
        values = {
            PERSON: self._json.persons(events.persons),
            AUCTION: self._json.auctions(events.auctions),
            BID: self._json.bids(events.bids),
        }
        messages = np.zeros(len(numbers), MESSAGE)
        messages["partition"] = numbers % self._part.partitions
        for kind, texts in values.items():
            _point_to(messages, np.flatnonzero(events.kinds == kind), texts)
        self._producer.produce(messages)
        return int(messages["size"].sum())


def _point_to(messages: npt.NDArray[Any], rows: npt.NDArray[np.intp], texts: pa.StringArray) -> None:
    """Give some messages the addresses and sizes of texts."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    messages["value"][rows] = (data.address if data else 0) + ends[:-1].astype(np.uint64)
    messages["size"][rows] = np.diff(ends)


def main() -> None:
    """Write what the argument asks for."""
    asked = json.loads(sys.argv[1])
    part = TopicPart(**{**asked, "written": tuple(asked["written"])})
    with EventWriter(part) as writer:
        print(writer.write(part.first, part.events))


if __name__ == "__main__":
    main()
