"""A real Kafka in a process of this machine: one KRaft node on loopback, for demos, benchmarks and tests."""

from __future__ import annotations

import base64
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from datasources.embedded.ivy import Artifact
from datasources.embedded.jars import JarBundle, JarCache, tell_on_stderr
from datasources.embedded.kafka_config import KafkaAddress, server_properties
from datasources.embedded.local_server import LocalServer
from datasources.embedded.ports import LOOPBACK, free_ports, is_free
from datasources.embedded.settings import KAFKA_VARIABLE
from datasources.errors import EnvironmentProblem, InternalError
from datasources.java import find_java

__all__ = ["KAFKA_VERSION", "EmbeddedKafka", "KafkaProcessOptions"]

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
)
_JVM_OPTIONS: Final = (
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.showShortLogName=true",
)
_PORT_ATTEMPTS: Final = 5
_TAKEN: Final = "Address already in use"
_FORMAT_DEADLINE_S: Final = 60.0
_STOP_GRACE_S: Final = 20.0
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
        tell: Receives a line when something takes long, such as the first fetch.
    """

    heap_mb: int = 512
    jvm_options: tuple[str, ...] = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    start_deadline_s: float = 60.0
    tell: Callable[[str], None] = field(default=tell_on_stderr)


class EmbeddedKafka:
    """A single-node Kafka that exists as long as its ``with`` block.

    It listens on loopback only, without authentication. ``stop`` and ``kill`` take the broker away and ``start`` brings
    it back on the same port with the same data; leaving the block, or the end of this process by whatever cause, ends
    it and removes its data.

    Args:
        config: Broker settings in Kafka's names; they win over ours (see ``BROKER_DEFAULTS``).
        options: How the process is run.
    """

    def __init__(self, config: Mapping[str, str] | None = None, *, options: KafkaProcessOptions | None = None) -> None:
        self._config = dict(config or {})
        self._options = options or KafkaProcessOptions()
        self._server: LocalServer | None = None
        self._address: KafkaAddress | None = None
        self._command: list[str] = []

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def bootstrap_servers(self) -> str:
        """``host:port`` for clients; it stays the same over stops and starts."""
        if self._address is None:
            raise InternalError("the embedded Kafka was not started yet: use it in a with block or call start() first")
        return self._address.bootstrap_servers

    @property
    def log_path(self) -> Path:
        """The broker's log, over all its runs; it is removed on close."""
        return self._started_server().log_path

    @property
    def data_dir(self) -> Path:
        """The broker's data directory; it is removed on close."""
        return self._started_server().directory / "data"

    @property
    def pid(self) -> int | None:
        """Process id of the newest broker process."""
        return self._started_server().pid

    @property
    def is_running(self) -> bool:
        """Whether the broker's process is there; it may be starting."""
        return self._server is not None and self._server.is_running

    def start(self) -> None:
        """Start the broker and return when it answers; do nothing if it runs.

        Raises:
            EnvironmentProblem: Java or the jars cannot be had, or the broker does not come up; the message says why.
            OptionError: A broker setting cannot be used.
        """
        if self.is_running:
            return
        if self._address is None:
            self._first_start()
        else:
            self._launch(self._address)

    def stop(self) -> None:
        """Stop the broker in good order and keep its data; do nothing if it does not run."""
        if self.is_running:
            self._started_server().stop(grace_s=_STOP_GRACE_S)

    def kill(self) -> None:
        """Kill the broker as a crash would (SIGKILL) and keep its data; do nothing if it does not run."""
        if self.is_running:
            self._started_server().kill()

    def close(self) -> None:
        """End the broker and remove its data; it cannot be started again."""
        if self._server is not None:
            self._server.close()

    def _first_start(self) -> None:
        java = str(find_java().executable)
        jars = JarCache(tell=self._options.tell).provide(_BUNDLE)
        self._server = LocalServer("Kafka")
        try:
            self._prepare([java, *self._options.jvm_options, *_JVM_OPTIONS, "-cp", f"{jars}/*"])
        except BaseException:
            self._server.close()
            raise

    def _prepare(self, java: list[str]) -> None:
        server = self._started_server()
        properties = server.directory / "server.properties"
        self._command = [*java, f"-Xmx{self._options.heap_mb}m", "kafka.Kafka", str(properties)]
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            broker, controller = free_ports(2)
            address = KafkaAddress(broker_port=broker, controller_port=controller)
            properties.write_text(server_properties(address, self.data_dir, self._config), encoding="utf-8")
            if attempt == 1:
                arguments = ["format", "-t", _new_cluster_id(), "-c", str(properties)]
                server.run([*java, "kafka.tools.StorageTool", *arguments], deadline_s=_FORMAT_DEADLINE_S)
            try:
                self._launch(address)
            except _PortTaken:
                if attempt == _PORT_ATTEMPTS:
                    raise
            else:
                self._address = address
                return

    def _launch(self, address: KafkaAddress) -> None:
        server = self._started_server()
        for port in (address.broker_port, address.controller_port):
            if not is_free(port):
                raise _PortTaken(f"Kafka cannot start: another process listens on its port {port} of {LOOPBACK}")
        server.start(self._command)
        try:
            server.wait_until(lambda: _answers(address), deadline_s=self._options.start_deadline_s)
        except EnvironmentProblem as problem:
            # Between our look and the broker's bind another process may have taken a port.
            if _TAKEN in server.log_of_run():
                raise _PortTaken(problem.message) from problem
            raise

    def _started_server(self) -> LocalServer:
        if self._server is None:
            raise InternalError("the embedded Kafka was not started yet: use it in a with block or call start() first")
        return self._server


class _PortTaken(EnvironmentProblem):
    """Another process has one of the ports; other ports will do at the first start."""


def _answers(address: KafkaAddress) -> bool:
    """Return whether the broker answers a client and leads all its partitions."""
    try:
        socket.create_connection((LOOPBACK, address.broker_port), timeout=_PROBE_S).close()
    except OSError:
        return False
    settings = {"bootstrap.servers": address.bootstrap_servers, "log_level": 0, "logger": _silent_logger()}
    with AdminClient(settings) as admin:
        try:
            metadata = admin.list_topics(timeout=_PROBE_S)
        except KafkaException:
            return False
    partitions = [partition for topic in metadata.topics.values() for partition in topic.partitions.values()]
    return bool(metadata.brokers) and all(partition.leader >= 0 for partition in partitions)


def _silent_logger() -> logging.Logger:
    """Return a logger for refused connections, which are no news while a broker starts."""
    silent = logging.Logger("embedded-kafka-readiness")  # noqa: LOG001 - one that no configuration can reach
    silent.addHandler(logging.NullHandler())
    return silent


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(_CLUSTER_ID_BYTES)).decode().rstrip("=").replace("-", "A", 1)
