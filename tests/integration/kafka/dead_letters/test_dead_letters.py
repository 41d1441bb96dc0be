"""Dead letters on a real broker, without Spark: what is written, once each, whoever reads the range again."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from datasources.errors import OptionError, SourceUnavailable
from datasources.kafka.dead_letters import letter_writer
from datasources.source.checkpoint.offset import Offset
from tests.support.kafka.dead_letters import letters_of, options_of
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_ways import WAYS, use

pytestmark = pytest.mark.kafka

JSON = {"format": "json", "schema": "id BIGINT, ts TIMESTAMP"}
WATERMARK = {"watermark.for": "ts", "watermark.as": "ts"}


def query_of(server: Any, topic: str, dead: str, *kinds: str, offset: Offset | None = None, **changes: str):
    watermark = WATERMARK if "late" in kinds else {}
    given = {"subscribe": topic, **JSON, **watermark, **options_of(dead, *kinds, **changes)}
    return KafkaQuery(scan_of(server.bootstrap_servers, **given), offset=offset)


def order(number: int, second: int = 0) -> bytes:
    return json.dumps({"id": number, "ts": f"2026-01-01T00:00:{second:02}Z"}).encode()


def keys_of(server: Any, dead: str) -> list[str]:
    return sorted(letter.key for letter in letters_of(server.bootstrap_servers, dead))


def write(server: Any, topic: str, *records: dict[str, Any]) -> None:
    with Producer({"bootstrap.servers": server.bootstrap_servers}) as producer:
        for each in records:
            producer.produce(topic, partition=0, **each)
        assert producer.flush(30) == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_bad_record_is_written_as_it_was(kafka, way, monkeypatch):
    use(monkeypatch, way)
    topic, dead = kafka.create_topic(), kafka.create_topic(partitions=3)
    headers = [("a", b"1"), ("a", b""), ("b", None), ("tidemark.topic", b"mine")]
    write(
        kafka,
        topic,
        {"value": order(1), "key": b"k"},
        {"value": b"{", "key": None, "headers": headers, "timestamp": 1_700_000_000_123},
        {"value": b"", "key": b"", "timestamp": 1_700_000_000_124},
        {"value": b"\xff\x00", "key": b"\x00k"},
        {"value": None, "key": b"tombstone"},
    )
    query = query_of(kafka, topic, dead, "bad")
    assert query.drain().column("id").to_pylist() == [1]
    found = {letter.key: letter for letter in letters_of(kafka.bootstrap_servers, dead)}
    assert sorted(found) == [f"{topic}-0-{offset}" for offset in (1, 2, 3)]
    first, second, third = (found[f"{topic}-0-{offset}"] for offset in (1, 2, 3))
    assert (first.value, first.own_key, first.own_headers) == (b"{", None, tuple(headers))
    assert (second.value, second.own_key, second.own_headers) == (b"", b"", ())
    assert (third.value, third.own_key) == (b"\xff\x00", b"\x00k")
    about = {"kind": "bad", "topic": topic, "partition": "0", "offset": "1", "timestamp": "1700000000123"}
    assert {key: value for key, value in first.about.items() if key in about} == about
    assert first.about["timestamp-type"] == "CreateTime"
    assert first.about["reason"].startswith("malformed JSON")
    assert query.planner.totals.counts["dead_letters"] == query.planner.totals.counts["bad_records"] == 3


def test_a_batch_that_is_read_again_writes_nothing_again(kafka):
    topic, dead = kafka.create_topic(), kafka.create_topic()
    kafka.produce(topic, 0, [b"{" if n % 3 == 0 else order(n) for n in range(30)])
    query = query_of(kafka, topic, dead, "bad")
    first = query.batch(rows=10)
    again = query_of(kafka, topic, dead, "bad", offset=query.offset)  # another process, by its checkpoint
    assert again.read(again.offset).equals(first)
    assert query.read(query.offset).equals(first)  # whose producer was fenced
    assert keys_of(kafka, dead) == sorted(f"{topic}-0-{n}" for n in range(0, 10, 3))
    again.drain(rows=7)
    assert Counter(keys_of(kafka, dead)) == Counter(f"{topic}-0-{n}" for n in range(0, 30, 3))


def test_two_attempts_at_a_time_write_each_record_once(kafka, monkeypatch):
    """Each attempt writes a few records in a transaction and is then overtaken by the other."""
    monkeypatch.setattr(letter_writer, "_MAX_RECORDS", 4)
    monkeypatch.setattr(letter_writer, "_FIRST_PAUSE_S", 0.01)
    topic, dead = kafka.create_topic(), kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [b"{"] * 60)
    query = query_of(kafka, topic, dead, "bad")
    end = query.planner.plan(query.offset)
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            query.read(end)
        except BaseException as error:  # noqa: BLE001 - looked at below
            failures.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(keys_of(kafka, dead)) == Counter(f"{topic}-0-{n}" for n in range(60))
    assert failures == []


def test_a_position_of_an_earlier_batch_suppresses_nothing(kafka):
    """A topic that was created again gives out its offsets again; the loss is accepted."""
    topic, dead = kafka.create_topic(), kafka.create_topic()
    kafka.produce(topic, 0, [b"{"] * 20)
    query = query_of(kafka, topic, dead, "bad", failOnDataLoss="false")
    query.drain()
    kafka.recreate_topic(topic)
    kafka.produce(topic, 0, [b"["] * 5)
    restarted = query_of(kafka, topic, dead, "bad", offset=query.offset, failOnDataLoss="false")
    for _ in range(50):
        restarted.drain()
        if len(found := letters_of(kafka.bootstrap_servers, dead)) == 25:
            break
        threading.Event().wait(0.2)
    assert Counter(letter.value for letter in found) == {b"{": 20, b"[": 5}


def test_each_source_writes_its_own(kafka):
    topic, dead = kafka.create_topic(), kafka.create_topic()
    kafka.produce(topic, 0, [b"{", order(1), b"["])
    for _ in range(2):
        query_of(kafka, topic, dead, "bad").drain()
    assert Counter(keys_of(kafka, dead)) == {f"{topic}-0-0": 2, f"{topic}-0-2": 2}


def test_the_record_of_a_late_row_is_written(kafka):
    topic, dead = kafka.create_topic(), kafka.create_topic()
    kafka.produce(topic, 0, [order(0, 10), order(1, 30), order(2, 5), b"{", order(3, 31), order(4, 30)])
    query = query_of(kafka, topic, dead, "bad", "late")
    rows = query.drain()
    assert [n for n in rows.column("id").to_pylist() if n is not None] == [0, 1, 3]
    found = {letter.about["offset"]: letter for letter in letters_of(kafka.bootstrap_servers, dead)}
    assert {offset: letter.about["kind"] for offset, letter in found.items()} == {"2": "late", "3": "bad", "5": "late"}
    assert found["2"].value == order(2, 5)
    assert found["2"].about["reason"] == (
        "the rowtime ts = 2026-01-01T00:00:05.000000 is at or before the row watermark 2026-01-01T00:00:30.000000"
    )
    counts = query.planner.totals
    assert (counts.late_rows, counts.counts["bad_records"], counts.counts["dead_letters"]) == (2, 1, 3)
    assert counts.dead_letters_by_split == {f"{topic}-0": 3}


def test_a_record_of_two_late_rows_is_one_letter(kafka):
    topic, dead = kafka.create_topic(), kafka.create_topic()

    def update(second: int) -> bytes:
        row = {"id": 1, "ts": f"2026-01-01T00:00:{second:02}Z"}
        return json.dumps({"before": row, "after": row, "op": "u"}).encode()

    kafka.produce(topic, 0, [update(30), update(5)])
    behind = {"format": "debezium-json", "watermark.as": "ts - INTERVAL '1' SECOND"}
    query = query_of(kafka, topic, dead, "late", **behind)
    assert sum(n is not None for n in query.drain().column("id").to_pylist()) == 2
    (letter,) = letters_of(kafka.bootstrap_servers, dead)
    assert (letter.about["offset"], letter.value) == ("1", update(5))
    assert letter.about["reason"].endswith("(the first of its 2 late rows)")


def test_a_record_that_is_too_large_is_named_and_nothing_is_lost(kafka):
    topic, dead = kafka.create_topic(), kafka.create_topic(config={"max.message.bytes": "1500"})
    kafka.produce(topic, 0, [b"{" + b"x" * 300] * 8)
    query = query_of(kafka, topic, dead, "bad")
    query.drain()  # together they are larger than the topic takes
    assert len(keys_of(kafka, dead)) == 8
    kafka.produce(topic, 0, [b"{", b"{" + b"x" * 5000])
    with pytest.raises(SourceUnavailable, match=rf"does not take the record {topic}-0-9: .* bytes.*max.message.bytes"):
        query.drain()
    assert len(keys_of(kafka, dead)) == 8


def test_a_topic_that_is_missing_is_an_error_at_start_and_is_not_created(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"{"])
    with pytest.raises(
        OptionError, match=r"'format.dead-letter.topic': .* have no topic 'no-letters'.*Create it first"
    ):
        query_of(kafka, topic, "no-letters", "bad")
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        assert "no-letters" not in admin.list_topics(timeout=30).topics


def test_the_brokers_of_the_source_by_another_name_are_found_out(kafka):
    topic = kafka.create_topic()
    port = kafka.bootstrap_servers.rpartition(":")[2]
    other = {"format.dead-letter.kafka.bootstrap.servers": f"localhost:{port}"}
    with pytest.raises(OptionError, match=rf"'{topic}' is among the source's topics {topic}.*read\s+again"):
        query_of(kafka, topic, topic, "bad", **other)


@pytest.mark.slow
@pytest.mark.long
def test_a_broker_that_hangs_while_letters_are_written_costs_none_and_doubles_none(own_kafka, monkeypatch):
    topic, dead = own_kafka.create_topic(), own_kafka.create_topic()
    own_kafka.produce(topic, 0, [b"{"] * 10)
    short = {"format.dead-letter.kafka.transaction.timeout.ms": "5000", "kafka.socket.timeout.ms": "3000"}
    query = query_of(own_kafka, topic, dead, "bad", **short)
    real = letter_writer.TransactionalProducer.write
    hung = []

    def write_and_hang(self: Any, records: Any, number: Any, note: str = "") -> None:
        if not hung:
            hung.append(True)
            os.killpg(own_kafka.embedded.pid, signal.SIGSTOP)
            threading.Timer(8, os.killpg, (own_kafka.embedded.pid, signal.SIGCONT)).start()
        real(self, records, number, note)

    monkeypatch.setattr(letter_writer.TransactionalProducer, "write", write_and_hang)
    query.drain()
    assert Counter(keys_of(own_kafka, dead)) == Counter(f"{topic}-0-{n}" for n in range(10))
