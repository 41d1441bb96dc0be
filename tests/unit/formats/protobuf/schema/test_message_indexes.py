"""The path of indexes before a record, and the message that it leads to."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.errors import SchemaError
from datasources.formats.protobuf.schema.message_indexes import IndexGroups, message_at
from datasources.formats.protobuf.schema.message_type import file_of
from tests.support.protobuf_records import compiled

TEXT = """syntax = "proto3"; package p;
message A { map<int32, int32> m = 1; message In { int32 x = 1; } message Other { int32 x = 1; } }
message B { message In { message Deep { int32 x = 1; } } }"""


def groups(*payloads: bytes) -> tuple[list[tuple[tuple[int, ...], list[int], list[bytes]]], dict[int, str]]:
    found = IndexGroups(pa.array(payloads, pa.binary()))
    return [(indexes, rows.tolist(), each.to_pylist()) for indexes, rows, each in found.groups], found.reasons


def test_payloads_of_the_first_message():
    assert groups(b"\0abc", b"\0", b"\0\0") == ([((0,), [0, 1, 2], [b"abc", b"", b"\0"])], {})
    assert groups() == ([], {})


def test_payloads_of_several_messages():
    found, reasons = groups(b"\2\2x", b"\0y", b"\4\2\4z", b"\2\2", b"\2\0w", b"\0")
    assert found == [
        ((0,), [1, 5], [b"y", b""]), ((1,), [0, 3], [b"x", b""]), ((1, 2), [2], [b"z"]), ((0,), [4], [b"w"])
    ]  # fmt: skip
    assert reasons == {}


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"", "it ends within its message indexes"),
        (b"\2", "it ends within its message indexes"),
        (b"\4\2", "it ends within its message indexes"),
        (b"\x80", "it ends within its message indexes"),
        (b"\xff" * 11, "it ends within its message indexes"),
        (b"\1", "it has a path of -1 message indexes"),
        (b"\xca\1" + bytes(200), "it has a path of 101 message indexes"),
    ],
)
def test_payloads_without_a_path(payload, why):
    found, reasons = groups(b"\0a", payload)
    assert found == [((0,), [0], [b"a"])]
    assert reasons[1].startswith(why)


@pytest.mark.parametrize(
    ("indexes", "expected", "name"),
    [
        ((0,), None, "p.A"),
        ((1,), None, "p.B"),
        ((1, 0, 0), None, "p.B.In.Deep"),
        ((0, 0), None, "p.A.In"),  # with the type of the map's entries it would be no message
        ((0, 2), None, "p.A.Other"),  # without it there is no such message
        ((0, 1), "p.A.In", "p.A.In"),
        ((0, 1), "p.A.Other", "p.A.Other"),
    ],
)
def test_the_message_of_a_path(indexes, expected, name):
    assert message_at(file_of(compiled(TEXT), "test.proto"), indexes, expected).full_name == name


@pytest.mark.parametrize(
    ("indexes", "why"),
    [
        ((2,), r"it has no message with the indexes \[2\]"),
        ((-1,), r"it has no message with the indexes \[-1\]"),
        ((1, 1), r"it has no message with the indexes \[1, 1\]"),
        ((0, 1), r"its message indexes \[0, 1\] are those of 'p.A.Other' and 'p.A.In', by different writers; name one"),
    ],
)
def test_paths_that_lead_to_no_message_or_to_several(indexes, why):
    with pytest.raises(SchemaError, match=why):
        message_at(file_of(compiled(TEXT), "test.proto"), indexes, "p.B")
