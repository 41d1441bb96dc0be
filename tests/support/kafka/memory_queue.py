"""A consumer in memory as C sees librdkafka's: a queue of message structures, and functions that read them.

Structures and what they point to are memory of their own, freed when C destroys the message: a build that checks its
memory accesses notices who reads beyond them or afterwards.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

from confluent_kafka import Message, TopicPartition

from datasources.native.kafka_fetch import FeedStruct

__all__ = ["MemoryQueue"]

_LIBC = ctypes.CDLL(None)
_LIBC.malloc.restype, _LIBC.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
_LIBC.free.restype, _LIBC.free.argtypes = None, [ctypes.c_void_p]
_NO_ENTRY = -156
_NO_OFFSET = -1_001


class _Struct(ctypes.Structure):
    _fields_ = (
        ("error", ctypes.c_int),
        ("topic", ctypes.c_void_p),
        ("partition", ctypes.c_int32),
        ("value", ctypes.c_void_p),
        ("value_bytes", ctypes.c_size_t),
        ("key", ctypes.c_void_p),
        ("key_bytes", ctypes.c_size_t),
        ("offset", ctypes.c_int64),
        ("owned", ctypes.c_void_p),
    )


class Consuming(Protocol):
    """What it needs of a consumer."""

    def consume(self, max_count: int, timeout_s: float) -> list[Message]: ...

    def assign(self, partitions: list[TopicPartition]) -> None: ...

    def close(self) -> None: ...


class MemoryQueue:
    """Stands for `RawConsumer`, over a consumer that gives messages.

    Attributes:
        alive: what C was given and has not destroyed.
        wrong: what went wrong in a function that C called.
        name_of: the bytes of a header's name.
    """

    events = None

    def __init__(self, consumer: Consuming) -> None:
        self.consumer = consumer
        self.alive: dict[int, tuple[Message, list[int]]] = {}
        self.wrong: list[Exception] = []
        self.name_of: Callable[[str], bytes] = str.encode
        functions = {
            "consume_batch": ctypes.CFUNCTYPE(
                ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t
            )(self._guarded(self._consume, -1)),
            "destroy": ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._guarded(self._destroy)),
            "timestamp": ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))(
                self._guarded(self._timestamp)
            ),
            "headers": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))(
                self._guarded(self._headers)
            ),
            "header": ctypes.CFUNCTYPE(
                ctypes.c_int,
                ctypes.c_void_p,
                ctypes.c_size_t,
                *[ctypes.POINTER(ctypes.c_void_p)] * 2,
                ctypes.POINTER(ctypes.c_size_t),
            )(self._guarded(self._header)),
            "leader_epoch": ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(self._guarded(self._epoch)),
            "text": ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self._guarded(self._text)),
        }
        self._kept = functions
        self.feed = FeedStruct(**{name: ctypes.cast(each, ctypes.c_void_p).value for name, each in functions.items()})

    def assign(self, topic: str, partition: int, position: int, epoch: int | None) -> None:
        self.consumer.assign([TopicPartition(topic, partition, position)])

    def refresh(self, topic: str, timeout_ms: int) -> None: ...

    def failure(self) -> Exception:
        return self.wrong.pop()

    def close(self) -> None:
        if self.wrong:
            raise self.wrong.pop()
        assert not self.alive, "C holds messages of a consumer that is closed"
        self.consumer.close()

    def _guarded(self, function: Callable[..., Any], failed: int = 0) -> Callable[..., Any]:
        def guarded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as error:  # noqa: BLE001 - it cannot pass through C; `failure` or `close` raises it
                self.wrong.append(error)
                return failed

        return guarded

    def _consume(self, _queue: int, timeout_ms: int, into: Any, max_count: int) -> int:
        messages = self.consumer.consume(max_count, timeout_ms / 1_000)
        for number, message in enumerate(messages):
            into[number] = self._struct(message)
        return len(messages)

    def _struct(self, message: Message) -> int:
        memory = [_LIBC.malloc(ctypes.sizeof(_Struct))]
        struct = _Struct.from_address(memory[0])
        error, value, key = message.error(), message.value(), message.key()
        struct.error = 0 if error is None else error.code()
        struct.value, struct.value_bytes = _copied(value if error is None else None, memory), len(value or b"")
        struct.key, struct.key_bytes = _copied(key, memory), len(key or b"")
        struct.partition = -1 if message.partition() is None else message.partition()
        struct.offset = _NO_OFFSET if message.offset() is None else message.offset()
        self.alive[memory[0]] = message, memory
        return int(memory[0])

    def _destroy(self, at: int) -> None:
        for each in self.alive.pop(at)[1]:
            _LIBC.free(each)

    def _timestamp(self, at: int, kind: Any) -> int:
        kind[0], timestamp = self.alive[at][0].timestamp()
        return int(timestamp)

    def _headers(self, at: int, headers: Any) -> int:
        headers[0] = at
        return 0 if self.alive[at][0].headers() is not None else _NO_ENTRY

    def _header(self, at: int, index: int, name: Any, content: Any, size: Any) -> int:
        message, memory = self.alive[at]
        found = message.headers() or []
        if index >= len(found):
            return _NO_ENTRY
        name[0] = _copied(self.name_of(found[index][0]) + b"\0", memory)
        content[0], size[0] = _copied(found[index][1], memory), len(found[index][1] or b"")
        return 0

    def _epoch(self, at: int) -> int:
        epoch = self.alive[at][0].leader_epoch()
        return -1 if epoch is None else int(epoch)

    def _text(self, at: int) -> int | None:
        message, memory = self.alive[at]
        return _copied(message.error().str().encode() + b"\0", memory)


def _copied(content: bytes | None, memory: list[int]) -> int | None:
    """Return the address of a copy, which is as long as it must be and not longer; None of None."""
    if content is None:
        return None
    memory.append(_LIBC.malloc(max(1, len(content))))
    ctypes.memmove(memory[-1], content, len(content))
    return memory[-1]
