"""Topics that are deleted, or that one answer leaves out, while a query reads them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ClusterMetadata,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from datasources.embedded import EmbeddedKafka
from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.source.api.split import SplitId, SplitProgress
from tests.support.forms import full
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = [pytest.mark.kafka]

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
LOOK = {"scan.topic-partition-discovery.interval": "100ms"}
WAYS = ["subscribe", "subscribePattern"]
FIRST_WAY = ["subscribe", *full("subscribePattern")]


def texts(count: int, prefix: str = "r") -> list[bytes]:
    return [f"{prefix}{n}".encode() for n in range(count)]


def two_topics(kafka: Any) -> tuple[str, str]:
    first, second = kafka.create_topic(), kafka.create_topic()
    for topic in (first, second):
        kafka.produce(topic, 0, texts(5, topic))
    return first, second


def scan(kafka: Any, way: str, topics: tuple[str, ...], **options: str) -> Any:
    wanted = {way: (",".join if way == "subscribe" else "|".join)(topics)}
    return scan_of(kafka.bootstrap_servers, **wanted, **LOOK, **options)


def values(query: KafkaQuery) -> list[bytes]:
    table = query.batch()
    return [] if table is None else table.column("value").to_pylist()


def read_until(query: KafkaQuery, condition: Callable[[list[bytes]], bool]) -> list[bytes]:
    """Read batches until something holds of what came; at most a minute."""
    pause, found = threading.Event(), []
    for _ in range(600):
        found += values(query)
        if condition(found):
            return found
        pause.wait(0.1)
    raise AssertionError(found)


def create(kafka: Any, topic: str) -> None:
    """Create a topic of a name that was just deleted."""
    pause = threading.Event()
    with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
        for _ in range(300):
            with suppress(KafkaException):
                admin.create_topics([NewTopic(topic, 1)])[topic].result(30)
                return
            pause.wait(0.1)
    raise AssertionError(topic)


def commit(kafka: Any, topic: str) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "some-group"}
    consumer = Consumer(settings)
    try:
        consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    finally:
        consumer.close()


def splits(query: KafkaQuery) -> list[str]:
    return [each.split for each in query.offset.splits]


@pytest.mark.parametrize("way", FIRST_WAY)
@pytest.mark.parametrize("goes_on", [False, *full(True)], ids=["running", "restarted"])
def test_one_of_two_topics_is_deleted_where_loss_is_accepted(kafka, way, goes_on):
    gone, stays = two_topics(kafka)
    made = scan(kafka, way, (gone, stays), failOnDataLoss="false")
    query = KafkaQuery(made)
    assert sorted(read_until(query, lambda found: len(found) >= 10)) == sorted(texts(5, gone) + texts(5, stays))
    kafka.delete_topic(gone)
    if goes_on:
        query = KafkaQuery(made, offset=query.offset)
    kafka.produce(stays, 0, texts(3, "later"))
    assert read_until(query, lambda found: len(found) >= 3) == texts(3, "later")
    read_until(query, lambda _: kafka.produce(stays, 0, texts(1, "x")) or splits(query) == [f"{stays}-0"])
    create(kafka, gone)
    kafka.produce(gone, 0, texts(4, "anew"))
    found = read_until(query, lambda found: set(texts(4, "anew")) <= set(found))
    assert [each for each in found if each.startswith(b"anew")] == texts(4, "anew")


@pytest.mark.slow
@pytest.mark.parametrize("way", FIRST_WAY)
def test_every_topic_is_deleted_where_loss_is_accepted(kafka, way):
    topics = two_topics(kafka)
    query = KafkaQuery(scan(kafka, way, topics, failOnDataLoss="false"))
    read_until(query, lambda found: len(found) >= 10)
    for topic in topics:
        kafka.delete_topic(topic)
    pause = threading.Event()
    for _ in range(80):
        assert values(query) == []
        pause.wait(0.1)
    create(kafka, topics[1])
    kafka.produce(topics[1], 0, texts(4, "anew"))
    assert read_until(query, lambda found: len(found) >= 4) == texts(4, "anew")


@pytest.mark.parametrize("way", WAYS)
def test_a_deleted_topic_stops_a_query_that_needs_all_records(kafka, way):
    gone, stays = two_topics(kafka)
    query = KafkaQuery(scan(kafka, way, (gone, stays)))
    read_until(query, lambda found: len(found) >= 10)
    kafka.delete_topic(gone)
    with pytest.raises(DataLossError, match=f"split '{gone}-0' does not exist any more; it was read up to position 5"):
        read_until(query, lambda _: False)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["true", *full("false")])
@pytest.mark.parametrize("way", FIRST_WAY)
def test_an_answer_that_leaves_a_topic_out_is_not_believed(kafka, way, loss, monkeypatch):
    """One broker that is behind knows neither the topic nor its partitions for a while."""
    topics = two_topics(kafka)
    query = KafkaQuery(scan(kafka, way, topics, failOnDataLoss=loss))
    read_until(query, lambda found: len(found) >= 10)
    answers = AdminClient.list_topics
    hidden = [20]

    def behind(self: AdminClient, *args: Any, **more: Any) -> ClusterMetadata:
        found = answers(self, *args, **more)
        if hidden[0] and args != (topics[0],):  # the question for it alone reaches another broker
            hidden[0] -= 1
            found.topics.pop(topics[0], None)
        return found

    monkeypatch.setattr(AdminClient, "list_topics", behind)
    partitions = BrokerMetadata.partitions

    def few(self: BrokerMetadata, *args: Any, **more: Any) -> list[Any]:
        found = partitions(self, *args, **more)
        return [pair for pair in found if pair[0] != topics[0]] if hidden[0] else found

    monkeypatch.setattr(BrokerMetadata, "partitions", few)
    pause = threading.Event()
    for number in range(30):
        kafka.produce(topics[1], 0, texts(1, f"while-{number}-"))
        values(query)
        hidden[0] = max(0, hidden[0] - 1)
        pause.wait(0.1)
    assert hidden == [0]
    kafka.produce(topics[0], 0, texts(3, "after"))
    found = read_until(query, lambda found: set(texts(3, "after")) <= set(found))
    assert [each for each in found if each.startswith(topics[0].encode())] == []
    assert len(splits(query)) == 2


def test_topics_that_brokers_keep_for_themselves_are_left_out_of_patterns(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, texts(2))
    commit(kafka, topic)  # makes the topic of offsets
    made = scan_of(kafka.bootstrap_servers, subscribePattern=f"__.*|{topic}", **LOOK)
    query = KafkaQuery(made)
    assert splits(query) == [f"{topic}-0"]
    assert read_until(query, lambda found: len(found) >= 2) == texts(2)
    named = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe="__consumer_offsets"))
    assert "__consumer_offsets-0" in splits(named)
    older = SplitProgress(split=SplitId("__consumer_offsets-0"), start=3, end=3, known_at=3)
    resumed = KafkaQuery(made, offset=replace(query.offset, splits=(older, *query.offset.splits)))
    kafka.produce(topic, 0, texts(2, "later"))
    assert read_until(resumed, lambda found: len(found) >= 2) == texts(2, "later")
    assert splits(resumed) == [f"{topic}-0"]


@pytest.mark.parametrize("key", ["subscribe", *full("topic"), "assign"])
@pytest.mark.parametrize("written", ["{}s", "upper"], ids=["a letter more", "other case"])
def test_a_topic_that_does_not_exist_is_named_with_the_one_that_is_meant(kafka, key, written):
    topic = kafka.create_topic()
    name = topic.upper() if written == "upper" else written.format(topic)
    given = {key: json.dumps({name: [0]}) if key == "assign" else name}
    with pytest.raises(
        SourceUnavailable, match=rf"'{name}' does not exist at .*Did you mean '{topic}'( or '[^']*')*\?"
    ):
        KafkaQuery(scan_of(kafka.bootstrap_servers, failOnDataLoss="false", **given))


def test_a_partition_that_does_not_exist_is_named_with_those_that_do(kafka):
    topic = kafka.create_topic(partitions=3)
    with pytest.raises(SourceUnavailable, match=f"partition 7 of topic '{topic}' does not exist; it has 0, 1, 2\\."):
        KafkaQuery(scan_of(kafka.bootstrap_servers, assign=json.dumps({topic: [0, 7]})))


def test_topics_that_the_login_may_not_see_are_not_named():
    """Who may not see a topic is refused, whether it exists or not: then too the name may be a wrong one."""
    config = {"authorizer.class.name": AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
    with EmbeddedKafka(config) as server, AdminClient({"bootstrap.servers": server.bootstrap_servers}) as admin:
        names = ["orders", "orders1"]
        for created in admin.create_topics([NewTopic(name, 1) for name in names]).values():
            created.result(30)
        own = AclBinding(
            ResourceType.TOPIC,
            "orders1",
            ResourcePatternType.LITERAL,
            "User:other",
            "*",
            AclOperation.ALL,
            AclPermissionType.ALLOW,
        )
        admin.create_acls([own])[own].result(30)
        pause = threading.Event()
        while "orders1" in admin.list_topics(timeout=10).topics:
            pause.wait(0.1)
        with pytest.raises(SourceUnavailable, match=r"'order1' does not exist at .*Did you mean 'orders'\? Create"):
            KafkaQuery(scan_of(server.bootstrap_servers, subscribe="order1"))
        with pytest.raises(SourceUnavailable, match=r"refused listing .* 'orders1': .*Did you mean 'orders'\? Check"):
            KafkaQuery(scan_of(server.bootstrap_servers, subscribe="orders1"))
