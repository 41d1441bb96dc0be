"""Records through confluent-kafka, a Python object per record. It works everywhere, with any client setting.

Small requests are faster than large ones: a list of 500 message objects fits the CPU caches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, Message, TopicPartition
from numpy.typing import NDArray

from datasources.kafka.client.attempts import refresh_metadata
from datasources.kafka.client.error_capture import ErrorCapturingConsumer, LazyClient
from datasources.kafka.client.record_columns import Headers, Notice, Received, RecordFields

_REQUEST_RECORDS = 500
_REQUEST_WAIT_S = 0.1


@dataclass(frozen=True, slots=True)
class MessageRecords:
    """Messages that are records; of several partitions if offsets are not searched."""

    messages: list[Message]

    @property
    def fields(self) -> RecordFields:
        """Everything."""
        return RecordFields.ALL

    @property
    def size_bytes(self) -> int:
        """The size of all values; the client would make an object of each key and header."""
        return sum(map(len, self.messages))

    def __len__(self) -> int:
        return len(self.messages)

    def offset(self, index: int) -> int:
        """Return the offset of a record."""
        return int(self.messages[index].offset())

    def count_before(self, offset: int) -> int:
        """Return how many records lie before an offset."""
        return bisect_left(self.messages, offset, key=Message.offset)

    def slice(self, start: int, stop: int) -> MessageRecords:
        """Return the records [start, stop)."""
        return MessageRecords(self.messages[start:stop])

    def only(self, fields: RecordFields) -> MessageRecords:  # noqa: ARG002 - a message has all fields
        """Return these records."""
        return self

    def join(self, others: Sequence[MessageRecords]) -> MessageRecords:
        """Return these records and then others."""
        messages = list(self.messages)
        for records in others:
            messages += records.messages
        return MessageRecords(messages)

    def topics(self) -> pa.StringArray:
        """Return the topic of each record."""
        return pa.array([m.topic() for m in self.messages], pa.string())

    def partitions(self) -> pa.Int32Array:
        """Return the partition of each record."""
        return pa.array([m.partition() for m in self.messages], pa.int32())

    def offsets(self) -> pa.Int64Array:
        """Return the offset of each record."""
        return pa.array([m.offset() for m in self.messages], pa.int64())

    def values(self) -> pa.BinaryArray:
        """Return the values, null where there is none."""
        return pa.array(list(map(Message.value, self.messages)), pa.binary())

    def keys(self) -> pa.BinaryArray:
        """Return the keys, null where there is none."""
        return pa.array(list(map(Message.key, self.messages)), pa.binary())

    def timestamps_ms(self) -> NDArray[np.int64]:
        """Return the timestamps, -1 where there is none."""
        found = (m.timestamp() for m in self.messages)
        return np.fromiter((at if kind else -1 for kind, at in found), np.int64, len(self))

    def timestamp_kinds(self) -> NDArray[np.int8]:
        """Return where timestamps are from."""
        return np.fromiter((m.timestamp()[0] for m in self.messages), np.int8, len(self))

    def leader_epochs(self) -> pa.Int32Array:
        """Return the epochs of the leaders that took the records, null where unknown."""
        return pa.array([m.leader_epoch() for m in self.messages], pa.int32())

    def headers(self) -> Headers:
        """Return the headers."""
        found = [m.headers() for m in self.messages]
        entries = [entry for headers in found for entry in headers or ()]
        return Headers(
            ends=np.cumsum([0, *(len(headers or ()) for headers in found)], dtype=np.int32),
            has_headers=np.array([headers is not None for headers in found], np.bool_),
            names=pa.array([name for name, _ in entries], pa.string()),
            contents=pa.array([content for _, content in entries], pa.binary()),
        )


class MessageFeed:
    """One partition through a consumer of confluent-kafka.

    The consumer belongs to this feed; the client for metadata requests is opened on demand.
    """

    def __init__(self, consumer: Consumer, open_query_client: Callable[[], ErrorCapturingConsumer]) -> None:
        self._consumer = consumer
        self.query_client = LazyClient(open_query_client)
        self._unread: list[Message] = []
        self._topic = ""

    def assign(self, topic: str, partition: int, position: int, epoch: int | None = None) -> None:
        """Start at an offset; prefetched records are dropped."""
        self._unread = []
        self._topic = topic
        known = {} if epoch is None else {"leader_epoch": epoch}
        self._consumer.assign([TopicPartition(topic, partition, position, **known)])

    def refresh(self) -> None:
        """Refresh the leader."""
        refresh_metadata(self._consumer, [self._topic])

    def receive(self, max_records: int, end: int, fields: RecordFields) -> Received:  # noqa: ARG002 - messages have all parts
        """Return available records, else wait for a single one: because of gaps, more might never arrive."""
        messages, self._unread = self._unread or self._consume(min(_REQUEST_RECORDS, max_records)), []
        count, notice = len(messages), None
        if any(map(Message.error, messages)):  # per record: kept in C
            count = next(n for n, message in enumerate(messages) if message.error() is not None)
            notice = Notice(messages[count].error(), messages[count].offset())
        records = MessageRecords(messages[:count])
        if not count or records.offset(-1) < end:
            self._unread = messages[count + 1 :]
            return Received(records, notice)
        inside = records.count_before(end)
        self._unread = messages[inside:]
        return Received(records.slice(0, inside), is_ended=True)

    def close(self) -> None:
        """Close the feed."""
        self._consumer.close()
        self.query_client.close()

    def _consume(self, max_records: int) -> list[Message]:
        messages: list[Message] = self._consumer.consume(max_records, 0) or self._consumer.consume(1, _REQUEST_WAIT_S)
        return messages
