"""A Kafka in memory as a confluent-kafka consumer sees it: logs with gaps, events, and time that passes in waits.

It follows librdkafka where readers depend on it: records come in responses that hold something of every partition, or of
the first one only if a request asks for less than a batch; what was fetched waits until it is consumed or its partition
is dropped; the end of a log is said once per position, and so is a position outside of the log, after which nothing
comes; nothing at all comes of a partition that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from random import Random
from types import SimpleNamespace

from confluent_kafka import KafkaError, KafkaException, Message

from datasources.kafka.client import consumers
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.native_client import NativeFeed
from datasources.kafka.reader.fetcher import FetchSettings
from datasources.native import native
from tests.support.kafka.memory_queue import MemoryQueue
from watermark import ManualClock


@dataclass
class MemoryLog:
    """One partition: [low, high), with records at some of its offsets."""

    low: int
    high: int
    records: dict[int, bytes | None]
    served: int = 0

    def delete_before(self, offset: int) -> None:
        self.low = max(self.low, offset)
        self.records = {at: value for at, value in self.records.items() if at >= offset}


@dataclass
class MemoryBroker:
    """Logs by (topic, partition); hands out consumers and counts them.

    `silent`: nothing comes. `batch_bytes`: a request for less gets records of its first partition only.
    `response_records`: how many records of each partition a response holds; None = some.
    """

    logs: dict[tuple[str, int], MemoryLog] = field(default_factory=dict)
    random: Random = field(default_factory=Random)
    clock: ManualClock = field(default_factory=lambda: ManualClock(1_700_000_000_000_000))
    consumers: list[MemoryConsumer] = field(default_factory=list)
    query_clients: list[MemoryConsumer] = field(default_factory=list)
    silent: bool = False
    batch_bytes: int = 0
    response_records: int | None = None
    number: int = field(default_factory=count(1).__next__)

    def add(self, topic: str, partition: int, offsets, *, low: int = 0, high: int | None = None) -> MemoryLog:
        records = {at: b"%d" % at for at in offsets}
        end = max(records, default=low - 1) + 1 if high is None else high
        self.logs[topic, partition] = log = MemoryLog(low, end, records)
        return log

    def open(self, settings: Mapping[str, str]) -> MemoryConsumer:
        self.consumers.append(MemoryConsumer(self, dict(settings)))
        return self.consumers[-1]

    def open_query_client(self, settings: Mapping[str, str]) -> MemoryConsumer:
        """Open one for questions, counted apart."""
        self.query_clients.append(MemoryConsumer(self, dict(settings)))
        return self.query_clients[-1]

    def open_native(self, settings: Mapping[str, str], _open_query_client: object) -> NativeFeed | None:
        """Open the way through C, where there is a library and it is not switched off."""
        library = native()
        if library is None:
            return None
        consumer = self.open(settings)
        return NativeFeed(MemoryQueue(consumer), library.kafka, lambda: self.open_query_client(settings))

    def use(self, monkeypatch) -> None:
        """Let readers open its consumers, and none that other tests left."""
        monkeypatch.setattr(consumers, "Consumer", self.open)
        monkeypatch.setattr(consumers, "ErrorCapturingConsumer", self.open_query_client)
        monkeypatch.setattr(consumers, "open_native", self.open_native)
        for pool in (consumers._partition_pool, consumers._wide_pool):
            pool._resources.clear()

    def settings(self, *, fail_on_data_loss: bool = True, poll_timeout_ms: int = 5_000) -> FetchSettings:
        config = ClientConfig({"bootstrap.servers": f"memory-{self.number}"})
        return FetchSettings(config=config, poll_timeout_ms=poll_timeout_ms, fail_on_data_loss=fail_on_data_loss)


@dataclass
class _Assigned:
    position: int
    reported_end: int = -1
    is_broken: bool = False


class MemoryConsumer:
    """What readers use of `confluent_kafka.Consumer`."""

    def __init__(self, broker: MemoryBroker, settings: dict[str, str]) -> None:
        self.broker = broker
        self.settings = settings
        self.assigned: dict[tuple[str, int], _Assigned] = {}
        self.assignments: list[dict[tuple[str, int], int]] = []
        self.fetched: list[Message] = []
        self.requests = 0
        self.closed = False
        self.connection_errors = SimpleNamespace(forget_outages=lambda: None, last=lambda: None)

    def assign(self, topic_partitions) -> None:
        self.fetched = []
        self.assigned = {(p.topic, p.partition): _Assigned(p.offset) for p in topic_partitions}
        self.assignments.append({(p.topic, p.partition): p.offset for p in topic_partitions})

    def unassign(self) -> None:
        self.assigned, self.fetched = {}, []

    def incremental_assign(self, topic_partitions) -> None:
        for topic_partition in topic_partitions:
            assert (topic_partition.topic, topic_partition.partition) not in self.assigned
            self.assigned[topic_partition.topic, topic_partition.partition] = _Assigned(topic_partition.offset)

    def incremental_unassign(self, topic_partitions) -> None:
        for topic_partition in topic_partitions:
            del self.assigned[topic_partition.topic, topic_partition.partition]
        self.fetched = [m for m in self.fetched if (m.topic(), m.partition()) in self.assigned]

    def consume(self, max_records: int, timeout_s: float) -> list[Message]:
        assert max_records > 0
        assert not self.closed
        if not self.fetched and timeout_s >= 0.01:
            for _ in range(self.broker.random.randint(1, 3)):
                self.fetched += self._response()
        if not self.fetched:
            self.broker.clock.advance_us(int(timeout_s * 1_000_000))
        given, self.fetched = self.fetched[:max_records], self.fetched[max_records:]
        return given

    def _response(self) -> list[Message]:
        self.requests += 1
        names = [] if self.broker.silent else list(self.assigned)
        start = self.requests % max(1, len(names))
        is_tight = int(self.settings["fetch.message.max.bytes"]) < self.broker.batch_bytes
        found: list[Message] = []
        for name in names[start:] + names[:start]:
            found += self._next(name)
            if is_tight and found and found[-1].error() is None:
                break
        return found

    def _next(self, name: tuple[str, int]) -> list[Message]:
        log, at = self.broker.logs.get(name), self.assigned[name]
        if log is None or at.is_broken:
            return []
        if not log.low <= at.position <= log.high:
            at.is_broken = True
            return [_event(name, KafkaError._AUTO_OFFSET_RESET, at.position)]
        if at.position == log.high:
            events = [] if at.reported_end == log.high else [_event(name, KafkaError._PARTITION_EOF, log.high)]
            at.reported_end = log.high
            return events
        waiting = sorted(offset for offset in log.records if offset >= at.position)
        taken = waiting[: self.broker.response_records or self.broker.random.randint(1, 20)]
        log.served += len(taken)
        at.position = taken[-1] + 1 if len(taken) < len(waiting) else log.high
        return [Message(topic=name[0], partition=name[1], offset=o, value=log.records[o]) for o in taken]

    def fail(self, code: int, name: tuple[str | None, int] = (None, -1)) -> None:
        """Let the next call give an event."""
        self.fetched.append(_event(name, code, -1_001))

    def get_watermark_offsets(self, topic_partition, timeout_s: float) -> tuple[int, int]:
        log = self.broker.logs.get((topic_partition.topic, topic_partition.partition))
        if log is None:
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))
        return log.low, log.high

    def list_topics(self, topic: str = "", timeout: float = 0):
        partitions = {partition: None for name, partition in self.broker.logs if name == topic}
        error = None if partitions else KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
        return SimpleNamespace(topics={topic: SimpleNamespace(error=error, partitions=partitions)})

    def close(self) -> None:
        self.closed = True


def _event(name: tuple[str | None, int], code: int, offset: int) -> Message:
    return Message(topic=name[0], partition=name[1], offset=offset, error=KafkaError(code))
