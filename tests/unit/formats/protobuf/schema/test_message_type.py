"""Messages by their names and by those of Java classes, and descriptors that cannot be used."""

from __future__ import annotations

import pickle

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from datasources.errors import SchemaError
from datasources.formats.protobuf.schema.message_type import message_type
from tests.support.protobuf_records import compiled

TEXT = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
message Order { message Line { int32 n = 1; } repeated Line lines = 1; google.protobuf.Timestamp at = 2; map<int32, int32> m = 3; }
message Refund { message Line { int32 n = 1; } }"""


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("shop.Order", "shop.Order"),
        ("Order", "shop.Order"),
        ("com.example.shop.OrderProto$Order", "shop.Order"),
        ("com.example.shop.Refund", "shop.Refund"),
        ("shop.Order.Line", "shop.Order.Line"),
        ("Timestamp", "google.protobuf.Timestamp"),
    ],
)
def test_a_message_is_found(name, full):
    found = message_type(compiled(TEXT), name)
    assert (found.name, found.descriptor.full_name) == (full, full)
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found
    assert copy.descriptor.full_name == full


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "com.example.Outer$Line",
            "may be any of the messages 'shop.Order.Line', 'shop.Refund.Line': give the full name",
        ),
        ("shop.Ordr", "there is no message 'shop.Ordr'. Did you mean 'shop.Order'"),
        ("MEntry", "there is no message 'MEntry'"),
    ],
)
def test_a_message_is_not_found(name, why):
    with pytest.raises(SchemaError, match=why):
        message_type(compiled(TEXT), name)


def test_files_may_come_in_any_order():
    files = FileDescriptorSet.FromString(compiled(TEXT))
    turned = FileDescriptorSet(file=reversed(files.file)).SerializeToString()
    assert message_type(turned, "shop.Order").name == "shop.Order"


def test_descriptors_that_cannot_be_used():
    files = FileDescriptorSet.FromString(compiled(TEXT))
    alone = FileDescriptorSet(file=[each for each in files.file if each.package == "shop"])
    with pytest.raises(
        SchemaError, match=r"'google/protobuf/timestamp.proto', which 'test.proto' imports, .* --include_imports"
    ):
        message_type(alone.SerializeToString(), "shop.Order")
    for raw in (b"message Order {}", alone.file[0].SerializeToString()[:-3]):
        with pytest.raises(SchemaError, match="it is no descriptor set: write them with protoc"):
            message_type(raw, "shop.Order")
    alone.file[0].dependency[:] = [alone.file[0].name]
    with pytest.raises(SchemaError, match="the files 'test.proto' import each other"):
        message_type(alone.SerializeToString(), "shop.Order")
    alone.file[0].ClearField("dependency")
    with pytest.raises(SchemaError, match="the descriptors are wrong: .*Timestamp"):
        message_type(alone.SerializeToString(), "shop.Order")
