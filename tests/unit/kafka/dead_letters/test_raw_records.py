"""What is written of a record: the record as it was, and what it is about."""

from __future__ import annotations

import pytest

from datasources.kafka.client.message_client import MessageRecords
from datasources.kafka.client.record_columns import RecordFields
from datasources.kafka.dead_letters.raw_records import FIELDS, HEADERS
from datasources.kafka.reader.fetcher import Fetched
from datasources.kafka.reader.record_chunks import ChunkMaker
from datasources.kafka.source import KafkaSource
from datasources.source.api.dead_letters import DeadLetter, DeadLetterKind, DeadLetterScope
from datasources.source.api.split import SplitId
from tests.support.kafka.kafka_records import SESSION, chunk_of, record, source_of

JSON = {"format": "json", "schema": "id BIGINT, name STRING"}
WRITTEN = {**JSON, "format__on_error": "dead-letter", "format__dead_letter__topic": "dead"}
SCOPE = DeadLetterScope("s", 1)


def chunk_with_records(*messages, **options):
    """The chunk of a reader that writes dead letters."""
    how = source_of(**{**WRITTEN, **options}).reader_factory().with_dead_letters(SCOPE).chunk_format(None)
    fetched = Fetched(topic="orders", partition=3, records=MessageRecords(list(messages)))
    return next(iter(ChunkMaker(how).chunks([fetched])))


def outgoing(message, reason="why", kind=DeadLetterKind.BAD):
    return chunk_with_records(message).records.outgoing(DeadLetter(0, kind, reason))


def test_the_key_names_the_record_and_the_value_stays_as_it_was():
    found = outgoing(record(17, b"k", b"\xff{"))
    assert (found.key, found.value) == (b"orders-3-17", b"\xff{")
    assert dict(found.headers) == {
        "tidemark.kind": b"bad",
        "tidemark.reason": b"why",
        "tidemark.topic": b"orders",
        "tidemark.partition": b"3",
        "tidemark.offset": b"17",
        "tidemark.timestamp": b"1017",
        "tidemark.timestamp-type": b"CreateTime",
        "tidemark.key": b"k",
    }


@pytest.mark.parametrize("key", [None, b"", b"\x00\xff"])
@pytest.mark.parametrize("value", [None, b"", b"\x00\xff"])
def test_nothing_and_an_empty_text_are_not_the_same(key, value):
    found = outgoing(record(1, key, value))
    assert (found.value, found.headers[-1]) == (value, ("tidemark.key", key))


def test_headers_of_the_record_come_first_in_their_order():
    own = [("a", b"1"), ("a", None), ("tidemark.key", b"mine"), ("", b"")]
    found = outgoing(record(1, b"k", b"{", headers=own))
    assert list(found.headers[:4]) == own
    assert tuple(name for name, _ in found.headers[4:]) == HEADERS


def test_a_record_without_a_timestamp_has_none():
    found = dict(outgoing(record(1, b"k", b"{", timestamp=(0, 0))).headers)
    assert (found["tidemark.timestamp"], found["tidemark.timestamp-type"]) == (None, b"NoTimestampType")


def test_a_reason_is_bounded_and_any_text():
    found = dict(outgoing(record(1, b"k", b"{"), reason="\ud800" + "é" * 5_000).headers)
    assert found["tidemark.reason"] == b"?" + "é".encode() * 1_999


def test_bad_records_are_known_with_their_reasons_and_rows_with_their_records():
    chunk = chunk_with_records(
        record(10, None, {"id": 1}), record(12, None, b"{"), record(13, None, None), record(15, None, {"id": 2})
    )
    assert list(chunk.records.bad) == [1]
    assert chunk.records.bad[1].startswith("malformed JSON")
    assert [chunk.records.record_of(row) for row in range(2)] == [0, 3]
    assert [chunk.records.position(number) for number in range(4)] == [10, 12, 13, 15]


def test_a_key_that_is_bad_makes_a_dead_letter():
    keyed = {"key__format": "json", "key__fields": "id"}
    chunk = chunk_with_records(record(10, b"{", {"id": 1}), **keyed)
    assert list(chunk.records.bad) == [0]
    assert chunk.records.bad[0].startswith("its key: ")


@pytest.mark.parametrize("policy", ["skip", "null"])
def test_bad_records_of_another_policy_are_not_written(policy):
    source = KafkaSource.create(
        {
            "kafka.bootstrap.servers": "broker:9092",
            "subscribe": "orders",
            "format": "json",
            "schema": "id BIGINT",
            "format.on-error": policy,
            "watermark.late-rows": "dead-letter",
            "format.dead-letter.topic": "dead",
        },
        SESSION,
    )
    format_ = source.reader_factory().with_dead_letters(SCOPE).chunk_format(None)
    fetched = Fetched(topic="orders", partition=3, records=MessageRecords([record(1, None, b"{")]))
    assert next(iter(ChunkMaker(format_).chunks([fetched]))).records.bad == {}


def test_a_reader_for_watermarks_keeps_no_records():
    source = source_of(**WRITTEN)
    assert chunk_of(source, record(1, None, {"id": 1})).records is None
    assert source_of(**JSON).reader_factory().with_dead_letters(SCOPE).chunk_format(None).keeps_records is False


def test_all_fields_of_records_are_fetched_only_for_dead_letters():
    factory = source_of(**WRITTEN).reader_factory()
    assert ChunkMaker(factory.chunk_format(None)).fields == RecordFields.VALUE
    assert ChunkMaker(factory.with_dead_letters(SCOPE).chunk_format(None)).fields == FIELDS


def test_a_batch_without_an_id_is_a_bug_and_not_silent():
    with pytest.raises(AssertionError, match="a batch without an id"):
        source_of(**WRITTEN).reader_factory().open().dead_letter_writer(SplitId("orders-3"))
