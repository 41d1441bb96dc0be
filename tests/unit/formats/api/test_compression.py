"""Compressed values in every format: rows are those of the values, bad ones have reasons, keys are left alone."""

from __future__ import annotations

import gzip
import json
import pickle

import pyarrow as pa
import pytest

from datasources.errors import OptionError, RecordError
from datasources.formats.api import compression
from datasources.formats.api.compression import Compression, DecompressingDecoder
from datasources.formats.api.decoder import RecordStatus
from datasources.formats.api.format import DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.kafka.kafka_records import chunk_of, record, source_of


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


COMPRESSED = pytest.mark.parametrize(
    ("name", "compress"), [("gzip", gzip.compress), ("zstd", zstd)], ids=["gzip", "zstd"]
)
SKIP = {"format__on_error": "skip"}


@COMPRESSED
def test_values_are_decompressed_before_they_are_decoded(name, compress):
    source = source_of(schema="id INT, note STRING", format="csv", format__compression=name, **SKIP)
    values = [compress(b"1,a"), compress(b"2"), b"3,c", None, compress(b"")[:5], compress(b"4,d") + compress(b"d")]
    chunk = chunk_of(source, *(record(n, value=value) for n, value in enumerate(values)))
    assert chunk.columns.to_pylist() == [{"id": 1, "note": "a"}, {"id": 4, "note": "dd"}]
    assert (chunk.counts.bad, chunk.counts.null_value) == (3, 1)


@COMPRESSED
def test_the_reason_of_a_bad_record_names_what_is_wrong(name, compress):
    settings = DecoderSettings(schema=parse_schema("id INT"), time_zone="UTC")
    decoder = DecompressingDecoder(FORMATS["json"].decoder(settings), Compression(name), 20)
    decoder = pickle.loads(pickle.dumps(decoder))
    payloads = [
        compress(b'{"id": 1}'),
        b'{"id": 1}',
        None,
        compress(b'{"id":'),
        compress(b'{"id": 1, "x": "abcdefgh"}'),
    ]
    found = decoder.decode(pa.array(payloads, pa.binary()))
    bad = RecordStatus.BAD
    assert found.statuses.tolist() == [RecordStatus.OK, bad, RecordStatus.NULL_VALUE, bad, bad]
    assert found.reasons[1].startswith(f"it is no {name}")
    assert "malformed JSON" in found.reasons[3]
    assert found.reasons[4] == "it has more than 20 bytes decompressed ('format.max-decompressed-bytes')"
    assert decoder.schema == settings.schema
    assert decoder.decode(pa.array(payloads[:1], pa.binary())).statuses is None


def test_the_largest_size_is_an_option():
    options = {"schema": "v BINARY", "format": "raw", "format__compression": "gzip"}
    source = source_of(**options, format__max_decompressed_bytes="3", **SKIP)
    chunk = chunk_of(source, record(0, value=gzip.compress(b"abc")), record(1, value=gzip.compress(b"abcd")), record(2))
    assert chunk.columns.to_pylist() == [{"v": b"abc"}, {"v": None}]
    assert chunk.counts.bad == 1
    with pytest.raises(OptionError, match=r"format\.max-decompressed-bytes"):
        source_of(**options, format__max_decompressed_bytes="0")


def test_keys_are_not_compressed_and_a_tombstone_deletes():
    upsert = {"scan__upsert": "true", "primary_key": "id", "key__format": "json", "value__fields_include": "EXCEPT_KEY"}
    source = source_of(
        {"kind": "row_kind"}, schema="id INT, note STRING", format="json", format__compression="zstd", **upsert, **SKIP
    )
    values = [zstd(b'{"note": "a"}'), b'{"note": "b"}', None]
    chunk = chunk_of(source, *(record(n, key=b'{"id": 1}', value=value) for n, value in enumerate(values)))
    assert chunk.columns.to_pylist() == [
        {"id": 1, "note": "a", "kind": "+U"},
        {"id": 1, "note": None, "kind": "-D"},
    ]
    assert chunk.counts.bad == 1


def test_events_of_debezium_keep_their_two_rows_beside_a_value_that_is_not_compressed():
    event = json.dumps({"before": {"id": 1}, "after": {"id": 2}, "op": "u"}).encode()
    source = source_of(
        {"kind": "row_kind"}, schema="id INT", format="debezium-json", format__compression="gzip", **SKIP
    )
    chunk = chunk_of(source, record(0, value=event), record(1, value=gzip.compress(event)))
    assert chunk.columns.to_pylist() == [{"id": 1, "kind": "-U"}, {"id": 2, "kind": "+U"}]


@pytest.mark.parametrize(
    "options",
    [{}, {"format": "raw", "schema": "key BINARY, value BINARY"}],
    ids=["no schema", "raw columns"],
)
def test_raw_columns_have_the_bytes_of_the_record(options):
    with pytest.raises(OptionError, match=r"'format\.compression' needs 'schema' with the columns of the value"):
        source_of(**options, format__compression="gzip")
    with pytest.raises(OptionError, match=r"'format\.compression' = 'lz4'"):
        source_of(**options, format__compression="lz4")


def test_a_batch_of_values_that_are_too_large_together_is_an_error(monkeypatch):
    monkeypatch.setattr(compression, "MAX_BATCH_BYTES", 100)
    decoder = DecompressingDecoder(
        FORMATS["raw"].decoder(DecoderSettings(schema=parse_schema("v BINARY"))), Compression.GZIP
    )
    values = [gzip.compress(bytes(40))] * 3
    assert decoder.decode(pa.array(values[:2])).columns.num_rows == 2
    with pytest.raises(RecordError, match=r"more than 100 bytes decompressed; lower 'format\.max-decompressed-bytes'"):
        decoder.decode(pa.array(values))
