"""The schemas of a registry as descriptors: texts, descriptors in base64, and both together."""

from __future__ import annotations

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from datasources.errors import EnvironmentProblem, SchemaError
from datasources.formats.protobuf.schema import registered_files as module
from datasources.formats.protobuf.schema.message_type import message_type
from datasources.formats.protobuf.schema.registered_files import MAIN_FILE, registered_files

CITY = 'syntax = "proto3"; package geo; message City { string name = 1; }'
ORDER = 'syntax = "proto3"; package shop; import "geo/city.proto"; import "google/protobuf/timestamp.proto"; import "confluent/meta.proto"; message Order { geo.City city = 1; google.protobuf.Timestamp at = 2 [(confluent.field_meta).doc = "x"]; }'


def encoded(files: bytes, name: str) -> str:
    found = next(each for each in FileDescriptorSet.FromString(files).file if each.name == name)
    return base64.b64encode(found.SerializeToString()).decode()


def test_texts_and_descriptors_give_the_same_message():
    files = registered_files(ORDER, [("geo/city.proto", CITY)])
    city, order = encoded(files, "geo/city.proto"), encoded(files, MAIN_FILE)
    for text, reference in ((ORDER, CITY), (ORDER, city), (order, CITY), (order, city)):
        message = message_type(registered_files(text, [("geo/city.proto", reference)]), "shop.Order")
        assert [f.name for f in message.descriptor.fields] == ["city", "at"]
        assert message.descriptor.fields_by_name["city"].message_type.full_name == "geo.City"


@pytest.mark.parametrize(
    ("text", "references", "why"),
    [
        ("message Order {", [], r"protoc refuses it: schema-of-the-registry.proto:1:16: Reached end of input"),
        (ORDER, [], "protoc refuses it: geo/city.proto: File not found"),
        ("AAAA", [], r"neither a .proto text nor the descriptor of one"),
        (CITY, [("../../etc/x", CITY)], "the name '../../etc/x', which is no relative path"),
        (CITY, [("/etc/x", CITY)], "the name '/etc/x', which is no relative path"),
        (CITY, [("", CITY)], "the name '', which is no relative path"),
    ],
)
def test_schemas_that_are_none(text, references, why):
    with pytest.raises(SchemaError, match=why):
        registered_files(text, references)


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'tidemark-spark\[protobuf,schema-registry\]'"):
        registered_files(CITY, [])


def test_protoc_that_does_not_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_TIMEOUT_S", 0.001)
    with pytest.raises(EnvironmentProblem, match="does not run: .*timed out"):
        registered_files(CITY, [])
