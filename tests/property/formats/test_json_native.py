"""What the C library decodes of JSON, the slow path decodes to the same row; it may leave documents, never err."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.formats.json.native_path.native_decoder import NativeDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.format_documents import batch_of, hostile_documents
from tests.support.native_documents import check as check_schema
from tests.support.native_documents import decoded

DDL = (
    "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP NOT NULL, a TINYINT, b SMALLINT, c INT, g BOOLEAN, "
    "n TIMESTAMP_NTZ, d DATE"
)
SCHEMA = parse_schema(DDL)
UNUSUAL_BYTES = b'0123456789"\\{}[],:.-+eETZ tnf\x00\x1f \xc3'
PLAIN = (
    b'{"user":123,"item":"abc-17","price":12.5,"ts":"2026-01-01T00:00:00.123Z","a":-7,"b":300,"c":70000,"g":true,'
    b'"n":"2026-07-01 01:02:03","d":"2026-02-28","other":"x"}'
)
WAYS_TO_BE_PLAIN = [
    b'{"ts":0}',
    b' { "ts" : "2026-01-01T00:00:00Z" , "item" : null } \n',
    b'{"g":false,"ts":-5,"item":17,"user":-999999999999999999}',
    b'{"item":true,"ts":"1000-01-01 23:59:59.999999-17:59","price":-0.0001}',
    b'{"ts":1,"price":1e22,"a":99,"b":-9999,"c":999999999,"x":1.5e-3,"y":null,"z":false,"x":""}',
    '{"ts":1,"item":"é日本😀","ü":"é"}'.encode(),
    b'{"ts":2,"item":"a\\"\\\\\\/\\b\\f\\n\\r\\tb\\u0000\\u00e9\\u20ac\\ud83d\\ude00 0123456789abcdef \\uFFFF"}',
    b'{"ts":0,"other":{"x":[1,{"y\\n":"\\ud83d"},[],{}],"x":null},"price":0.12345678901234567,"z":[[[]]]}',
    b'{"ts":0,"price":-0.0,"x":1e400,"y":123456789012345678901234567890}',
    b'{"ts":0,"price":-0,"user":1234567890123456789,"c":2147483647,"a":-128,"b":-32768}',
    b'{"ts":0,"user":-9223372036854775808,"c":-2147483648,"d":"2024-02-29","n":"2000-02-29T00:00:00"}',
    b'{"ts":"9999-12-31T23:59:59+17:59","d":"1999-12-31","n":"1582-10-10T00:00:00"}',
]


def rows_of(columns: list[pa.Array]) -> list[list[Any]]:
    return [list(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]


def check(library: Any, documents: list[bytes], zone: str | None = "UTC") -> int:
    """Hold what is decoded against the slow path; return how many documents were."""
    return int(check_schema(library, SCHEMA, documents, zone).sum())


def test_plain_documents_are_decoded_here(library):
    assert check(library, [PLAIN, *WAYS_TO_BE_PLAIN]) == 1 + len(WAYS_TO_BE_PLAIN)
    wanted = [SCHEMA.field(name) for name in ("n", "user")]
    (row,) = rows_of(decoded(library, SCHEMA, [PLAIN], None, wanted).columns)
    assert row == [datetime(2026, 7, 1, 1, 2, 3), 123]


@pytest.mark.parametrize(
    "document",
    [
        b'{"ts":0,"ts":0}',
        b'{"item":"x"}',
        b'{"ts":null}',
        b'{"ts":0,"item":"a\\ud83d"}',
        b'{"ts":0,"item":"a\\ude00"}',
        b'{"ts":0,"item":"a\\ud83d\\ud83d"}',
        b'{"ts":0,"item":"a\\u004"}',
        b'{"ts":0,"item":"a\\x"}',
        b'{"ts":0,"item":"a\tb"}',
        b'{"ts":0,"item":"a',
        b'{"ts":0,"item":{"a":1}}',
        b'{"ts":0,"item":1.5}',
        b'{"ts":0,"other":{"x":1}',
        b'{"ts":0,"other":{"x":01}}',
        b'{"ts":0,"other":[1,]}',
        b'{"ts":0,"other":{"x":1,}}',
        b'{"ts":0,"other":[1}}',
        b'{"ts":0,"other":"\\q"}',
        b'{"ts":0,"\\u006fther":1}',
        b'{"ts":0,"price":0.12345678901234567891}',
        b'{"ts":0,"price":1e400}',
        b'{"ts":0,"price":1e-40}',
        b'{"ts":0,"price":NaN}',
        b'{"ts":0,"user":9223372036854775808}',
        b'{"ts":0,"user":-9223372036854775809}',
        b'{"ts":0,"a":128}',
        b'{"ts":0,"c":2147483648}',
        b'{"ts":0,"user":-0}',
        b'{"ts":0,"d":"2023-02-29"}',
        b'{"ts":0,"d":"1900-02-29"}',
        b'{"ts":9223372036854}',
        b'{"ts":0} {',
        b'{"ts":0,}',
        b'{"ts":0,"' + b"x" * 2_000 + b'":1}',
        b"[]",
        b"",
    ],
)
def test_other_documents_are_left(library, document):
    assert check(library, [PLAIN, document, PLAIN]) == 2


def test_local_times_are_left_where_no_zone_is_known(library):
    local = PLAIN.replace(b".123Z", b"")
    assert [check(library, [local], zone) for zone in ("UTC", "Europe/Berlin", "-03:30", None)] == [1, 1, 1, 0]


@pytest.mark.parametrize("at", range(len("2026-01-01T00:00:00.123Z")))
def test_any_character_at_any_place_of_a_time(library, at):
    """Between two documents of the date that is remembered."""
    time = "2026-01-01T00:00:00.123Z"
    changed = [time[:at] + chr(code) + time[at + 1 :] for code in (*range(0x20, 0x7F), 0xB0, 0x3B0)]
    documents = [b'{"ts":"%s"}' % each.encode() for each in changed if '"' not in each]
    between = [document for each in documents for document in (each, b'{"ts":"2026-01-01 01:00:00Z"}')]
    assert check(library, between) > len(documents)


def test_names_that_json_writes_with_an_escape_are_left(library):
    names = ['a"b', "a\\b", "a\nb", "ts", "t", "ts2", "n" * 1_000, "m" * 1_001]
    schema = pa.schema([pa.field(name, pa.int64()) for name in names])
    documents = [b'{"%s":1}' % name.encode() for name in names] + [b'{"a\\"b":1}', b'{"a\\\\b":1,"t":2}']
    found = decoded(library, schema, documents, None, list(schema))
    assert np.flatnonzero(found.is_done).tolist() == [3, 4, 5, 6]
    assert [rows_of(found.columns)[row].index(1) for row in (3, 4, 5, 6)] == [3, 4, 5, 6]


@pytest.mark.parametrize("size", range(40))
def test_texts_of_any_size_at_the_end_of_all_documents(library, size):
    documents = [b'{"ts":0,"item":"%s"}' % (b"abcdefgh" * 5)[: size - shift] for shift in range(min(size, 4) + 1)]
    assert check(library, documents) == len(documents)
    assert check(library, [b'{"item":"%s","ts":0}' % (b"x" * size)] * 3) == 3


def test_a_slice_of_texts_and_nulls_among_them(library):
    texts = pa.array([None, PLAIN.decode(), None, '{"ts":1,"item":"y"}', "{", None]).slice(1, 4)
    wanted = [SCHEMA.field(name) for name in ("item", "user", "g")]
    found = NativeDecoder(library, SCHEMA, wanted, None).decode(texts)
    assert found.is_done.tolist() == [True, False, True, False]
    assert rows_of(found.columns) == [["abc-17", 123, True], [None] * 3, ["y", None, None], [None] * 3]


def test_without_a_wanted_column_documents_are_only_validated(library):
    found = decoded(library, SCHEMA, [PLAIN, b"{}"], None, [])
    assert (found.columns, found.is_done.tolist()) == ([], [True, False])


def test_every_beginning_of_a_document_is_left(library):
    assert check(library, [PLAIN[:length] for length in range(len(PLAIN))]) == 0
    for document in (PLAIN, *WAYS_TO_BE_PLAIN):  # one by one, each at the end of its buffer
        for length in range(len(document)):
            check(library, [document[:length]])


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(list(UNUSUAL_BYTES))), max_size=4))
def test_a_damaged_document_is_left_or_means_the_same(library, changes):
    damaged = []
    for document in (PLAIN, *WAYS_TO_BE_PLAIN):
        changed = bytearray(document)
        for at, byte in changes:
            changed[at % len(changed)] = byte
        damaged.append(bytes(changed))
    check(library, damaged)


@given(seed=st.integers(0, 2**32), zone=st.sampled_from(["UTC", "Europe/Berlin", None]))
def test_documents_of_all_degrees_of_niceness(library, seed, zone):
    check(library, [each for each in batch_of(random.Random(seed), DDL, 80) if each is not None], zone)


def test_hostile_documents(library):
    check(library, [PLAIN, *hostile_documents()])
