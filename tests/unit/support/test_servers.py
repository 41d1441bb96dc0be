"""Where the tests' broker comes from: the environment, else Docker, else embedded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.support import servers
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.servers import KAFKA_IMAGE, KafkaOrigin, choose_kafka, docker_answers, open_kafka


@contextmanager
def embedded() -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(bootstrap_servers="127.0.0.1:1")


@contextmanager
def container() -> Iterator[KafkaServer]:
    yield KafkaServer("127.0.0.1:2", origin="Docker")


@contextmanager
def container_without_image() -> Iterator[KafkaServer]:
    raise OSError("no such image")
    yield


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("TIDEMARK_TEST_KAFKA", raising=False)
    monkeypatch.setattr(servers, "docker_answers", lambda: False)
    monkeypatch.setattr(servers, "EmbeddedKafka", embedded)
    monkeypatch.setattr(servers, "_container", container)
    return monkeypatch


def opened() -> tuple[str, str]:
    with open_kafka() as server:
        return server.bootstrap_servers, server.origin


def test_a_named_broker_is_used_without_asking_docker():
    assert choose_kafka({"TIDEMARK_TEST_KAFKA": "host:9092"}, lambda: pytest.fail("asked")) is KafkaOrigin.ENVIRONMENT


def test_without_a_named_broker_docker_comes_before_our_own():
    assert choose_kafka({"TIDEMARK_TEST_KAFKA": " "}, lambda: True) is KafkaOrigin.DOCKER
    assert choose_kafka({}, lambda: False) is KafkaOrigin.EMBEDDED


def test_a_docker_engine_that_is_not_there_answers_no(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    assert not docker_answers()
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    assert not docker_answers()


def test_without_docker_the_broker_is_embedded(machine: pytest.MonkeyPatch):
    address, origin = opened()
    assert address == "127.0.0.1:1"
    assert origin.startswith("embedded Kafka ")


def test_with_docker_the_broker_is_a_container(machine: pytest.MonkeyPatch):
    machine.setattr(servers, "docker_answers", lambda: True)
    assert opened() == ("127.0.0.1:2", "Docker")


def test_docker_without_the_image_is_skipped_and_summarised(machine: pytest.MonkeyPatch):
    machine.setattr(servers, "docker_answers", lambda: True)
    machine.setattr(servers, "_container", container_without_image)
    address, origin = opened()
    assert address == "127.0.0.1:1"
    assert f"a Docker engine answers but does not run {KAFKA_IMAGE}: no such image" in origin


def test_a_named_broker_that_does_not_answer_is_an_error_and_nothing_takes_its_place(machine: pytest.MonkeyPatch):
    machine.setenv("TIDEMARK_TEST_KAFKA", "127.0.0.1:1")
    machine.setattr(servers, "_BROKER_TIMEOUT_S", 0.2)
    with pytest.raises(AssertionError, match=r"TIDEMARK_TEST_KAFKA names 127\.0\.0\.1:1, which does not answer"):
        opened()
