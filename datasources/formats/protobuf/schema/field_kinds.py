"""How the fields of messages are written, and which messages mean a single value."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

TIMESTAMP_MESSAGE: Final = "google.protobuf.Timestamp"
_WRAPPERS: Final = frozenset(
    f"google.protobuf.{each}Value"
    for each in ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
)


class FieldKind(IntEnum):
    """The types of fields, by their numbers in FieldDescriptorProto.Type."""

    DOUBLE = 1
    FLOAT = 2
    INT64 = 3
    UINT64 = 4
    INT32 = 5
    FIXED64 = 6
    FIXED32 = 7
    BOOL = 8
    STRING = 9
    GROUP = 10
    """A message between two tags."""
    MESSAGE = 11
    BYTES = 12
    UINT32 = 13
    ENUM = 14
    SFIXED32 = 15
    SFIXED64 = 16
    SINT32 = 17
    SINT64 = 18


def kind_of_field(field: FieldDescriptor) -> FieldKind:
    """Return how a field is written."""
    return FieldKind(field.type)


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def is_timestamp(message: Descriptor) -> bool:
    """Return whether a message is an instant."""
    return bool(message.full_name == TIMESTAMP_MESSAGE)


def wrapped(message: Descriptor) -> FieldDescriptor | None:
    """Return the field of a wrapper, a message that is a value which may be absent; None = it is another message."""
    return message.fields_by_number[1] if message.full_name in _WRAPPERS else None
