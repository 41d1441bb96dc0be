"""The isolation level belongs to the checkpoint: with another one a batch that is read again would have other rows."""

from __future__ import annotations

import uuid

import pytest
from confluent_kafka import Producer

from datasources.errors import OffsetError
from datasources.source.checkpoint.offset import Offset
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = pytest.mark.kafka

DEADLINE_S = 30
LEVEL = "kafka__isolation.level"
COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"
ROWTIME = {"watermark__for": "timestamp", "watermark__as": "timestamp"}


def query_of(kafka, topic, level, **options):
    given = {} if level is None else {LEVEL: level}
    return KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **given, **options))


def continued(kafka, topic, level, offset, **options):
    """A new process of a query whose checkpoint holds `offset`."""
    query = query_of(kafka, topic, level, **options)
    query.offset = Offset.from_json(offset.to_json())
    return query


def values(table):
    return [value for value in table.column("value").to_pylist() if value is not None]


def topic_with_an_aborted_record(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a"])
    kafka.produce_transaction(topic, 0, [b"x"], commit=False)
    return topic


@pytest.mark.parametrize("options", [{}, ROWTIME], ids=["plain", "watermark"])
@pytest.mark.parametrize(
    ("before", "now"),
    [(None, COMMITTED), (UNCOMMITTED, COMMITTED), (COMMITTED, None), (COMMITTED, UNCOMMITTED)],
)
def test_another_isolation_level_on_restart_stops_the_query_before_it_reads(kafka, before, now, options):
    topic = topic_with_an_aborted_record(kafka)
    query = query_of(kafka, topic, before, **options)
    query.drain()
    levels = [level or UNCOMMITTED for level in (before, now)]
    with pytest.raises(
        OffsetError, match=r"the isolation level of this query changed .* it was \[{}\] and is \[{}\]".format(*levels)
    ):
        continued(kafka, topic, now, query.offset, **options).batch()


@pytest.mark.parametrize(("before", "now"), [(None, None), (None, UNCOMMITTED), (UNCOMMITTED, None)])
def test_the_same_level_goes_on_named_or_not(kafka, before, now):
    topic = topic_with_an_aborted_record(kafka)
    query = query_of(kafka, topic, before)
    assert values(query.drain()) == [b"a", b"x"]
    kafka.produce(topic, 0, [b"b"])
    assert values(continued(kafka, topic, now, query.offset).drain()) == [b"b"]


@pytest.mark.parametrize("now", [None, COMMITTED])
def test_a_checkpoint_of_an_earlier_version_has_no_level_and_goes_on_with_any(kafka, now):
    topic = topic_with_an_aborted_record(kafka)
    query = query_of(kafka, topic, now)
    query.drain()
    raw = query.offset.to_json()
    assert raw.pop("isolation") == (now or UNCOMMITTED)
    kafka.produce(topic, 0, [b"b"])
    again = continued(kafka, topic, now, Offset.from_json(raw))
    assert values(again.drain()) == [b"b"]
    assert again.offset.to_json()["isolation"] == (now or UNCOMMITTED)


def test_a_change_that_the_user_allows_stays_refused_for_an_open_transaction_ends_the_log_before_what_was_read(kafka):
    """Else the log seems to be truncated, and with failOnDataLoss=false the partition is read twice."""
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a"])
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    producer.produce(topic, b"x", partition=0)
    assert producer.flush(DEADLINE_S) == 0
    query = query_of(kafka, topic, UNCOMMITTED)
    assert values(query.drain()) == [b"a", b"x"]
    accepted = {"watermark__on-change": "continue", "failOnDataLoss": "false"}
    with pytest.raises(OffsetError, match="the isolation level of this query changed"):
        continued(kafka, topic, COMMITTED, query.offset, **accepted).batch()
    producer.abort_transaction(DEADLINE_S)
