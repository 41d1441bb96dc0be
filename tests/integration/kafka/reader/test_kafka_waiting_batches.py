"""minOffsetsPerTrigger and maxTriggerDelay on a real topic: what waits, what a new process does, what is read again."""

from __future__ import annotations

import pytest

from datasources.source.checkpoint.offset import Offset
from tests.support.kafka.kafka_scan import KafkaQuery, manual_clock, scan_of

pytestmark = pytest.mark.kafka

WAITS = {"minOffsetsPerTrigger": "3", "maxTriggerDelay": "10 min"}
ROWTIME = {"watermark__for": "timestamp", "watermark__as": "timestamp", "scan__watermark__idle-timeout": "1 min"}
BASE = 1_760_000_000_000
MINUTE_US = 60_000_000
both_kinds = pytest.mark.parametrize("options", [{}, ROWTIME], ids=["plain", "watermark"])


def query_of(kafka, topic, clock, **options):
    return KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **WAITS, **options), clock=clock)


def values(table):
    return sorted(value for value in table.column("value").to_pylist() if value is not None)


def at(*minutes):
    return [(None, b"%d" % minute, BASE + minute * 60_000) for minute in minutes]


@both_kinds
def test_rows_wait_for_more_or_for_the_longest_delay(kafka, options):
    topic, clock = kafka.create_topic(partitions=2), manual_clock()
    query = query_of(kafka, topic, clock, **options)
    kafka.produce(topic, 0, at(0))
    assert values(query.drain()) == [b"0"]  # what is there when a process begins does not wait
    kafka.produce(topic, 0, at(1))
    kafka.produce(topic, 1, at(1))
    assert values(query.drain()) == []
    kafka.produce(topic, 1, at(2))
    assert values(query.drain()) == [b"1", b"1", b"2"]
    kafka.produce(topic, 0, at(3))
    clock.advance_us(9 * MINUTE_US)
    assert values(query.drain()) == []
    clock.advance_us(MINUTE_US)
    assert values(query.drain()) == [b"3"]


@both_kinds
def test_a_planned_batch_is_read_again_by_a_new_process_and_then_its_first_planning_takes_what_is_there(kafka, options):
    topic, clock = kafka.create_topic(), manual_clock()
    kafka.produce(topic, 0, at(0, 1, 2))
    query = query_of(kafka, topic, clock, **options)
    first = query.batch()
    kafka.produce(topic, 0, at(3))
    again = query_of(kafka, topic, clock, **options)
    again.offset = Offset.from_json(query.offset.to_json())
    assert again.read(again.offset).equals(first)
    assert values(again.drain()) == [b"3"]


def test_partitions_whose_rows_wait_hold_the_watermark_and_are_not_idle(kafka):
    topic, clock = kafka.create_topic(partitions=2), manual_clock()
    kafka.produce(topic, 0, at(10))
    kafka.produce(topic, 1, at(10))
    query = query_of(kafka, topic, clock, **ROWTIME)
    query.drain()
    kafka.produce(topic, 0, at(11))
    clock.advance_us(5 * MINUTE_US)
    query.drain()
    shown = query.planner.table(query.offset, max_splits=2)["splits"]
    assert [row["status"] for row in shown] == ["active", "idle"]
    kafka.produce(topic, 1, at(30, 40))
    table = query.drain()
    assert values(table) == [b"11", b"30", b"40"]
    late = [
        value
        for value, row_watermark, rowtime in zip(
            *(table.column(name).to_pylist() for name in ("value", "_watermark", "timestamp")), strict=True
        )
        if value is not None and rowtime < row_watermark
    ]
    assert late == []


def test_available_now_reads_what_was_there_although_it_is_less(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, at(0, 1, 2, 3))
    query = query_of(kafka, topic, manual_clock())
    query.planner.limit_to_available_now()
    assert [values(query.batch(3)), values(query.batch(3)), query.batch(3)] == [[b"0", b"1", b"2"], [b"3"], None]
