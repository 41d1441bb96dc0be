"""The demo's topic, on a Kafka of our own or on one that the user names."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from datasources.demo.story.orders import ROLES, Order
from datasources.embedded import EmbeddedKafka, KafkaProcessOptions
from datasources.errors import SourceUnavailable
from datasources.kafka.client.client_errors import explain

_DEADLINE_S: Final = 20.0
_ANSWER_S: Final = 5.0
_LEADER_ATTEMPTS: Final = 200
_LEADER_PAUSE_S: Final = 0.05


class OrdersTopic:
    """A topic with one partition per role, which takes orders."""

    def __init__(self, bootstrap_servers: str, name: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.name = name
        self._producer = Producer(_client(bootstrap_servers, {"linger.ms": "2", "enable.idempotence": "true"}))
        self._refused: list[KafkaError] = []

    def send(self, orders: Iterable[Order]) -> None:
        """Write orders in turn; return when the broker has all of them.

        Raises:
            SourceUnavailable: The broker refused one or did not take them in time.
        """
        for order in orders:
            self._producer.produce(self.name, order.to_json(), partition=order.partition, on_delivery=self._on_delivery)
        left = self._producer.flush(_DEADLINE_S)
        if self._refused:
            raise explain(self._refused[0], action="writing orders", servers=self.bootstrap_servers)
        if left:
            raise SourceUnavailable(f"the brokers at {self.bootstrap_servers} took no order for {_DEADLINE_S:g} s")

    def _on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._refused.append(error)


@contextmanager
def open_broker(named: str | None, report: Callable[[str], None]) -> Iterator[Callable[[], str]]:
    """Give a function that returns the ``host:port`` of a running Kafka, and waits for its start if need be.

    Args:
        named: One that the user runs; None starts one in a process of this machine, in the background.
        report: Receives a line when something takes long.

    Raises:
        SourceUnavailable: The named one does not answer.
        EnvironmentProblem: (from the function) none can be started; the message gives the reason.
    """
    if named is not None:
        require_answer(named)
        yield lambda: named
        return
    kafka = EmbeddedKafka(options=KafkaProcessOptions(report=report))
    with closing(kafka), ThreadPoolExecutor(max_workers=1) as background:
        starting = background.submit(kafka.start)

        def wait_for_start() -> str:
            starting.result()
            return kafka.bootstrap_servers

        yield wait_for_start


@contextmanager
def open_topic(bootstrap_servers: str) -> Iterator[OrdersTopic]:
    """Create a topic with a unique name, and delete it after the block.

    Raises:
        SourceUnavailable: The broker does not answer or does not allow it.
    """
    name = f"tidemark-demo-orders-{secrets.token_hex(4)}"
    admin = AdminClient(_client(bootstrap_servers, {}))
    try:
        admin.create_topics([NewTopic(name, num_partitions=len(ROLES))])[name].result(_DEADLINE_S)
        _wait_for_leaders(admin, name)
    except KafkaException as error:
        raise explain(error, action="creating the demo's topic", servers=bootstrap_servers) from error
    try:
        yield OrdersTopic(bootstrap_servers, name)
    finally:
        _delete(admin, bootstrap_servers, name)


def require_answer(bootstrap_servers: str) -> None:
    """Return if a broker answers.

    Raises:
        SourceUnavailable: It does not, within five seconds.
    """
    try:
        AdminClient(_client(bootstrap_servers, {})).list_topics(timeout=_ANSWER_S)
    except KafkaException as error:
        raise explain(error, action="asking for its topics", servers=bootstrap_servers) from error


def _wait_for_leaders(admin: AdminClient, name: str) -> None:
    pause = Event()
    for _ in range(_LEADER_ATTEMPTS):
        found = admin.list_topics(name, timeout=_DEADLINE_S).topics[name].partitions.values()
        if len(found) == len(ROLES) and all(partition.leader >= 0 for partition in found):
            return
        pause.wait(_LEADER_PAUSE_S)
    raise SourceUnavailable(f"topic {name} has no leader for each of its partitions")


def _delete(admin: AdminClient, bootstrap_servers: str, name: str) -> None:
    try:
        admin.delete_topics([name])[name].result(_DEADLINE_S)
    except KafkaException as error:
        raise explain(error, action=f"deleting topic '{name}'", servers=bootstrap_servers) from error


def _client(bootstrap_servers: str, more: dict[str, str]) -> dict[str, Any]:
    """Return a client's settings; librdkafka logs nothing, because errors reach us by themselves."""
    silent = logging.Logger("tidemark-demo")  # noqa: LOG001 - one that no configuration can reach
    silent.addHandler(logging.NullHandler())
    return {"bootstrap.servers": bootstrap_servers, "log_level": 0, "logger": silent, **more}
