"""The orders of `json_orders` in Protobuf, as messages of proto2."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from google.protobuf import timestamp_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass

from benchmarks.orders.json_orders import order_values
from datasources.formats.protobuf.schema.message_type import MessageType, message_type

__all__ = ["MESSAGE", "descriptor_file", "message_order", "order_type"]

MESSAGE: Final = "Order"
_FIELDS: Final = {
    "user": Field.TYPE_INT64,
    "item": Field.TYPE_STRING,
    "price": Field.TYPE_DOUBLE,
    "ts": Field.TYPE_MESSAGE,
    "note": Field.TYPE_STRING,
}
"""Each with presence, as the columns are nullable."""


def order_type() -> MessageType:
    """Return the type of an order."""
    return message_type(_files(), MESSAGE)


def descriptor_file() -> Path:
    """Return a file with the descriptors, which any process may write: it is always the same."""
    found = Path(tempfile.gettempdir()) / "tidemark-benchmark-orders.desc"
    found.write_bytes(_files())
    return found


def message_order(number: int) -> bytes:
    """Return the order with a number."""
    values = order_values(number)
    at_ms = values.pop("ts")
    made = _order_class()(**values)
    made.ts.FromMilliseconds(at_ms)
    return bytes(made.SerializeToString())


@cache
def _order_class() -> Any:
    return GetMessageClass(order_type().descriptor)


def _files() -> bytes:
    files = FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    made = files.file.add(name="orders.proto", dependency=[timestamp_pb2.DESCRIPTOR.name])
    order = made.message_type.add(name=MESSAGE)
    for number, (name, kind) in enumerate(_FIELDS.items(), 1):
        field = order.field.add(name=name, number=number, type=kind, label=Field.LABEL_OPTIONAL)
        if kind == Field.TYPE_MESSAGE:
            field.type_name = ".google.protobuf.Timestamp"
    return bytes(files.SerializeToString(deterministic=True))
