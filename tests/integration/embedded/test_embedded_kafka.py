"""The embedded Kafka is a real broker: it keeps data over outages, and nothing of it outlives its owner."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from datasources.embedded import EmbeddedKafka, KafkaProcessOptions
from datasources.embedded.kafka import kafka_server as kafka_module
from datasources.embedded.process import embedded_server
from datasources.errors import EnvironmentProblem, InternalError
from tests.support.forms import full
from tests.support.kafka.kafka_server import KafkaServer, OwnKafka

pytestmark = pytest.mark.kafka

YEAR_2001_MS = 1_000_000_000_000
YEAR_2096_MS = 4_000_000_000_000


def read(bootstrap_servers: str, topic: str, count: int, partition: int = 0) -> list[bytes | None]:
    settings = {
        "bootstrap.servers": bootstrap_servers,
        "group.id": "reader",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    with Consumer(settings) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0)])
        messages = consumer.consume(count, timeout=30)
    assert all(message.error() is None for message in messages)
    return [message.value() for message in messages]


def watermarks(server: KafkaServer, topic: str) -> tuple[int, int]:
    with Consumer({"bootstrap.servers": server.bootstrap_servers, "group.id": "reader"}) as consumer:
        return consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)


def topics(server: KafkaServer) -> set[str]:
    with AdminClient({"bootstrap.servers": server.bootstrap_servers}) as admin:
        return set(admin.list_topics(timeout=30).topics)


def offset_for_time(server: KafkaServer, topic: str, timestamp_ms: int) -> int:
    with Consumer({"bootstrap.servers": server.bootstrap_servers, "group.id": "reader"}) as consumer:
        [found] = consumer.offsets_for_times([TopicPartition(topic, 0, timestamp_ms)], timeout=30)
    return found.offset


def eventually(condition: Callable[[], bool]) -> bool:
    pause = threading.Event()
    for _ in range(600):
        if condition():
            return True
        pause.wait(0.05)
    return False


def test_records_of_any_year_are_kept_in_order_with_a_time_index(kafka: KafkaServer):
    topic = kafka.create_topic(partitions=2)
    records = [(b"k", b"old", YEAR_2001_MS), (None, b"new", YEAR_2096_MS), (b"k", None, YEAR_2096_MS + 1)]
    assert kafka.produce(topic, 0, records) == 3
    assert kafka.produce(topic, 1, [b"a", b"b"]) == 2
    assert read(kafka.bootstrap_servers, topic, 3) == [b"old", b"new", None]
    assert read(kafka.bootstrap_servers, topic, 2, partition=1) == [b"a", b"b"]
    assert offset_for_time(kafka, topic, YEAR_2001_MS + 1) == 1


def test_deleted_records_move_the_start_of_the_log(kafka: KafkaServer):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"0", b"1", b"2", b"3"])
    kafka.delete_records(topic, 0, 3)
    assert watermarks(kafka, topic) == (3, 4)


def test_a_topic_can_grow_and_go(kafka: KafkaServer):
    topic = kafka.create_topic()
    kafka.create_partitions(topic, 3)
    assert kafka.produce(topic, 2, [b"late"]) == 1
    kafka.delete_topic(topic)


def test_records_of_an_aborted_transaction_take_offsets_but_are_not_read(kafka: KafkaServer):
    topic = kafka.create_topic()
    kafka.produce_transaction(topic, 0, [b"no", b"no"], commit=False)
    kafka.produce_transaction(topic, 0, [b"yes"], commit=True)
    assert read(kafka.bootstrap_servers, topic, 1) == [b"yes"]
    assert watermarks(kafka, topic) == (0, 5)  # three records and two markers


def test_a_topic_that_was_not_created_does_not_come_into_being(own_kafka: OwnKafka):
    refused: list[object] = []
    settings = {"bootstrap.servers": own_kafka.bootstrap_servers, "topic.metadata.propagation.max.ms": 500}
    with Producer(settings) as producer:
        producer.produce("never-created", b"x", on_delivery=lambda error, _message: refused.append(error))
        producer.flush(30)
    assert "Unknown topic" in str(refused)
    assert "never-created" not in topics(own_kafka)


@pytest.mark.slow
@pytest.mark.parametrize("way", [*full("stop"), "kill"])
def test_after_an_outage_the_broker_is_back_on_its_port_with_its_data(own_kafka: OwnKafka, way: str):
    topic = own_kafka.create_topic()
    own_kafka.produce(topic, 0, [b"before"])
    address, embedded = own_kafka.bootstrap_servers, own_kafka.embedded
    getattr(own_kafka, way)()
    assert not embedded.is_running
    host, port = address.split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)
    own_kafka.start()
    assert embedded.is_running
    assert own_kafka.bootstrap_servers == address == embedded.bootstrap_servers
    assert own_kafka.produce(topic, 0, [b"after"]) == 2
    assert read(address, topic, 2) == [b"before", b"after"]


def test_stopping_and_starting_twice_changes_nothing(own_kafka: OwnKafka):
    embedded = own_kafka.embedded
    pid = embedded.pid
    own_kafka.start()
    assert embedded.pid == pid
    own_kafka.stop()
    own_kafka.stop()
    own_kafka.kill()
    assert not embedded.is_running


def test_leaving_the_block_removes_process_log_and_data():
    with EmbeddedKafka() as kafka:
        pid, data, log = kafka.pid, kafka.data_dir, kafka.log_path
        assert data.is_dir()
        assert "Kafka Server started" in log.read_text()
    assert pid is not None
    assert not psutil.pid_exists(pid)
    assert not data.parent.exists()
    assert not kafka.is_running


def test_settings_of_the_caller_reach_the_broker():
    with EmbeddedKafka({"auto.create.topics.enable": "true"}) as kafka:
        assert KafkaServer(kafka.bootstrap_servers, origin="test").produce("made-on-demand", 0, [b"x"]) == 1


def test_two_brokers_at_once_do_not_meet(kafka: KafkaServer, own_kafka: OwnKafka):
    topic = own_kafka.create_topic()
    assert own_kafka.bootstrap_servers != kafka.bootstrap_servers
    own_kafka.produce(topic, 0, [b"mine"])
    assert topic in topics(own_kafka)
    assert topic not in topics(kafka)


def test_a_broker_that_cannot_start_names_the_reason_and_leaves_nothing(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(
        EnvironmentProblem,
        match=r"ended with 1; from its log:[^$]*Invalid value none for configuration num\.network\.threads",
    ):
        EmbeddedKafka({"num.network.threads": "none"}).start()
    assert eventually(lambda: not list(tmp_path.iterdir()))


def test_a_port_that_is_taken_in_between_is_replaced_at_the_first_start(monkeypatch: pytest.MonkeyPatch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken, free = listener.getsockname()[1], embedded_server.free_ports(3)
        offers = iter([(taken, free[0]), (free[1], free[2])])
        monkeypatch.setattr(embedded_server, "free_ports", lambda _count: next(offers))
        monkeypatch.setattr(embedded_server, "is_free", lambda _port: True)
        with EmbeddedKafka() as kafka:
            assert kafka.bootstrap_servers == f"127.0.0.1:{free[1]}"


def test_a_port_that_is_taken_during_an_outage_is_named(own_kafka: OwnKafka):
    host, port = own_kafka.bootstrap_servers.split(":")
    own_kafka.stop()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen()
        with pytest.raises(EnvironmentProblem, match=f"another process listens on its port {port}"):
            own_kafka.start()
    own_kafka.start()


def test_use_before_the_first_start_is_a_bug():
    with pytest.raises(InternalError, match="was not started yet"):
        _ = EmbeddedKafka().bootstrap_servers
    with pytest.raises(InternalError, match="was not started yet"):
        _ = EmbeddedKafka().data_dir


OWNER = """
from datasources.embedded import EmbeddedKafka
with EmbeddedKafka() as kafka:
    print(kafka.pid, kafka.data_dir.parent, flush=True)
    input()
"""


def test_a_killed_owner_leaves_neither_broker_nor_data():
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid, directory = owner.stdout.readline().split()
        assert psutil.pid_exists(int(pid))
        assert (Path(directory) / "data").is_dir()
        os.kill(owner.pid, signal.SIGKILL)
    assert eventually(lambda: not psutil.pid_exists(int(pid)) and not Path(directory).exists())


@pytest.mark.full
@pytest.mark.slow
def test_an_empty_cache_is_filled_by_one_of_two_processes_and_repaired_after_damage(tmp_path: Path):
    environment = {**os.environ, "TIDEMARK_CACHE": str(tmp_path)}
    script = (
        "from datasources.embedded import EmbeddedKafka\nwith EmbeddedKafka() as kafka: print(kafka.bootstrap_servers)"
    )

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    outputs = [(*process.communicate(), process.returncode) for process in [start(), start()]]
    assert [code for _, _, code in outputs] == [0, 0], outputs
    assert sum("fetching Kafka" in errors for _, errors, _ in outputs) == 1
    next((tmp_path / f"kafka-{kafka_module.KAFKA_VERSION}").glob("*kafka-clients.jar")).write_bytes(b"half")
    repaired = start()
    _, errors = repaired.communicate()
    assert repaired.returncode == 0
    assert "fetching Kafka" in errors


@pytest.mark.slow
def test_options_of_the_process_reach_it():
    options = KafkaProcessOptions(heap_mb=300, jvm_options=("-Dtidemark.probe=1",))
    with EmbeddedKafka(options=options) as kafka:
        command = psutil.Process(kafka.pid).cmdline()
    assert "-Xmx300m" in command
    assert "-Dtidemark.probe=1" in command
