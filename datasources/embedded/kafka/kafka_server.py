"""A real Kafka in a process of this machine: one KRaft node on loopback, for demos, benchmarks and tests."""

from __future__ import annotations

import base64
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache, report_on_stderr
from datasources.embedded.fetch.settings import KAFKA_VARIABLE
from datasources.embedded.kafka.kafka_config import KafkaAddress, server_properties
from datasources.embedded.kafka.kafka_security import KafkaLogin, scram_arguments, secured_client, secured_listener
from datasources.embedded.process.embedded_server import EmbeddedServer
from datasources.errors import InternalError
from datasources.java import find_java

KAFKA_VERSION: Final = "4.3.1"

_BUNDLE: Final = JarBundle(
    title=f"Kafka {KAFKA_VERSION}",
    directory_name=f"kafka-{KAFKA_VERSION}",
    size_mb=40,
    artifacts=(
        Artifact(organisation="org.apache.kafka", name="kafka_2.13", revision=KAFKA_VERSION),
        # Kafka's jars bring no logger; this one writes to the server's output.
        Artifact(organisation="org.slf4j", name="slf4j-simple", revision="1.7.36"),
    ),
    # Used when Kafka is compiled, never when it runs.
    excluded=(Artifact(organisation="org.scala-lang", name="scala-reflect", revision=""),),
    instead=(
        f"A running broker can be used instead: set {KAFKA_VARIABLE}=host:port "
        "(for the tests TIDEMARK_TEST_KAFKA=host:port)."
    ),
    is_pinned=True,
)
_JVM_OPTIONS: Final = (
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.showShortLogName=true",
)
_FORMAT_DEADLINE_S: Final = 60.0
_PROBE_S: Final = 1.0
_CLUSTER_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaProcessOptions:
    """How the broker's process is run.

    Attributes:
        heap_mb: Largest Java heap, in MB.
        jvm_options: Further options of the JVM. By default the first compiler only: the broker is up a fifth sooner
            and takes less CPU from what it serves on a small machine.
        start_deadline_s: How long a start may take, in seconds.
        report: Receives a line when something takes long, such as the first fetch.
    """

    heap_mb: int = 512
    jvm_options: tuple[str, ...] = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    start_deadline_s: float = 60.0
    report: Callable[[str], None] = field(default=report_on_stderr)


class EmbeddedKafka(EmbeddedServer):
    """A single-node Kafka that exists as long as its ``with`` block.

    It listens on loopback only, without authentication unless it is given a login, then with TLS on a second port as
    well. ``stop`` and ``kill`` take the broker away and ``start`` brings
    it back on the same port with the same data; leaving the block, or the end of this process by whatever cause, ends
    it and removes its data.

    Args:
        config: Broker settings in Kafka's names; they win over ours (see ``BROKER_DEFAULTS``).
        options: How the process is run.
        login: The login of a second listener with TLS; see `secured`.
    """

    kind_title: ClassVar[str] = "Kafka"
    stop_grace_s: ClassVar[float] = 20.0

    def __init__(
        self,
        config: Mapping[str, str] | None = None,
        *,
        options: KafkaProcessOptions | None = None,
        login: KafkaLogin | None = None,
    ) -> None:
        super().__init__()
        self._config = dict(config or {})
        self._login = login
        self._options = options or KafkaProcessOptions()
        self._java: list[str] = []
        self._cluster_id = _new_cluster_id()
        self._is_formatted = False

    @property
    def bootstrap_servers(self) -> str:
        """``host:port`` for clients; it stays the same over stops and starts."""
        if not self._ports:
            raise self._not_started()
        return _address(self._ports).bootstrap_servers

    def secured(self, mechanism: str = "SCRAM-SHA-512") -> dict[str, str]:
        """Return a client's settings for the secured listener, in Kafka's names.

        Raises:
            InternalError: it has no login, or was not started yet.
        """
        if self._login is None:
            raise InternalError("the embedded Kafka has no secured listener: give it a login")
        if not self._ports:
            raise self._not_started()
        address = _address(self._ports).secured_servers
        return secured_client(self._login, address, self._started_server().directory, mechanism)

    def _first_start(self) -> None:
        java = str(find_java().executable)
        jars = JarCache(report=self._options.report).provide(_BUNDLE)
        self._java = [java, *self._options.jvm_options, *_JVM_OPTIONS, "-cp", f"{jars}/*"]
        self._make(self.kind_title, lambda: self._start_on_free_ports(2 if self._login is None else 3))

    def _start_process(self, ports: tuple[int, ...]) -> None:
        self._require_free(ports)
        address, server = _address(ports), self._started_server()
        properties = server.directory / "server.properties"
        properties.write_text(self._properties(address), encoding="utf-8")
        if not self._is_formatted:
            arguments = ["format", "-t", self._cluster_id, "-c", str(properties)]
            arguments += [] if self._login is None else scram_arguments(self._login)
            server.run([*self._java, "kafka.tools.StorageTool", *arguments], deadline_s=_FORMAT_DEADLINE_S)
            self._is_formatted = True
        command = [*self._java, f"-Xmx{self._options.heap_mb}m", "kafka.Kafka", str(properties)]
        self._run(command, lambda: self._is_ready(address), deadline_s=self._options.start_deadline_s)

    def _properties(self, address: KafkaAddress) -> str:
        """Return the text of the node's server.properties."""
        secured = {} if self._login is None else secured_listener(self._login, self._started_server().directory)
        return server_properties(address, self.data_dir, {**secured, **self._config})

    def _is_ready(self, address: KafkaAddress) -> bool:
        """Return whether the broker answers a client and leads all its partitions."""
        metadata = broker_metadata(address.bootstrap_servers)
        if metadata is None:
            return False
        partitions = [partition for topic in metadata.topics.values() for partition in topic.partitions.values()]
        return bool(metadata.brokers) and all(partition.leader >= 0 for partition in partitions)


def _address(ports: tuple[int, ...]) -> KafkaAddress:
    broker, controller, *secured = ports
    return KafkaAddress(broker_port=broker, controller_port=controller, secured_port=next(iter(secured), None))


def broker_metadata(server: str) -> Any:
    """Return what one broker, ``host:port``, knows of its cluster (`AdminClient.list_topics`); None if it is not up."""
    host, port = server.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=_PROBE_S).close()
    except OSError:
        return None
    settings = {"bootstrap.servers": server, "log_level": 0, "logger": _silent_logger()}
    with AdminClient(settings) as admin:
        try:
            return admin.list_topics(timeout=_PROBE_S)
        except KafkaException:
            return None


def _silent_logger() -> logging.Logger:
    """Return a logger for refused connections, which are no news while a broker starts."""
    silent = logging.Logger("embedded-kafka-readiness")  # noqa: LOG001 - one that no configuration can reach
    silent.addHandler(logging.NullHandler())
    return silent


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(_CLUSTER_ID_BYTES)).decode().rstrip("=").replace("-", "A", 1)
