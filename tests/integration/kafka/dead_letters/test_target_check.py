"""Brokers that refuse dead letters, or would create their topic: the query does not begin, or stops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from datasources.embedded import EmbeddedKafka
from datasources.errors import OptionError, SourceUnavailable
from tests.support.kafka.dead_letters import letters_of, options_of
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_server import KafkaServer

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.long]

CONFIG = {
    "auto.create.topics.enable": "true",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
DENIED = {
    "no-transactions": (ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE, r"TRANSACTIONAL_ID|Transactional Id"),
    "no-groups": (ResourceType.GROUP, AclOperation.READ, r"GROUP|Group"),
}


@pytest.fixture(scope="module")
def guarded() -> Iterator[KafkaServer]:
    """A broker with access rules, which creates topics that a client asks for."""
    with EmbeddedKafka(CONFIG) as embedded:
        server = KafkaServer(embedded.bootstrap_servers, origin="embedded, with access rules")
        for prefix, (resource, operation, _) in DENIED.items():
            deny(server, resource, prefix, operation, ResourcePatternType.PREFIXED)
        yield server


def deny(server: KafkaServer, resource, name: str, operation, pattern=ResourcePatternType.LITERAL) -> None:
    rule = AclBinding(resource, name, pattern, "User:ANONYMOUS", "*", operation, AclPermissionType.DENY)
    everyone = AclBinding(resource, name, pattern, "User:*", "*", AclOperation.ALL, AclPermissionType.ALLOW)
    with AdminClient({"bootstrap.servers": server.bootstrap_servers}) as admin:
        for future in admin.create_acls([rule, everyone]).values():
            future.result(30)


def query_of(server: KafkaServer, topic: str, dead: str, **changes: str) -> KafkaQuery:
    given = {"subscribe": topic, "format": "json", "schema": "id BIGINT", **options_of(dead, "bad"), **changes}
    return KafkaQuery(scan_of(server.bootstrap_servers, **given))


@pytest.mark.parametrize("prefix", DENIED)
def test_a_login_that_may_not_write_transactions_is_an_error_at_start(guarded, prefix):
    topic, dead = guarded.create_topic(), guarded.create_topic()
    message = rf"refused beginning a transaction for the dead letter topic '{dead}'.*begin with '{prefix}'"
    with pytest.raises(SourceUnavailable, match=message) as caught:
        query_of(guarded, topic, dead, **{"format.dead-letter.transactional-id-prefix": prefix})
    assert "replication.factor" not in caught.value.message


def test_a_topic_that_refuses_records_stops_the_query(guarded):
    topic, dead = guarded.create_topic(), guarded.create_topic()
    query = query_of(guarded, topic, dead)
    deny(guarded, ResourceType.TOPIC, dead, AclOperation.WRITE)
    guarded.produce(topic, 0, [b"{"])
    with pytest.raises(
        SourceUnavailable, match=rf"refused writing dead letters of '{topic}-0'.*Write and Read on the topic"
    ):
        query.drain()


def test_brokers_that_create_topics_create_none(guarded):
    topic, dead = guarded.create_topic(), guarded.create_topic()
    with pytest.raises(OptionError, match="have no topic 'absent'"):
        query_of(guarded, topic, "absent")
    guarded.produce(topic, 0, [b"{"])
    query = query_of(guarded, topic, dead, **{"format.dead-letter.kafka.topic.metadata.propagation.max.ms": "2000"})
    query.drain()
    assert len(letters_of(guarded.bootstrap_servers, dead)) == 1
    guarded.delete_topic(dead)
    guarded.produce(topic, 0, [b"["])
    with pytest.raises(OptionError, match=rf"have no topic '{dead}' .*any more"):
        query.drain()
    with AdminClient({"bootstrap.servers": guarded.bootstrap_servers}) as admin:
        assert not {dead, "absent"} & set(admin.list_topics(timeout=30).topics)
