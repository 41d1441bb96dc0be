"""Where the tests' broker comes from: the environment, else Docker, else a process of our own."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import Enum
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from datasources.embedded import KAFKA_VERSION, EmbeddedKafka
from datasources.embedded.kafka.kafka_config import BROKER_DEFAULTS
from tests.support.kafka.kafka_server import KafkaServer, OwnKafka

__all__ = ["KAFKA_IMAGE", "TEST_KAFKA_VARIABLE", "KafkaOrigin", "choose_kafka", "open_kafka", "open_own_kafka"]

TEST_KAFKA_VARIABLE: Final = "TIDEMARK_TEST_KAFKA"
KAFKA_IMAGE: Final = "confluentinc/cp-kafka:7.9.0"
# By name, because to mypy and ruff `docker` is the project's folder of that name.
_DOCKER: Final[Any] = importlib.import_module("docker")
_DOCKER_ERROR: Final[type[Exception]] = _DOCKER.errors.DockerException
_DOCKER_TIMEOUT_S: Final = 2
_BROKER_TIMEOUT_S: Final = 10.0


class KafkaOrigin(Enum):
    """Where a broker comes from, best first."""

    ENVIRONMENT = "environment"
    DOCKER = "Docker"
    EMBEDDED = "embedded"


def docker_answers() -> bool:
    """Return whether a Docker engine answers, within two seconds."""
    try:
        client = _DOCKER.from_env(timeout=_DOCKER_TIMEOUT_S)
    except _DOCKER_ERROR:
        return False
    try:
        return bool(client.ping())
    except (_DOCKER_ERROR, OSError):
        return False
    finally:
        client.close()


def choose_kafka(environment: Mapping[str, str], has_docker: Callable[[], bool]) -> KafkaOrigin:
    """Return where the broker is taken from; Docker is asked only where the environment names no broker."""
    if environment.get(TEST_KAFKA_VARIABLE, "").strip():
        return KafkaOrigin.ENVIRONMENT
    return KafkaOrigin.DOCKER if has_docker() else KafkaOrigin.EMBEDDED


@contextmanager
def open_kafka() -> Iterator[KafkaServer]:
    """Give a running broker for the whole test session.

    Raises:
        EnvironmentProblem: This machine cannot run one.
        AssertionError: The environment names a broker, and it does not answer.
    """
    with ExitStack() as stack:
        origin = choose_kafka(os.environ, docker_answers)
        if origin is KafkaOrigin.ENVIRONMENT:
            yield _named_kafka(os.environ[TEST_KAFKA_VARIABLE].strip())
            return
        label = f"embedded Kafka {KAFKA_VERSION}"
        if origin is KafkaOrigin.DOCKER:
            try:
                server = stack.enter_context(_container())
            except (_DOCKER_ERROR, OSError) as error:
                # An engine without a way to the image is common; the summary says what was used and why.
                label = f"{label} (a Docker engine answers but does not run {KAFKA_IMAGE}: {error})"
            else:
                yield server
                return
        yield KafkaServer(stack.enter_context(EmbeddedKafka()).bootstrap_servers, origin=label)


@contextmanager
def open_own_kafka() -> Iterator[OwnKafka]:
    """Give a broker that one test may stop and kill; always an embedded one.

    Raises:
        EnvironmentProblem: This machine cannot run one.
    """
    with EmbeddedKafka() as kafka:
        yield OwnKafka(kafka)


def _named_kafka(bootstrap_servers: str) -> KafkaServer:
    try:
        with AdminClient({"bootstrap.servers": bootstrap_servers}) as admin:
            admin.list_topics(timeout=_BROKER_TIMEOUT_S)
    except KafkaException as error:
        message = f"{TEST_KAFKA_VARIABLE} names {bootstrap_servers}, which does not answer: {error}"
        raise AssertionError(message) from error
    return KafkaServer(bootstrap_servers, origin=f"{TEST_KAFKA_VARIABLE}={bootstrap_servers}")


@contextmanager
def _container() -> Iterator[KafkaServer]:
    from testcontainers.kafka import KafkaContainer

    container = KafkaContainer(KAFKA_IMAGE).with_kraft()
    for key, value in BROKER_DEFAULTS.items():
        container.with_env("KAFKA_" + key.upper().replace(".", "_"), value)
    try:
        container.start()
        yield KafkaServer(container.get_bootstrap_server(), origin=f"Docker, {KAFKA_IMAGE}")
    finally:
        container.stop()
