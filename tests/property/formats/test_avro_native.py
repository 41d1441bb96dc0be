"""Records through the C library: it decodes those that the slow path decodes, to the same values, and no others."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.avro.native_path.native_decoder import NativeDecoder
from datasources.formats.avro.resolution.resolve import resolve
from datasources.formats.avro.resolution.steps import MAX_EMPTY_VALUES, MAX_LEVELS, Plan
from datasources.formats.avro.schema.avro_columns import columns_of
from datasources.formats.avro.slow_path import BadRecord, SlowPathDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.avro_records import Generator, damaged, exact_binaries, parsed, without_logical, written
from tests.support.decoded_values import plain

ALL = settings(deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32)
HEAD = b"\x00\x80\xff\x01\x7f"


def check(library, plan: Plan, columns: pa.Schema, records: list[bytes], wanted: list[str] | None = None) -> list[bool]:
    """Hold both paths against each other; return which records are decoded."""
    fields = [f for f in columns if wanted is None or f.name in wanted]
    found = NativeDecoder(library, plan, fields).decode(exact_binaries(records))
    slow = SlowPathDecoder(plan)
    rows: list[list[object]] = []
    is_good = []
    for raw in records:
        try:
            rows.append(slow.row(raw))
            is_good.append(True)
        except BadRecord:
            rows.append([None] * len(columns))
            is_good.append(False)
    assert found.is_done.tolist() == is_good
    for field, column in zip(fields, found.columns, strict=True):
        column.validate(full=True)
        at = columns.get_field_index(field.name)
        assert plain(column) == plain(pa.array([row[at] for row in rows], field.type))
    framed = NativeDecoder(library, plan, fields, len(HEAD)).decode(exact_binaries([HEAD + raw for raw in records]))
    assert framed.is_done.tolist() == is_good
    assert [plain(column) for column in framed.columns] == [plain(column) for column in found.columns]
    return is_good


def made_with(rng: random.Random) -> tuple[Any, Generator, pa.Schema, Any]:
    """A writer's schema with fields that no column needs, what makes its records, columns, and a reader's schema."""
    made = Generator(rng)
    schema = made.record()
    reader = made.evolved(schema) if rng.random() < 0.5 else None
    columns = columns_of(parsed(reader or schema))
    schema["fields"].insert(rng.randint(0, len(schema["fields"])), made.recursive_field())
    if reader is None:
        columns = pa.schema([f for f in columns if rng.random() < 0.8] or [columns.field(0)])
    return schema, made, columns, reader


@ALL
@given(seed=SEEDS)
def test_damaged_records_of_any_schema(library, seed):
    rng = random.Random(seed)
    schema, made, columns, reader = made_with(rng)
    plan = resolve(parsed(schema), columns, reader and parsed(reader))
    good = [written(without_logical(schema), made.value(schema)) for _ in range(6)]
    records = [each for raw in good for each in (raw, *(damaged(rng, raw) for _ in range(12)))]
    assert all(check(library, plan, columns, records)[::13])


@ALL
@given(seed=SEEDS)
def test_the_beginning_of_a_record_is_bad(library, seed):
    rng = random.Random(seed)
    schema, made, columns, reader = made_with(rng)
    plan = resolve(parsed(schema), columns, reader and parsed(reader))
    raw = written(without_logical(schema), made.value(schema))
    lengths = range(len(raw))[:: 1 + len(raw) // 60]
    beginnings = [raw[:length] for length in {*lengths, *range(len(raw))[-8:]}]
    mixed = [each for beginning in beginnings for each in (raw, beginning)]
    assert check(library, plan, columns, [*mixed, raw]) == [True, False] * len(beginnings) + [True]
    for beginning in beginnings[:: 1 + len(beginnings) // 10]:  # one by one, each at the end of its buffer
        check(library, plan, columns, [beginning])


@ALL
@given(seed=SEEDS)
def test_a_record_is_bad_whatever_is_wanted(library, seed):
    rng = random.Random(seed)
    schema, made, columns, reader = made_with(rng)
    plan = resolve(parsed(schema), columns, reader and parsed(reader))
    raw = written(without_logical(schema), made.value(schema))
    records = [raw, *(damaged(rng, raw) for _ in range(30))]
    every = check(library, plan, columns, records)
    for wanted in ([], [name for name in columns.names if rng.random() < 0.5]):
        assert check(library, plan, columns, records, wanted) == every


@ALL
@given(records=st.lists(st.binary(max_size=40), max_size=30), seed=st.integers(0, 200))
def test_any_bytes(library, records, seed):
    schema, _, columns, reader = made_with(random.Random(seed))
    check(library, resolve(parsed(schema), columns, reader and parsed(reader)), columns, records)


def record_of(*types: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": f"f{n}", "type": each} for n, each in enumerate(types)]}


def check_values(library, schema: Any, values: list[Any], columns: pa.Schema | None = None) -> list[bool]:
    columns = columns_of(parsed(schema)) if columns is None else columns
    records = [written(without_logical(schema), value) for value in values]
    return check(library, resolve(parsed(schema), columns), columns, records)


@pytest.mark.parametrize("sizes", [(5_000,), (0, 1, 63, 64, 65, 300, 7), (1,) * 500, (1_000,) * 5])
def test_arrays_and_maps_of_any_size_fit(library, sizes):
    nested = {"type": "array", "items": {"type": "array", "items": ["null", "string"]}}
    schema = record_of(
        {"type": "array", "items": "int"}, {"type": "map", "values": {"type": "array", "items": "string"}}, nested
    )
    values = [
        {
            "f0": list(range(n)),
            "f1": {f"k{i}": [f"é{i}"] for i in range(n)},
            "f2": [[("string", str(i)), ("null", None)] for i in range(n)],
        }
        for n in sizes
    ]
    assert all(check_values(library, schema, values))


def test_texts_that_are_longer_than_the_record_fit(library):
    long = "s" * 500
    enum = {"type": "enum", "name": "E", "symbols": ["a", long]}
    uuid = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
    schema = record_of({"type": "array", "items": enum}, {"type": "array", "items": uuid}, "string")
    values = [{"f0": [long, "a"] * n, "f1": [bytes(range(16))] * n, "f2": "x" * n} for n in range(40)]
    assert all(check_values(library, schema, values))


def test_defaults_that_are_longer_than_the_record_fit(library):
    schema = record_of("int")
    reader = record_of("int")
    reader["fields"] += [
        {"name": "t", "type": "string", "default": "text " * 100},
        {"name": "a", "type": {"type": "array", "items": ["null", "string"]}, "default": [None, "x" * 20] * 50},
        {"name": "n", "type": {"type": "array", "items": "null"}, "default": [None] * 3},
    ]
    columns = parse_schema("f0 INT NOT NULL, t STRING NOT NULL, a ARRAY<STRING> NOT NULL")
    plan = resolve(parsed(schema), columns, parsed(reader))
    assert all(check(library, plan, columns, [b"\2"] * 300))


NODE = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}


def test_fields_that_contain_themselves_are_skipped_up_to_a_depth(library):
    schema, columns = record_of("int", NODE), parse_schema("f0 INT")
    records = [b"\2" + b"\2" * depth + b"\0" for depth in (0, 1, 10, MAX_LEVELS - 2, MAX_LEVELS - 1, 100_000)]
    assert check(library, resolve(parsed(schema), columns), columns, records) == [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    "items", ["null", {"type": "record", "name": "Q", "fields": []}, {"type": "fixed", "name": "F", "size": 0}]
)
@pytest.mark.parametrize("ddl", ["f1 INT", "f0 ARRAY<BINARY>, f1 INT"])
def test_items_without_bytes_are_bounded(library, items, ddl):
    if "f0" in ddl and items != "null" and items["type"] == "record":
        ddl = ddl.replace("BINARY", "STRUCT<>")
    schema, columns = record_of({"type": "array", "items": items}, "int"), parse_schema(ddl)
    is_twice = items != "null" and items["type"] == "record"  # the record itself, and as an item
    limit = MAX_EMPTY_VALUES // (2 if is_twice else 1)
    counts = [0, 1, limit, limit + 1, 2**60, -(2**60)]
    records = [number(n) + (b"\0" if n < 0 else b"") + (b"\0" if n else b"") + b"\2" for n in counts]
    assert check(library, resolve(parsed(schema), columns), columns, records) == [True] * 3 + [False] * 3


def number(value: int) -> bytes:
    return written({"type": "record", "name": "L", "fields": [{"name": "x", "type": "long"}]}, {"x": value})


def test_records_without_bytes_that_double_themselves_are_bounded(library):
    """A chain of records, each with the one before twice, has 2^n values and no bytes."""
    made = [{"type": "record", "name": "R0", "fields": []}]
    for n in range(1, 40):
        fields = [{"name": name, "type": f"R{n - 1}"} for name in "ab"]
        made.append({"type": "record", "name": f"R{n}", "fields": fields})
    schema, columns = record_of(*made, "int"), parse_schema("f40 INT")
    assert check(library, resolve(parsed(schema), columns), columns, [b"\2"]) == [False]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"x",
        "é".encode(),
        "日本😀".encode(),
        b"\xed\x9f\xbf",
        b"\xee\x80\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\xc2\x80",
        b"\xe0\xa0\x80",
        b"\xf0\x90\x80\x80",
    ],
)
@pytest.mark.parametrize("length", [0, 5, 8, 20])
def test_texts_are_utf8(library, text, length):
    schema, columns = record_of("string"), parse_schema("f0 STRING")
    plan = resolve(parsed(schema), columns)
    whole = b"a" * length + text
    records = [number(len(raw)) + raw for raw in (whole, *(whole[:-n] for n in range(1, len(text))), whole + b"a")]
    assert check(library, plan, columns, records)[0]


@pytest.mark.parametrize(
    "text",
    [
        b"\x80",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xed\xa0\x80",
        b"\xe0\x9f\xbf",
        b"\xf0\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xff",
        b"\xc3a",
    ],
)
def test_other_texts_are_bad(library, text):
    schema, columns = record_of("string"), parse_schema("f0 STRING")
    records = [number(len(raw)) + raw for raw in (text, b"abcdefgh" + text, b"abcdefgh" * 2 + text + b"x")]
    assert not any(check(library, resolve(parsed(schema), columns), columns, records))


def test_a_payload_that_is_shorter_than_what_is_skipped_is_left(library):
    schema, columns = {"type": "record", "name": "Empty", "fields": []}, parse_schema("x INT")
    plan = resolve(parsed(schema), columns)
    payloads = [HEAD[:size] for size in range(len(HEAD) + 1)] + [HEAD + b"\0"]
    found = NativeDecoder(library, plan, list(columns), len(HEAD)).decode(exact_binaries(payloads))
    assert found.is_done.tolist() == [payload == HEAD for payload in payloads]


def test_a_slice_of_a_batch_is_decoded(library):
    schema, columns = record_of("int", "string"), parse_schema("f0 INT, f1 STRING")
    records = [written(schema, {"f0": n, "f1": f"text {n}"}) for n in range(20)]
    found = NativeDecoder(library, resolve(parsed(schema), columns), list(columns)).decode(
        exact_binaries(records)[7:15]
    )
    assert found.columns[0].to_pylist() == list(range(7, 15))
    assert found.columns[1].to_pylist() == [f"text {n}" for n in range(7, 15)]
    assert np.all(found.is_done)
