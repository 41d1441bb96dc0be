"""Logins by OAuth: librdkafka fetches the tokens, or a function of Python gives them, also on the native path."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from confluent_kafka import Producer

from datasources import register
from datasources.embedded import EmbeddedKafka, KafkaLogin
from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_config import ClientConfig, client_config
from datasources.kafka.client.consumers import take_consumer
from datasources.kafka.client.native_client import NativeFeed
from datasources.kafka.client.record_columns import RecordFields
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.subscriber import SubscribedTopics
from tests.support.kafka import unsecured_tokens
from tests.support.kafka.kafka_orders import wait_until
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.kafka.kafka_ways import WAYS, errors_in_both_ways, read, read_in_both_ways, settings_of, use
from tests.support.kafka.token_endpoint import token_endpoint

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("ways")]

CLIENT, SECRET = "reader", "correct-horse"
LIFETIME_S = 6
MODULES = "org.apache.kafka.common.security.oauthbearer."
LISTENER = "listener.name.secured."
BROKER = {
    f"{LISTENER}sasl.enabled.mechanisms": "OAUTHBEARER",
    f"{LISTENER}oauthbearer.sasl.jaas.config": (
        f'{MODULES}OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
    ),
    # A connection must log in again before its token ends (KIP-368).
    f"{LISTENER}oauthbearer.connections.max.reauth.ms": "60000",
}


@pytest.fixture(scope="module")
def endpoint():
    with token_endpoint(CLIENT, SECRET, lifetime_s=LIFETIME_S) as found:
        yield found


@pytest.fixture(scope="module")
def secured():
    with EmbeddedKafka(BROKER, login=KafkaLogin(username="unused", password="unused")) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def topic(secured):
    name = KafkaServer(secured.bootstrap_servers, origin="embedded").create_topic()
    KafkaServer(secured.bootstrap_servers, origin="embedded").produce(name, 0, [b"%d" % n for n in range(500)])
    return name


def java_options(secured, endpoint, secret=SECRET):
    """The login as Spark's users write it: Kafka's Java settings."""
    client = secured.secured()
    return {
        "kafka.bootstrap.servers": client["bootstrap.servers"],
        "kafka.security.protocol": "SASL_SSL",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": client["ssl.ca.location"],
        "kafka.sasl.mechanism": "OAUTHBEARER",
        "kafka.sasl.oauthbearer.token.endpoint.url": endpoint.url,
        "kafka.sasl.login.callback.handler.class": f"{MODULES}secured.OAuthBearerLoginCallbackHandler",
        "kafka.sasl.jaas.config": (
            f'{MODULES}OAuthBearerLoginModule required clientId="{CLIENT}" clientSecret="{secret}" scope="kafka";'
        ),
    }


def settings(secured, endpoint, secret=SECRET, poll_timeout_ms=10_000):
    config = client_config(java_options(secured, endpoint, secret))
    servers = config.bootstrap_servers
    given = {key.replace(".", "__"): config[key] for key in config if key != "bootstrap.servers"}
    return settings_of(servers, poll_timeout_ms=poll_timeout_ms, **given)


def test_every_column_is_equal_on_both_paths(secured, endpoint, topic, monkeypatch):
    before = len(endpoint.requests)
    ((columns, lost),) = read_in_both_ways(monkeypatch, settings(secured, endpoint), topic, [(0, 500)])
    assert columns["value"][1] == [b"%d" % n for n in range(500)]
    assert lost == 0
    assert len(endpoint.requests) > before
    assert endpoint.requests[-1] == {"grant_type": "client_credentials", "scope": "kafka"}


def test_the_native_consumer_renews_its_token_while_nobody_polls_it(secured, endpoint, topic, monkeypatch):
    """Its records are received long after the first token has ended; broker and client agree on the lifetime."""
    use(monkeypatch, "native")
    used = take_consumer(settings(secured, endpoint).config, topic, 0, 0)
    with closing(used):
        assert isinstance(used.feed, NativeFeed)
        assert _next_offset(used, 0, 500) == 500
        renewed = len(endpoint.requests) + 2
        wait_until(lambda: len(endpoint.requests) >= renewed)
        end = KafkaServer(secured.bootstrap_servers, origin="embedded").produce(topic, 0, [b"late"])
        assert _next_offset(used, 500, end) == end


def _next_offset(used, start, end):
    """Receive until a position; return the offset behind the last record."""
    position = start
    for _ in range(300):
        if position >= end:
            break
        received = used.receive(end - position, end, RecordFields.ALL)
        if len(received.records):
            position = received.records.offset(-1) + 1
    return position


def test_the_driver_asks_by_the_same_login(secured, endpoint, topic):
    config = ClientConfig(dict(settings(secured, endpoint).config), api_timeout_ms=10_000)
    with closing(BrokerMetadata(config)) as found:
        assert found.partitions(SubscribedTopics((topic,))) == [(topic, 0)]
        assert found.ends([(topic, 0)])[topic, 0] >= 500
        assert found._log_ends is not None


def test_a_wrong_secret_is_reported_and_not_shown(secured, endpoint, topic, monkeypatch):
    wrong = settings(secured, endpoint, "wrong-horse", poll_timeout_ms=4_000)
    kind, text = errors_in_both_ways(monkeypatch, wrong, topic, 0, 8)
    assert kind is SourceUnavailable
    config = ClientConfig(dict(wrong.config), api_timeout_ms=2_000)
    with closing(BrokerMetadata(config)) as found, pytest.raises(SourceUnavailable) as caught:
        found.partitions(SubscribedTopics((topic,)))
    for each in (text, str(caught.value)):
        assert "401" in each or "token" in each.lower(), each
        assert "horse" not in each
    assert endpoint.refused > 0


def provided(secured, provider, config, poll_timeout_ms=10_000):
    """The settings of a login whose tokens a function gives."""
    client = secured.secured()
    own = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": client["ssl.ca.location"],
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.provider": provider,
        "sasl.oauthbearer.config": str(config),
    }
    given = {key.replace(".", "__"): value for key, value in own.items()}
    return settings_of(client["bootstrap.servers"], poll_timeout_ms=poll_timeout_ms, **given)


def test_a_function_gives_the_tokens_on_both_paths(secured, topic, monkeypatch, tmp_path):
    given = provided(secured, unsecured_tokens.NAME, tmp_path / "asked")
    ((columns, lost),) = read_in_both_ways(monkeypatch, given, topic, [(0, 500)])
    assert columns["value"][1] == [b"%d" % n for n in range(500)]
    assert lost == 0
    assert (tmp_path / "asked").read_text().count("asked") >= 2
    use(monkeypatch, "native")
    config = ClientConfig(dict(given.config), api_timeout_ms=10_000)
    with closing(BrokerMetadata(config)) as found:
        assert found.partitions(SubscribedTopics((topic,))) == [(topic, 0)]
        assert found.ends([(topic, 0)])[topic, 0] >= 500
        assert found._log_ends is not None


def test_the_native_consumer_asks_its_function_again_while_nobody_polls_it(secured, topic, monkeypatch, tmp_path):
    use(monkeypatch, "native")
    used = take_consumer(provided(secured, unsecured_tokens.NAME, tmp_path / "asked").config, topic, 0, 0)
    with closing(used):
        assert isinstance(used.feed, NativeFeed)
        assert _next_offset(used, 0, 500) == 500
        renewed = (tmp_path / "asked").read_text().count("asked") + 2
        wait_until(lambda: (tmp_path / "asked").read_text().count("asked") >= renewed)
        end = KafkaServer(secured.bootstrap_servers, origin="embedded").produce(topic, 0, [b"late"])
        assert _next_offset(used, 500, end) == end


def test_a_function_that_fails_is_reported_with_what_it_was_for(secured, topic, monkeypatch, caplog):
    given = provided(secured, f"{unsecured_tokens.__name__}:refuse", "nowhere", poll_timeout_ms=4_000)
    for way in WAYS:
        use(monkeypatch, way)
        with pytest.raises(SourceUnavailable, match="token"):
            read(given, topic, 0, 8)
    assert "token_provider_failed" in caplog.text
    assert "no credentials in nowhere" in caplog.text


@pytest.mark.spark
def test_a_query_asks_a_function_that_the_administrator_allowed(secured, spark, tmp_path, monkeypatch):
    name = KafkaServer(secured.bootstrap_servers, origin="embedded").create_topic()
    KafkaServer(secured.bootstrap_servers, origin="embedded").produce(name, 0, [b'{"id": 7}'])
    given = provided(secured, unsecured_tokens.NAME, tmp_path / "asked").config
    options = {f"kafka.{key}": value for key, value in given.items()}
    more = {"subscribe": name, "startingOffsets": "earliest", "format": "json", "schema": "id INT"}
    register(spark)
    with pytest.raises(Exception, match="calls a function of Python"):
        spark.read.format("tidemark-kafka").options(**options, **more).load()
    monkeypatch.setattr("datasources.spark.attach.register.allows_code_options", lambda _: True)
    register(spark)
    try:
        assert [row.id for row in spark.read.format("tidemark-kafka").options(**options, **more).load().collect()] == [
            7
        ]
    finally:
        monkeypatch.undo()
        register(spark)
    assert (tmp_path / "asked").exists()


@pytest.mark.spark
def test_a_query_logs_in_with_the_options_of_sparks_own_source(secured, endpoint, spark):
    name = KafkaServer(secured.bootstrap_servers, origin="embedded").create_topic()
    records = [json.dumps({"id": n}).encode() for n in range(50)]
    with Producer({"bootstrap.servers": secured.bootstrap_servers}) as producer:
        for record in records:
            producer.produce(name, record)
    register(spark)
    more = {"subscribe": name, "startingOffsets": "earliest", "format": "json", "schema": "id INT"}
    df = spark.read.format("tidemark-kafka").options(**java_options(secured, endpoint), **more).load()
    assert sorted(row.id for row in df.collect()) == list(range(50))
    assert SECRET not in df._jdf.queryExecution().toString()
