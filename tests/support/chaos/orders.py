"""Orders on a topic, written while brokers come and go, and the windows that they must give."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from contextlib import suppress
from typing import Final, Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tests.support.kafka.kafka_orders import BASE, iso

__all__ = ["WINDOW_MS", "Orders"]

WINDOW_MS: Final = 10_000
_STEP_MS: Final = 20
_TICK_S: Final = 0.05
_FLUSH_S: Final = 300
_DAY_MS: Final = 86_400_000


class Orders:
    """Writes orders until the block ends; their times rise with their numbers.

    Attributes:
        written: how many orders were handed to the producer.

    Args:
        servers: ``host:port`` of brokers, with commas.
        topic: where the orders go.
        partitions: how many partitions the topic has.
        seed: of the choice of partitions.
        per_second: how many orders are written.
    """

    def __init__(self, servers: str, topic: str, partitions: int, *, seed: int, per_second: int = 400) -> None:
        self.written = 0
        self._topic = topic
        self._partitions = partitions
        self._chance = random.Random(seed)
        self._per_tick = max(1, round(per_second * _TICK_S))
        self._counts: Counter[int] = Counter()
        self._totals: Counter[int] = Counter()
        self._errors: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        # Nothing is given up while brokers are away, and nothing is written twice or out of order.
        settings = {"enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 20, "log_level": 0}
        self._producer = Producer({"bootstrap.servers": servers, **settings})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def use_partitions(self, count: int) -> None:
        """Write to so many partitions from now on."""
        self._partitions = count

    def finish(self) -> dict[int, tuple[int, int]]:
        """End writing, close all windows, and return them: by their start, epoch ms, the orders and the sum of ids."""
        self._end()
        end_ms = BASE + self.written * _STEP_MS + _DAY_MS
        for partition in range(self._partitions):
            self._produce(partition, 0, end_ms)
        remaining = self._producer.flush(_FLUSH_S)
        assert not self._errors, self._errors[:3]
        assert not remaining, f"{remaining} orders were not delivered"
        return {start: (self._counts[start], self._totals[start]) for start in self._counts}

    def _end(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _write(self) -> None:
        while not self._stop.wait(_TICK_S):
            for _ in range(self._per_tick):
                self._write_one()
            self._producer.poll(0)

    def _write_one(self) -> None:
        number = self.written
        at_ms = BASE + number * _STEP_MS
        self._produce(self._chance.randrange(self._partitions), number, at_ms)
        start = at_ms // WINDOW_MS * WINDOW_MS
        self._counts[start] += 1
        self._totals[start] += number
        self.written += 1

    def _produce(self, partition: int, number: int, at_ms: int) -> None:
        value = json.dumps({"id": number, "ts": iso(at_ms)})
        while True:
            try:
                self._producer.produce(self._topic, value, partition=partition, on_delivery=self._delivered)
            except BufferError:  # brokers are away
                self._producer.poll(1.0)
            except KafkaException as error:
                if error.args[0].code() != KafkaError._UNKNOWN_PARTITION:
                    raise
                self._look_again()
            else:
                return

    def _look_again(self) -> None:
        """Let the client learn of new partitions."""
        with suppress(KafkaException):  # brokers are away: the next attempt looks again
            self._producer.list_topics(self._topic, timeout=5)

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._errors.append(str(error))
