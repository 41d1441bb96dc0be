"""A Kafka producer that is given addresses of values: one call of librdkafka for many records, no Python object each.

The functions are those of the library that confluent-kafka has loaded.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import c_char_p, c_int, c_int32, c_size_t, c_void_p
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from confluent_kafka import cimpl

__all__ = ["MESSAGE", "RawProducer"]

MESSAGE: Final = np.dtype(
    {
        "names": ["error", "topic", "partition", "value", "size", "key", "key_size", "offset", "private"],
        "formats": ["i4", "u8", "i4", "u8", "u8", "u8", "u8", "i8", "u8"],
        "offsets": [0, 8, 16, 24, 32, 40, 48, 56, 64],
        "itemsize": 72,
    }
)
"""librdkafka's `rd_kafka_message_t` on a machine of 64 bits."""
_PRODUCER: Final = 0
_COPIES: Final = 0x2
_BLOCKS: Final = 0x4
_PARTITION_OF_MESSAGE: Final = 0x8
_TEXT_BYTES: Final = 512
_FLUSH_MS: Final = 60_000
_SIGNATURES: Final[Mapping[str, tuple[Any, tuple[Any, ...]]]] = {
    "conf_new": (c_void_p, ()),
    "conf_set": (c_int, (c_void_p, c_char_p, c_char_p, c_char_p, c_size_t)),
    "new": (c_void_p, (c_int, c_void_p, c_char_p, c_size_t)),
    "topic_new": (c_void_p, (c_void_p, c_char_p, c_void_p)),
    "topic_destroy": (None, (c_void_p,)),
    "produce_batch": (c_int, (c_void_p, c_int32, c_int, c_void_p, c_int)),
    "flush": (c_int, (c_void_p, c_int)),
    "destroy": (None, (c_void_p,)),
}


class RawProducer:
    """A producer to one topic. Use it in `with`: it waits for its records at the end.

    Args:
        settings: of librdkafka, in its names.
        topic: what it writes to.

    Raises:
        ValueError: a setting that librdkafka does not accept.
    """

    def __init__(self, settings: Mapping[str, str], topic: str) -> None:
        library = ctypes.CDLL(cimpl.__file__)
        self._functions: dict[str, Any] = {}
        for name, (result, arguments) in _SIGNATURES.items():
            function = library[f"rd_kafka_{name}"]
            function.restype, function.argtypes = result, list(arguments)
            self._functions[name] = function
        why = ctypes.create_string_buffer(_TEXT_BYTES)
        config = self._call("conf_new")
        for key, value in settings.items():
            if self._call("conf_set", config, key.encode(), value.encode(), why, _TEXT_BYTES):
                raise ValueError(why.value.decode())
        self._handle = self._call("new", _PRODUCER, config, why, _TEXT_BYTES)
        if not self._handle:
            raise ValueError(why.value.decode())
        self._topic = self._call("topic_new", self._handle, topic.encode(), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._call("flush", self._handle, _FLUSH_MS):
            raise TimeoutError("the broker did not take all records")
        self._call("topic_destroy", self._topic)
        self._call("destroy", self._handle)

    def produce(self, messages: npt.NDArray[Any]) -> None:
        """Write records, an array of `MESSAGE` with `partition`, `value` and `size`; it waits while its queue is full.

        Raises:
            RuntimeError: librdkafka refuses a record.
        """
        how = _COPIES | _BLOCKS | _PARTITION_OF_MESSAGE
        taken = self._call("produce_batch", self._topic, 0, how, messages.ctypes.data, len(messages))
        if taken != len(messages):
            raise RuntimeError(f"librdkafka took {taken} of {len(messages)} records: error {set(messages['error'])}")

    def _call(self, name: str, *arguments: object) -> Any:
        return self._functions[name](*arguments)
