"""A topic to which the rows of a query are appended, once each."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from datasources.errors import DataLossError, SourceUnavailable, SqlError
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.producer import transactions
from datasources.kafka.producer.producers import open_producer, send
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.kafka.batch_transaction import BatchTransaction
from datasources.sinks.kafka.kafka_sink import KafkaSink
from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.mysql.mysql_killed_copies import run_with_kills
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("operator_queries")]

QUERY = "6a0c0cf6-5a7c-4a0a-9a4f-3d7ad2b8a001"
EXACTLY_ONCE = {"sink.delivery-guarantee": "exactly-once"}


def options(server: KafkaServer, topic: str, changes: Mapping[str, str]) -> dict[str, str]:
    return {"properties.bootstrap.servers": server.bootstrap_servers, "topic": topic, "format": "json", **changes}


def kafka_table(server: KafkaServer, topic: str, name: str, columns: str, /, **changes: str) -> str:
    given = {"connector": "kafka", "scan.startup.mode": "earliest-offset", **options(server, topic, changes)}
    return f"CREATE TABLE {name} ({columns}) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in given.items())})"


def committed_values(server: KafkaServer, topic: str) -> list[dict[str, Any]]:
    """Read a topic of one partition as a reader of committed records does."""
    settings = {"bootstrap.servers": server.bootstrap_servers, "group.id": "test", "enable.partition.eof": "true"}
    consumer, values = Consumer({**settings, "isolation.level": "read_committed"}), []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while True:
            message = consumer.poll(30)
            assert message is not None
            if message.error() is not None:
                assert message.error().name() == "_PARTITION_EOF"
                return values
            values.append(json.loads(message.value()))
    finally:
        consumer.close()


@pytest.fixture
def batch(spark) -> TableEnvironment:
    environment = TableEnvironment(spark)
    environment.sql("SET 'execution.runtime-mode' = 'batch'")
    return environment


@pytest.fixture
def rows(spark):
    """Return `number` rows from a first id on."""
    return lambda first, number: spark.range(first, first + number).selectExpr("id", "concat('v', id) AS v")


def sink_of(spark, server: KafkaServer, topic: str, rows, /, **changes: str) -> KafkaSink:
    given = options(server, topic, {**EXACTLY_ONCE, **changes})
    return KafkaSink(spark, SinkTable(name="target", schema=rows(0, 1).schema, key=(), options=given))


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
@pytest.mark.parametrize("included", ["ALL", "EXCEPT_KEY"])
def test_rows_are_read_back_as_they_were(batch, kafka, guarantee, included):
    topic = kafka.create_topic(partitions=2)
    keys = {"key.format": "json", "key.fields": "id;K2", "value.fields-include": included}
    columns = "id BIGINT, k2 STRING, d DECIMAL(20,4), ts TIMESTAMP_LTZ(6), t TIMESTAMP(6), b BOOLEAN"
    batch.sql(kafka_table(kafka, topic, "target", columns, **keys, **{"sink.delivery-guarantee": guarantee}))
    read_keys = {**keys, "key.fields": "id;k2"}
    batch.sql(kafka_table(kafka, topic, "source", columns, **read_keys))
    values = (
        "id, concat('k', id) AS k2, CAST(id AS DECIMAL(20,4)) AS d, timestamp_micros(id * 1001) AS ts, "
        "TIMESTAMP_NTZ '2026-01-01 00:00:00.000001' AS t, CASE WHEN id % 2 = 0 THEN id % 3 = 0 END AS b FROM range(50)"
    )
    batch.sql(f"INSERT INTO target SELECT {values}")
    expected = batch.sql(f"SELECT {values}").collect()
    assert sorted(batch.sql("SELECT * FROM source").collect()) == sorted(expected)


def test_a_batch_is_written_once_whoever_writes_it_again(spark, kafka, rows):
    topic = kafka.create_topic()
    for number, first in ((0, 0), (0, 0), (1, 10), (1, 10), (2, 20)):
        sink_of(spark, kafka, topic, rows).apply(rows(first, 10), BatchNumber(query=QUERY, number=number))
    sink = sink_of(spark, kafka, topic, rows)
    for number, first in ((2, 20), (3, 30), (3, 30), (4, 40)):
        sink.apply(rows(first, 10), BatchNumber(query=QUERY, number=number))
    assert Counter(value["id"] for value in committed_values(kafka, topic)) == Counter(range(50))


def test_two_queries_into_a_topic_number_their_own_batches(spark, kafka, rows):
    topic = kafka.create_topic()
    for query, first in ((QUERY, 0), (QUERY.replace("6", "7"), 10)):
        sink_of(spark, kafka, topic, rows).apply(rows(first, 10), BatchNumber(query=query, number=0))
    assert len(committed_values(kafka, topic)) == 20


def test_batches_without_rows_keep_the_first_number(spark, kafka, rows):
    topic = kafka.create_topic()
    sink_of(spark, kafka, topic, rows).apply(rows(0, 0), BatchNumber(query=QUERY, number=0))
    sink_of(spark, kafka, topic, rows).apply(rows(0, 0), BatchNumber(query=QUERY, number=1))
    sink_of(spark, kafka, topic, rows).apply(rows(0, 3), BatchNumber(query=QUERY, number=2))
    assert len(committed_values(kafka, topic)) == 3


def test_a_batch_whose_predecessor_is_not_known_is_not_written(spark, kafka, rows):
    topic = kafka.create_topic()
    sink_of(spark, kafka, topic, rows).apply(rows(0, 3), BatchNumber(query=QUERY, number=0))
    moved = sink_of(spark, kafka, topic, rows, **{"sink.transactional-id-prefix": "other"})
    with pytest.raises(DataLossError, match=rf"batch 1 into '{topic}'.*no number of a batch.*new checkpoint"):
        moved.apply(rows(3, 3), BatchNumber(query=QUERY, number=1))
    assert len(committed_values(kafka, topic)) == 3


def test_a_process_that_was_believed_dead_writes_nothing_more(spark, kafka, rows):
    topic = kafka.create_topic()
    old, new = (sink_of(spark, kafka, topic, rows) for _ in range(2))
    old.apply(rows(0, 5), BatchNumber(query=QUERY, number=0))
    new.apply(rows(5, 5), BatchNumber(query=QUERY, number=1))
    with pytest.raises(SourceUnavailable, match=r"another process writes.*Only one query may run with a checkpoint"):
        old.apply(rows(5, 5), BatchNumber(query=QUERY, number=1))
    new.apply(rows(10, 5), BatchNumber(query=QUERY, number=2))
    assert Counter(value["id"] for value in committed_values(kafka, topic)) == Counter(range(15))


def test_records_that_a_fenced_producer_dropped_do_not_hide_why(spark, kafka, rows, monkeypatch):
    def send_and_wait(producer: Producer, *arguments: Any) -> None:
        send(producer, *arguments)
        producer.poll(5)  # the answer of the brokers is here before the next record

    topic = kafka.create_topic()
    old, new = (sink_of(spark, kafka, topic, rows) for _ in range(2))
    old.apply(rows(0, 5), BatchNumber(query=QUERY, number=0))
    new.apply(rows(5, 5), BatchNumber(query=QUERY, number=1))
    monkeypatch.setattr(transactions, "send", send_and_wait)
    with pytest.raises(SourceUnavailable, match=r"another process writes"):
        old.apply(rows(5, 5), BatchNumber(query=QUERY, number=1))


def test_a_batch_that_fails_in_the_middle_leaves_nothing(spark, kafka, rows):
    topic = kafka.create_topic(config={"max.message.bytes": "1000"})
    sink = sink_of(spark, kafka, topic, rows)
    sink.apply(rows(0, 5), BatchNumber(query=QUERY, number=0))
    large = rows(5, 5).selectExpr("id", "repeat('x', IF(id = 8, 5000, 1)) AS v")
    with pytest.raises(SourceUnavailable, match=rf"writing batch 1 into '{topic}'.*MSG_SIZE_TOO_LARGE"):
        sink.apply(large, BatchNumber(query=QUERY, number=1))
    sink.apply(rows(5, 5), BatchNumber(query=QUERY, number=1))
    assert Counter(value["id"] for value in committed_values(kafka, topic)) == Counter(range(10))


def test_a_batch_larger_than_the_driver_takes_at_once_is_written(spark, kafka, rows, monkeypatch):
    monkeypatch.setattr("datasources.sinks.driver_rows._DRIVER_CHARACTERS", 1_000)
    topic = kafka.create_topic()
    sink_of(spark, kafka, topic, rows).apply(rows(0, 20_000), BatchNumber(query=QUERY, number=0))
    assert sorted(value["id"] for value in committed_values(kafka, topic)) == list(range(20_000))


def test_a_rows_error_leaves_the_transaction_open_for_nobody(spark, kafka, rows):
    topic = kafka.create_topic()
    sink = sink_of(spark, kafka, topic, rows)
    broken = rows(0, 5).selectExpr("id", "IF(id = 3, raise_error('broken'), 'v') AS v")
    with pytest.raises(Exception, match="broken"):
        sink.apply(broken, BatchNumber(query=QUERY, number=0))
    sink.apply(rows(0, 5), BatchNumber(query=QUERY, number=0))
    assert len(committed_values(kafka, topic)) == 5


def transaction_of(server: KafkaServer, topic: str, **settings: str) -> BatchTransaction:
    config = ClientConfig({"bootstrap.servers": server.bootstrap_servers, **settings})
    return BatchTransaction(config, topic, f"test-{topic}")


def records(*values: str | Callable[[], object]) -> Iterator[SimpleNamespace]:
    """Yield records; functions are called in between, once what is before them was sent."""
    for value in values:
        if callable(value):
            threading.Event().wait(1)
            value()
        else:
            yield SimpleNamespace(key=None, value=value)


@pytest.mark.parametrize("number", [None, 0])
def test_readers_do_not_wait_for_a_transaction_that_failed(kafka, number):
    topic = kafka.create_topic()

    def fail() -> None:
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        transaction_of(kafka, topic).write(records('{"id": 1}', fail), number, is_empty=False)
    kafka.produce(topic, 0, [b'{"id": 2}'])
    assert committed_values(kafka, topic) == [{"id": 2}]


def test_the_first_refusal_is_the_reason(kafka):
    topic = kafka.create_topic(config={"max.message.bytes": "1000"})
    large = json.dumps({"v": "x" * 5000})
    with pytest.raises(SourceUnavailable, match=rf"writing the rows into '{topic}'.*MSG_SIZE_TOO_LARGE"):
        transaction_of(kafka, topic).write(records(large, int, "{}"), None, is_empty=False)


def test_a_transaction_may_be_bounded_by_less_than_a_delivery(kafka):
    topic = kafka.create_topic()
    bounded = transaction_of(kafka, topic, **{"transaction.timeout.ms": "60000"})
    bounded.write(records("{}"), 0, is_empty=False)
    assert committed_values(kafka, topic) == [{}]


def test_a_transaction_that_lasts_too_long_is_not_taken_for_that_of_another_process(kafka):
    topic = kafka.create_topic()
    short = {"transaction.timeout.ms": "1000", "socket.timeout.ms": "1000"}
    slow = transaction_of(kafka, topic, **short)
    end = partial(transaction_of(kafka, topic).write, records("{}"), 0, is_empty=False)  # brokers look every 10 s
    with pytest.raises(SourceUnavailable, match=r"batch 0 .*longer than transaction.timeout.ms \(1000 ms\)"):
        slow.write(records("{}", end, "{}"), 0, is_empty=False)


def test_batches_without_rows_keep_the_number_from_expiring(kafka):
    topic = kafka.create_topic()
    group = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": f"test-{topic}"}
    transaction_of(kafka, topic).write(records("{}"), 0, is_empty=False)
    restarted = transaction_of(kafka, topic)
    for number in (1, 2):
        restarted.write([], number, is_empty=True)
    with closing(Consumer({**group, "isolation.level": "read_committed"})) as consumer:
        assert [each.offset for each in consumer.committed([TopicPartition(topic, 0)], timeout=30)] == [1]


class HangingCommit:
    """A producer whose broker stands still (SIGSTOP) as long as the transaction is being committed."""

    def __init__(self, producer: Producer, broker: int) -> None:
        self._producer = producer
        self._broker = broker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)

    def commit_transaction(self, *timeout: float) -> None:
        os.killpg(self._broker, signal.SIGSTOP)
        try:
            threading.Event().wait(0.5)
            self._producer.commit_transaction(*timeout)
        finally:
            os.killpg(self._broker, signal.SIGCONT)


@pytest.mark.timeout(300)
def test_a_broker_that_hangs_while_it_commits_is_not_waited_for_for_ever(own_kafka, monkeypatch):
    topic, opened = own_kafka.create_topic(), []

    def opening(*given: Any) -> Any:
        opened.append(open_producer(*given))
        return opened[-1] if len(opened) > 1 else HangingCommit(opened[0], own_kafka.embedded.pid)

    monkeypatch.setattr(transactions, "open_producer", opening)
    short = {"transaction.timeout.ms": "3000", "socket.timeout.ms": "3000"}
    transaction_of(own_kafka, topic, **short).write(list(records('{"id": 1}')), 0, is_empty=False)
    assert len(opened) == 2
    assert committed_values(own_kafka, topic) == [{"id": 1}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topic": "absent"}, r"have no topic 'absent'.*Create it first\."),
        ({"format": "raw"}, r"option 'format' = 'raw': the sink writes 'json'"),
        ({"key.format": "json"}, r"'key.format' and 'key.fields' belong together"),
        ({"key.format": "json", "key.fields": "none"}, r"no stored column 'none'"),
        ({"key.format": "json", "key.fields": "id;id"}, r"'key.fields' = 'id;id': write names of columns, each once"),
        ({"value.fields-include": "EXCEPT_KEY"}, r"'EXCEPT_KEY' needs 'key.fields'"),
        ({"sink.delivery-guarantee": "twice"}, r"'sink.delivery-guarantee'"),
        ({"sink.partitioner": "fixed"}, r"'sink.partitioner' has one value here"),
        ({"properties.transactional.id": "mine"}, r"option 'kafka.transactional.id' is the sink's"),
    ],
)
def test_what_the_sink_cannot_do_is_refused_when_planned(batch, kafka, changes, message):
    topic = kafka.create_topic()
    batch.sql(kafka_table(kafka, topic, "target", "id INT, v STRING", **changes))
    with pytest.raises(SqlError, match=rf"line 1, column 13: table 'target': .*{message}"):
        batch.sql("INSERT INTO target SELECT 1, 'a'")


def test_rows_that_change_are_refused(spark, kafka):
    t = TableEnvironment(spark)
    topic = kafka.create_topic()
    t.sql(kafka_table(kafka, topic, "target", "id INT, n BIGINT"))
    keys = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json", "topic": topic}
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in keys.items())
    servers = f"'properties.bootstrap.servers' = '{kafka.bootstrap_servers}'"
    t.sql(f"CREATE TABLE changing (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({listed}, {servers})")
    with pytest.raises(
        SqlError, match=r"the rows of this query change, and 'target' \(kafka\) takes rows that are only"
    ):
        t.sql("INSERT INTO target SELECT id, count(*) FROM changing GROUP BY id")


@pytest.mark.mysql
@pytest.mark.timeout(1_500)
@pytest.mark.parametrize("kills", full(1, 20))
def test_each_row_is_there_once_though_the_driver_is_killed(kafka, mysql, tmp_path: Path, kills):
    """The events of a table are rows that are only added; each has its own place in the log."""
    shop = ChangingShop(mysql, random.Random(20_264))
    shop.create()
    topic = kafka.create_topic()
    recording = QueryDirectory(tmp_path / "query").create()
    kept = {"checkpointLocation": str(recording.checkpoint), **EXACTLY_ONCE}
    metadata = "kind STRING METADATA FROM 'row_kind', file STRING METADATA, pos BIGINT METADATA"
    script = [
        shop.declaration("orders", columns=f"id INT, {metadata}", scan__max_rows_per_batch="20"),
        kafka_table(kafka, topic, "target", "id INT, kind STRING, file STRING, pos BIGINT", **kept),
        "INSERT INTO target SELECT id, kind, file, pos FROM orders",
    ]
    run_with_kills(shop, recording, script, kills=kills)
    events = Counter((each["file"], each["pos"], each["kind"], each["id"]) for each in committed_values(kafka, topic))
    assert [event for event, times in events.items() if times > 1] == []
    there = Counter[int]()
    for _, _, kind, key in events:
        there[key] += 1 if kind in ("+I", "+U") else -1
    assert {key: times for key, times in there.items() if times} == {
        row[0]: 1 for row in shop.execute_rows("SELECT id FROM orders")
    }
