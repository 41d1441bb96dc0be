"""Messages through the C library: those that it decodes have the values of the slow path, and the others are bad or special."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.protobuf.linking.link import LinkRules, link
from datasources.formats.protobuf.linking.steps import MAX_LEVELS, Plan
from datasources.formats.protobuf.native_path.native_decoder import NativeDecoder
from datasources.formats.protobuf.schema.message_type import MessageType
from datasources.formats.protobuf.schema.protobuf_columns import columns_of
from datasources.formats.protobuf.slow_path.slow_path_decoder import BadRecord, SlowPathDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.avro_records import exact_binaries
from tests.support.decoded_values import plain
from tests.support.protobuf_records import Generator, damaged, expected_row, google, in_map_order, message_of, parsed

ALL = settings(deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32)


def slow_row(plan: Plan, raw: bytes) -> list[object] | None:
    try:
        return SlowPathDecoder(plan).row(raw)
    except BadRecord:
        return None


def check(
    library, plan: Plan, columns: pa.Schema, records: list[bytes], wanted: list[str] | None = None
) -> tuple[list[list[object] | None], list[bool]]:
    """Hold both paths against each other; return the rows of the slow path, None = bad, and which C has decoded."""
    fields = [f for f in columns if wanted is None or f.name in wanted]
    found = NativeDecoder(library, plan, fields).decode(exact_binaries(records))
    rows = [slow_row(plan, raw) for raw in records]
    assert not any(done and row is None for done, row in zip(found.is_done, rows, strict=True))
    for field, column in zip(fields, found.columns, strict=True):
        column.validate(full=True)
        at = columns.get_field_index(field.name)
        shown = [row[at] if done and row else None for done, row in zip(found.is_done, rows, strict=True)]
        assert plain(column) == plain(pa.array(shown, field.type))
    return rows, found.is_done.tolist()


def plan_of(message: MessageType, columns: pa.Schema) -> Plan:
    return link(message.descriptor, columns, LinkRules())


@ALL
@given(seed=SEEDS)
def test_damaged_records_of_any_message(library, seed):
    rng = random.Random(seed)
    made = Generator(rng)
    message = made.message()
    columns = columns_of(message.descriptor)
    good = [made.record(message).SerializeToString() for _ in range(4)]
    records = [each for raw in good for each in (raw, *(damaged(rng, raw) for _ in range(12)))]
    rows, is_done = check(library, plan_of(message, columns), columns, records)
    assert all(is_done[::13])
    has_maps = "map" in str(columns)  # Google's reader drops an entry that has an unknown field, others keep it
    for raw, row in zip(records, rows, strict=True):
        read = parsed(message, raw)
        expected = None if read is None else expected_row(read, columns)
        if has_maps:
            assert row is None or read is not None
            continue
        values = row and [
            in_map_order(plain(pa.array([v], f.type))[0], f.type) for v, f in zip(row, columns, strict=True)
        ]
        assert values == expected


@ALL
@given(seed=SEEDS)
def test_a_record_is_bad_whatever_is_wanted(library, seed):
    rng = random.Random(seed)
    made = Generator(rng)
    message = made.message()
    whole = columns_of(message.descriptor)
    columns = pa.schema([f for f in whole if rng.random() < 0.8] or [whole.field(0)])
    raw = made.record(message).SerializeToString()
    records = [raw, *(damaged(rng, raw) for _ in range(20))]
    plan = plan_of(message, columns)
    _, every = check(library, plan, columns, records)
    for wanted in ([], [name for name in columns.names if rng.random() < 0.5]):
        _, some = check(library, plan, columns, records, wanted)
        assert not any(one and not other for one, other in zip(every, some, strict=True))


@ALL
@given(records=st.lists(st.binary(max_size=40), max_size=30), seed=st.integers(0, 200))
def test_any_bytes(library, records, seed):
    message = Generator(random.Random(seed)).message()
    columns = columns_of(message.descriptor)
    check(library, plan_of(message, columns), columns, records)


@ALL
@given(seed=SEEDS)
def test_the_beginning_of_a_record(library, seed):
    made = Generator(random.Random(seed))
    message = made.message()
    columns = columns_of(message.descriptor)
    raw = made.record(message).SerializeToString()
    beginnings = [raw[:length] for length in range(len(raw))[:: 1 + len(raw) // 30]]
    rows, _ = check(library, plan_of(message, columns), columns, beginnings)
    assert [row is None for row in rows] == [parsed(message, each) is None for each in beginnings]
    for beginning in beginnings[::5]:  # one by one, each at the end of its buffer
        check(library, plan_of(message, columns), columns, [beginning])


@pytest.mark.parametrize("sizes", [(5_000,), (0, 1, 63, 64, 65, 300, 7), (1,) * 500, (1_000,) * 5])
def test_lists_of_any_size_fit(library, sizes):
    text = "enum E { A = 0; a_long_symbol_of_an_enum_that_is_longer_than_its_number = 1; } message M { repeated int32 a = 1; repeated N b = 2; repeated E c = 3; } message N { repeated string x = 1; }"
    message = message_of(text)
    records = [
        google(message)(a=range(n), b=[{"x": [f"é{i}"]} for i in range(n)], c=[1] * n).SerializeToString()
        for n in sizes
    ]
    columns = columns_of(message.descriptor)
    assert all(check(library, plan_of(message, columns), columns, records)[1])


@pytest.mark.parametrize(("entries", "is_done"), [(0, True), (1, True), (256, True), (257, False)])
def test_maps_of_many_keys_are_left(library, entries, is_done):
    message = message_of("message M { map<string, int32> m = 1; map<int64, string> n = 2; }")
    columns = columns_of(message.descriptor)
    values = {"m": {f"k{i}": i for i in range(entries)}, "n": dict.fromkeys(range(entries), "x")}
    raw = google(message)(**values).SerializeToString()
    assert check(library, plan_of(message, columns), columns, [raw, b"", raw])[1] == [is_done, True, is_done]


MERGED = (
    "message M { N n = 1; map<int32, int32> m = 2; oneof o { int32 a = 3; int32 b = 4; } } message N { int32 x = 1; }"
)


@pytest.mark.parametrize(
    "raw",
    [b"\x0a\0\x0a\0", b"\x12\2\x08\1\x12\2\x08\1", b"\x18\1\x20\1"],
    ids=["message in pieces", "key twice", "two members of a oneof"],
)
def test_what_is_special_is_left(library, raw):
    message = message_of(MERGED)
    columns = columns_of(message.descriptor)
    rows, is_done = check(library, plan_of(message, columns), columns, [raw])
    assert is_done == [False]
    assert rows[0] is not None


@pytest.mark.parametrize("ddl", ["a INT", "m STRUCT<a: INT>, a INT"])
@pytest.mark.parametrize("group", [False, True])
def test_messages_are_nested_as_deep_as_googles_are(library, ddl, group):
    message = message_of(
        'syntax = "proto2"; message M { optional M m = 1; optional int32 a = 2; optional group G = 3 { optional G g = 3; } }'
    )
    columns = parse_schema(ddl)
    records = []
    for depth in (1, 10, MAX_LEVELS - 1, MAX_LEVELS, MAX_LEVELS + 1, 150):
        raw = b""
        for _ in range(depth):
            raw = b"\x1b" + raw + b"\x1c" if group else b"\x0a" + varint(len(raw)) + raw
        records.append(raw)
    rows, is_done = check(library, plan_of(message, columns), columns, records)
    if group:
        assert [row is not None for row in rows] == is_done == [parsed(message, each) is not None for each in records]
    else:
        assert is_done[:4] == [True] * 4  # deeper ones are bytes that no column needs


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def test_a_slice_of_a_batch_is_decoded(library):
    message = message_of("message M { int32 a = 1; string b = 2; }")
    columns = columns_of(message.descriptor)
    records = [google(message)(a=n, b=f"text {n}").SerializeToString() for n in range(20)]
    found = NativeDecoder(library, plan_of(message, columns), list(columns)).decode(exact_binaries(records)[7:15])
    assert found.columns[0].to_pylist() == list(range(7, 15))
    assert found.columns[1].to_pylist() == [f"text {n}" for n in range(7, 15)]
    assert found.is_done.all()
