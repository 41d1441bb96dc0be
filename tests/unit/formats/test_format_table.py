"""A format is one object in one table: everything else about it follows from there."""

from __future__ import annotations

import dataclasses
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.format import ColumnsRequest, DecoderSettings, Format
from datasources.formats.format_table import DEFAULT_FORMAT, FORMATS
from datasources.kafka.record.record_options import RecordOptions
from datasources.options import render_options
from tests.support.kafka.kafka_records import chunk_of, record, source_of


class LengthDecoder:
    """One INT column: the number of bytes of a payload. An empty payload is bad."""

    def __init__(self, settings: DecoderSettings) -> None:
        self.schema = settings.schema

    def decode(self, values: pa.Array) -> Decoded:
        sizes = [None if value is None else len(value) for value in values.to_pylist()]
        statuses = np.array(
            [{None: RecordStatus.NULL_VALUE, 0: RecordStatus.BAD}.get(n, RecordStatus.OK) for n in sizes]
        )
        column = pa.array([n or None for n in sizes], self.schema.types[0])
        return Decoded(
            columns=pa.RecordBatch.from_arrays([column], schema=self.schema),
            statuses=statuses.astype(np.uint8) if statuses.any() else None,
            reasons={row: "it is empty" for row, n in enumerate(sizes) if n == 0},
        )


def check_lengths(settings: DecoderSettings) -> None:
    if settings.schema.types != [pa.int32()]:
        raise SchemaError("the format 'lengths' gives one INT column")


def columns_of_lengths(request: ColumnsRequest) -> pa.Schema:
    return pa.schema([pa.field(f"size_of_{request.subject}".replace("-", "_"), pa.int32())])


LENGTHS = Format(
    name="lengths",
    description="`lengths`: bytes.",
    check=check_lengths,
    decoder=LengthDecoder,
    columns=columns_of_lengths,
)


@pytest.fixture(autouse=True)
def toy_format(monkeypatch):
    monkeypatch.setitem(FORMATS, LENGTHS.name, LENGTHS)


def test_a_new_format_reads_values():
    source = source_of({"at": "offset"}, schema="size INT", format="lengths", format__on_error="skip")
    chunk = chunk_of(source, record(5, value=b"abc"), record(6, value=b""), record(7), record(8, value=b"z"))
    assert chunk.columns.to_pylist() == [{"size": 3, "at": 5}, {"size": 1, "at": 8}]
    assert (chunk.counts.bad, chunk.counts.null_value) == (1, 1)


def test_a_new_format_may_find_its_columns():
    chunk = chunk_of(source_of(format="lengths"), record(5, value=b"abc"))
    assert chunk.columns.to_pylist() == [{"size_of_orders_value": 3}]


FOUND = {"format": "lengths", "key__format": "lengths"}
EXCEPT_KEY = {**FOUND, "value__fields_include": "EXCEPT_KEY"}


def test_columns_that_a_format_finds_are_those_of_values_if_these_contain_the_key():
    chunk = chunk_of(source_of(**FOUND, key__fields="size_of_orders_value"), record(5, key=b"a", value=b"abc"))
    assert chunk.columns.to_pylist() == [{"size_of_orders_value": 3}]
    with pytest.raises(OptionError, match="'key.fields' names 'size', which is no column"):
        source_of(**FOUND, key__fields="size")


def test_columns_of_keys_are_found_where_values_do_not_contain_them():
    source = source_of(**EXCEPT_KEY, key__fields="size_of_orders_key")
    found = chunk_of(source, record(5, key=b"a", value=b"abc")).columns
    assert found.to_pylist() == [{"size_of_orders_key": 1, "size_of_orders_value": 3}]
    upsert = {"scan__upsert": "true", "primary_key": "k_size_of_orders_key", "key__fields_prefix": "k_"}
    source = source_of({"kind": "row_kind"}, **EXCEPT_KEY, **upsert)
    found = chunk_of(source, record(5, key=b"a")).columns
    assert found.to_pylist() == [{"k_size_of_orders_key": 1, "size_of_orders_value": None, "kind": "-D"}]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"key__fields": "size_of_orders_value"}, "in the key are 'size_of_orders_key': name these, or declare"),
        ({}, "'key.format' = 'lengths' needs 'key.fields'"),
        ({"key__format": "raw", "key__fields": "k"}, "needs 'schema': the format 'raw' of the keys finds no columns"),
    ],
)
def test_columns_of_keys_that_are_not_found_are_refused(options, why):
    with pytest.raises(OptionError, match=why):
        source_of(**{**EXCEPT_KEY, **options})


def test_a_column_of_key_and_value_needs_a_prefix(monkeypatch):
    alike = dataclasses.replace(LENGTHS, columns=lambda _: pa.schema([pa.field("size", pa.int32())]))
    monkeypatch.setitem(FORMATS, LENGTHS.name, alike)
    with pytest.raises(OptionError, match="key and value both have the columns 'size': set 'key.fields-prefix'"):
        source_of(**EXCEPT_KEY, key__fields="size")
    chunk = chunk_of(
        source_of(**EXCEPT_KEY, key__fields="k_size", key__fields_prefix="k_"), record(0, key=b"a", value=b"bc")
    )
    assert chunk.columns.to_pylist() == [{"k_size": 1, "size": 2}]


def test_a_new_format_reads_keys_beside_another_one():
    options = {"format": "json", "key__format": "lengths", "key__fields": "size", "value__fields_include": "EXCEPT_KEY"}
    source = source_of(schema="id BIGINT, size INT", **options)
    chunk = chunk_of(source, record(0, key=b"four", value={"id": 1}))
    assert chunk.columns.to_pylist() == [{"id": 1, "size": 4}]


def test_a_new_format_checks_its_columns_and_has_a_name_in_messages_and_documentation():
    with pytest.raises(SchemaError, match="gives one INT column"):
        source_of(schema="size BIGINT", format="lengths")
    with pytest.raises(OptionError, match=", ".join(f"'{name}'" for name in FORMATS)):
        source_of(schema="size INT", format="orc")
    with pytest.raises(OptionError, match="option 'format' = 'json' needs 'schema'"):
        source_of(format="json")
    shown = {key: kind for key, kind, _, _ in render_options(RecordOptions)}
    assert shown["format"].endswith("lengths")
    assert shown["key.format"].endswith("lengths")


def test_a_format_without_keys_is_no_key_format():
    with pytest.raises(OptionError, match="'key.format' = 'debezium-json': there is no such format"):
        source_of(schema="id INT", format="json", key__format="debezium-json", key__fields="id")


@pytest.mark.parametrize("name", ["raw", "json", "debezium-json"])
def test_a_format_survives_pickling_and_stays_equal_to_itself(name):
    copy = pickle.loads(pickle.dumps(FORMATS[name]))
    assert (copy, hash(copy)) == (FORMATS[name], hash(FORMATS[name]))
    assert (copy.options, copy.metadata, copy.is_raw) == (FORMATS[name].options, FORMATS[name].metadata, name == "raw")


def test_the_raw_format_is_the_default():
    assert DEFAULT_FORMAT is FORMATS["raw"]


def test_a_format_opens_its_own_decoder():
    schema = pa.schema([("id", pa.int64())])
    event = {"before": None, "after": {"id": 2}, "op": "c"}
    payloads = {"raw": (2).to_bytes(8, "big"), "json": b'{"id": 2}', "debezium-json": json.dumps(event).encode()}
    for name, payload in payloads.items():
        decoded = FORMATS[name].decoder(DecoderSettings(schema=schema, time_zone="UTC")).decode(pa.array([payload]))
        assert decoded.columns.to_pylist() == [{"id": 2}], name
