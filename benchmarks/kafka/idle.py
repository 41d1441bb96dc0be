"""The cost of an empty trigger: Spark asks a source with 1,000 partitions for new offsets, and there are none.

The source's own reader is asked, in this process, as Spark's runner process asks it: each answer is a look at the
broker. CPU is that of the process with librdkafka's threads, in the order of the calls; a reader waits between looks,
and what its threads do meanwhile counts as well.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.orders.json_orders import make_topic, order_options, produce
from datasources.kafka.data_source import KafkaDataSource

__all__ = ["EmptyTrigger", "empty_triggers"]

LOOKS: Final = 200
_STILL_S: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyTrigger:
    """What was measured.

    Attributes:
        partitions: of the topic.
        cpu_ms: of one answer, mean.
        wall_ms: of one answer, median, the pause before a look left in.
        offset_bytes: how large the offset is that Spark stores.
    """

    partitions: int
    cpu_ms: float
    wall_ms: float
    offset_bytes: int


def empty_triggers(bootstrap: str, partitions: int) -> EmptyTrigger:
    """Read a topic to its end, then ask for news that do not come.

    Raises:
        SystemExit: there were news all the same.
    """
    topic = f"idle-{partitions}"
    make_topic(bootstrap, topic, partitions)
    produce(bootstrap, topic, partitions, range(partitions * 10))
    source = KafkaDataSource(options=order_options(bootstrap, topic))
    reader: Any = source.streamReader(source.schema())
    try:
        return _asked(reader, partitions)
    finally:
        reader.stop()


def _asked(reader: Any, partitions: int) -> EmptyTrigger:
    limit = reader.getDefaultReadLimit()
    offset, since = reader.latestOffset(reader.initialOffset(), limit), time.monotonic()
    while time.monotonic() < since + _STILL_S:  # the records, then heartbeats that pass their watermark on
        planned = reader.latestOffset(offset, limit)
        if planned != offset:
            offset, since = planned, time.monotonic()
    seconds, cpu = [], time.process_time()
    for _ in range(LOOKS):
        began = time.perf_counter()
        answer = reader.latestOffset(offset, limit)
        seconds.append(time.perf_counter() - began)
        if answer != offset:
            raise SystemExit("there were news although nothing was written: the figures would mean nothing")
    cpu = time.process_time() - cpu
    return EmptyTrigger(
        partitions=partitions,
        cpu_ms=round(cpu / LOOKS * 1_000, 2),
        wall_ms=round(statistics.median(seconds) * 1_000, 2),
        offset_bytes=len(str(offset)),
    )
