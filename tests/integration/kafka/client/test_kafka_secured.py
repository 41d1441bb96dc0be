"""TLS and a login, as production has them, on both ways of fetching; what is refused says why and shows no secret."""

from __future__ import annotations

import json
from contextlib import contextmanager
from random import Random

import pytest
from confluent_kafka import Producer

from datasources import register
from datasources.embedded import EmbeddedKafka, KafkaLogin
from datasources.embedded.process.certificates import AUTHORITY_FILE, make_certificates
from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.consumers import take_consumer
from datasources.kafka.client.native_client import NativeFeed
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.subscriber import SubscribedTopics
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.kafka.kafka_ways import errors_in_both_ways, read_in_both_ways, settings_of, use

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("ways")]

PASSWORD = "correct-horse"
MECHANISMS = ("PLAIN", "SCRAM-SHA-512")


@pytest.fixture(scope="module")
def secured():
    with EmbeddedKafka(login=KafkaLogin(username="reader", password=PASSWORD)) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def topic(secured):
    """3,000 records on one partition, written over TLS."""
    name = KafkaServer(secured.bootstrap_servers, origin="embedded").create_topic()
    random = Random(4)
    with Producer({**secured.secured(), "linger.ms": "20"}) as producer:
        for number in range(3_000):
            producer.produce(name, key=b"%d" % number, value=random.randbytes(random.choice([0, 90, 2_000])))
            producer.poll(0)
    return name


def settings(kafka, mechanism="PLAIN", **changes):
    client = {**kafka.secured(mechanism), **changes}
    servers = client.pop("bootstrap.servers")
    return settings_of(servers, poll_timeout_ms=4_000, **{key.replace(".", "__"): client[key] for key in client})


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_column_is_equal(secured, topic, monkeypatch, mechanism):
    ((columns, lost),) = read_in_both_ways(monkeypatch, settings(secured, mechanism), topic, [(0, 3_000)])
    assert columns["offset"][1] == list(range(3_000))
    assert columns["key"][1] == [b"%d" % number for number in range(3_000)]
    assert lost == 0


def test_a_login_takes_the_native_way(secured, topic, monkeypatch):
    use(monkeypatch, "native")
    used = take_consumer(settings(secured).config, topic, 0, 0)
    assert isinstance(used.feed, NativeFeed)
    used.close()


def questions(found):
    """One of each client that asks."""
    return (
        lambda topic: found.partitions(SubscribedTopics((topic,))),
        lambda topic: found.ends([(topic, 0)]),
        lambda topic: found.at_times({(topic, 0): 5}),
    )


def refusal(question, topic):
    with pytest.raises(SourceUnavailable) as caught:
        question(topic)
    return str(caught.value)


@contextmanager
def opened_client(client, timeout_ms=10_000):
    found = BrokerMetadata(ClientConfig(client, api_timeout_ms=timeout_ms))
    try:
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_ends_of_logs_are_asked_for_in_one_list(secured, topic, mechanism):
    with opened_client(secured.secured(mechanism)) as found:
        assert found.ends([(topic, 0)]) == {(topic, 0): 3_000}
        assert found._log_ends is not None


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_reported_and_not_shown(secured, topic, monkeypatch, mechanism):
    wrong = {"sasl.password": "wrong-horse"}
    kind, text = errors_in_both_ways(monkeypatch, settings(secured, mechanism, **wrong), topic, 0, 8)
    assert kind is SourceUnavailable
    with opened_client({**secured.secured(mechanism), **wrong}, 1_500) as found:
        texts = [text, *(refusal(question, topic) for question in questions(found))]
    assert all("uthentication failed" in text and "refused" in text for text in texts)
    assert not any("horse" in text for text in texts)


@pytest.mark.slow
def test_a_server_whose_authority_is_unknown_is_refused(secured, topic, monkeypatch, tmp_path):
    make_certificates(tmp_path)
    other = {"ssl.ca.location": str(tmp_path / AUTHORITY_FILE)}
    kind, text = errors_in_both_ways(monkeypatch, settings(secured, **other), topic, 0, 8)
    assert kind is SourceUnavailable
    with opened_client({**secured.secured(), **other}, 1_500) as found:
        texts = [text, *(refusal(question, topic) for question in questions(found))]
    assert all("certificate" in text and "refused" in text for text in texts)


@pytest.mark.slow
def test_no_tls_where_it_is_needed_is_refused(secured, topic, monkeypatch):
    plain = settings_of(secured.secured()["bootstrap.servers"], poll_timeout_ms=3_000)
    kind, _ = errors_in_both_ways(monkeypatch, plain, topic, 0, 8)
    assert kind is SourceUnavailable


@pytest.mark.spark
def test_a_query_reads_with_the_options_of_sparks_own_source(secured, spark):
    """The login as users of Spark's Kafka source write it, in JAAS."""
    name = KafkaServer(secured.bootstrap_servers, origin="embedded").create_topic(partitions=2)
    with Producer(secured.secured()) as producer:
        for number in range(50):
            producer.produce(name, value=json.dumps({"id": number}).encode(), partition=number % 2)
    client = secured.secured()
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    options = {
        "kafka.bootstrap.servers": client["bootstrap.servers"],
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": f'{module} required username="reader" password="{PASSWORD}";',
        "kafka.ssl.ca.location": client["ssl.ca.location"],
        "subscribe": name,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": "id INT",
    }
    register(spark)
    rows = spark.read.format("tidemark-kafka").options(**options).load().collect()
    assert sorted(row.id for row in rows) == list(range(50))
