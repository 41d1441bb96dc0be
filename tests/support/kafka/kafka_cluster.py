"""A real cluster of three brokers on loopback, each of which can be killed, hung, stopped and started again.

One controller of its own and three brokers: any number of brokers may be away and the cluster still elects leaders.
"""

from __future__ import annotations

import base64
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Any, Final, Protocol

from confluent_kafka.admin import AdminClient, NewTopic

from datasources.embedded import EmbeddedKafka, KafkaProcessOptions
from datasources.embedded.kafka.kafka_config import KafkaAddress
from datasources.embedded.kafka.kafka_server import broker_metadata
from datasources.embedded.process.ports import LOOPBACK
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.tcp_switch import TcpSwitch, tcp_switch

__all__ = ["BROKERS", "ClusterNode", "KafkaCluster", "OpenCluster", "open_cluster"]

BROKERS: Final = (1, 2, 3)
"""Ids of the brokers."""

_CONTROLLER: Final = 100
_CONTROLLER_HEAP_MB: Final = 160
_BROKER_HEAP_MB: Final = 256
_PROBE_S: Final = 1.0
_DEADLINE_S: Final = 60.0
_PAUSE_S: Final = 0.1
_REPLICATED: Final = {
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    # A broker that hangs leaves the in-sync replicas soon.
    "replica.lag.time.max.ms": "3000",
    "replica.socket.timeout.ms": "3000",
    # The brokers stay where the test put the leaders.
    "auto.leader.rebalance.enable": "false",
}


class ClusterNode(EmbeddedKafka):
    """One process of a cluster.

    Args:
        node_id: its id.
        cluster_id: the cluster's.
        controller: ``host:port`` of the controller; None: it is the controller.
        config: broker settings in Kafka's names.
        switch: a second way to it, for clients that a test cuts off.
    """

    def __init__(
        self,
        node_id: int,
        cluster_id: str,
        controller: str | None,
        config: Mapping[str, str],
        switch: TcpSwitch | None = None,
    ) -> None:
        heap = _CONTROLLER_HEAP_MB if controller is None else _BROKER_HEAP_MB
        super().__init__(config, options=KafkaProcessOptions(heap_mb=heap, start_deadline_s=_DEADLINE_S))
        self.node_id = node_id
        self.is_hung = False
        self.switch = switch
        self._controller = controller
        self._cluster_id = cluster_id

    @property
    def controller_address(self) -> str:
        """``host:port`` at which the brokers find the controller."""
        return self._controller or f"{LOOPBACK}:{self._ports[1]}"

    @property
    def answers(self) -> bool:
        """Whether it runs and is not hung."""
        return self.is_running and not self.is_hung

    def start(self) -> None:
        """Start it on its ports; the switch leads to it."""
        super().start()
        if self.switch is not None:
            self.switch.lead_to(self._ports[1])

    def hang(self) -> None:
        """Let the process stand still (SIGSTOP): its connections stay open and nothing is answered."""
        self._signal(signal.SIGSTOP)
        self.is_hung = True

    def resume(self) -> None:
        """Let a process that hangs go on (SIGCONT)."""
        if self.is_hung:
            self._signal(signal.SIGCONT)
            self.is_hung = False

    def stop(self) -> None:
        """Stop it in good order and keep its data."""
        self.resume()
        super().stop()

    def kill(self) -> None:
        """Kill it (SIGKILL), hung or not, and keep its data."""
        super().kill()
        self.is_hung = False

    def _signal(self, number: signal.Signals) -> None:
        assert self.is_running, f"node {self.node_id} does not run"
        assert self.pid is not None
        os.killpg(self.pid, number)

    def _properties(self, address: KafkaAddress) -> str:
        is_controller = self._controller is None
        controller = self._controller or f"{LOOPBACK}:{address.controller_port}"
        listener = f"CONTROLLER://{controller}" if is_controller else f"BROKER://{address.bootstrap_servers}"
        own = {
            "process.roles": "controller" if is_controller else "broker",
            "node.id": str(self.node_id),
            "controller.quorum.voters": f"{_CONTROLLER}@{controller}",
            "listeners": listener,
            "advertised.listeners": listener,
        }
        if not is_controller:
            own["broker.rack"] = f"rack-{self.node_id}"
        if self.switch is not None:  # a broker has no use for the controller's port
            own["listeners"] += f",CLIENT://{LOOPBACK}:{address.controller_port}"
            own["advertised.listeners"] += f",CLIENT://{LOOPBACK}:{self.switch.port}"
            own["listener.security.protocol.map"] = "BROKER:PLAINTEXT,CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT"
        # Of two lines with one name the later one counts.
        return super()._properties(address) + "".join(f"{name}={value}\n" for name, value in own.items())

    def _is_ready(self, address: KafkaAddress) -> bool:
        if self._controller is None:
            return _accepts(address.controller_port)
        metadata = broker_metadata(address.bootstrap_servers)
        return metadata is not None and self.node_id in metadata.brokers


class KafkaCluster(KafkaServer):
    """Three brokers; topics have three replicas.

    Args:
        brokers: by their ids, started.
    """

    def __init__(self, brokers: Mapping[int, ClusterNode]) -> None:
        servers = ",".join(node.bootstrap_servers for node in brokers.values())
        super().__init__(servers, origin="embedded cluster, for one test")
        self.brokers = dict(brokers)

    @property
    def switches(self) -> Mapping[int, TcpSwitch]:
        """The ports through which clients may be led, by broker."""
        return {number: node.switch for number, node in self.brokers.items() if node.switch is not None}

    @property
    def switched_servers(self) -> str:
        """``host:port`` of the switches, with commas: whoever starts there reaches every broker through its switch."""
        return ",".join(f"{LOOPBACK}:{switch.port}" for switch in self.switches.values())

    def create_assigned_topic(
        self, assignment: list[list[int]], config: Mapping[str, str] | None = None, name: str | None = None
    ) -> str:
        """Create a topic whose partitions lie on given brokers; the first of each list leads it.

        Args:
            assignment: the brokers of each partition, such as ``[[1, 2, 3], [2, 3, 1]]``.
            config: settings of the topic.
            name: of the topic; by default one that no other test has.
        """
        name = name or f"topic-{secrets.token_hex(6)}"
        settings = {"retention.ms": "-1", **(config or {})}
        topic = NewTopic(name, len(assignment), replica_assignment=assignment, config=settings)
        leaders = {leader for leader, *_ in assignment}
        with self._admin() as admin:
            # A broker that has answered after a restart may still be fenced: another one would lead, and go on to.
            _eventually(lambda: leaders <= _ready_brokers(admin), f"brokers {sorted(leaders)}")
            admin.create_topics([topic], request_timeout=_DEADLINE_S)[name].result(_DEADLINE_S)
        for partition, (leader, *_) in enumerate(assignment):
            self.wait_for_leader(topic=name, partition=partition, wanted=lambda found, led=leader: found == led)
        return name

    def leader(self, topic: str, partition: int) -> int:
        """Return the id of the broker that leads a partition, as the brokers that answer know it; -1: none does."""
        found = self._description(topic)
        return -1 if partition not in found else int(found[partition].leader)

    def in_sync(self, topic: str, partition: int) -> set[int]:
        """Return the ids of the brokers that are in sync with a partition's leader."""
        found = self._description(topic)
        return set() if partition not in found else set(found[partition].isrs)

    def wait_for_leader(
        self, topic: str, partition: int, wanted: Callable[[int], bool] = lambda leader: leader >= 0
    ) -> int:
        """Wait until a partition is led by a broker that `wanted` accepts, and return its id."""
        found = -1

        def is_led() -> bool:
            nonlocal found
            found = self.leader(topic, partition)
            return wanted(found)

        _eventually(is_led, f"a leader of {topic}-{partition}")
        return found

    def wait_until_in_sync(self, topic: str, partition: int, count: int = len(BROKERS)) -> None:
        """Wait until so many brokers are in sync with a partition's leader."""
        _eventually(lambda: len(self.in_sync(topic, partition)) >= count, f"{count} replicas of {topic}-{partition}")

    def kill(self, broker: int) -> None:
        """Kill a broker (SIGKILL) and keep its data."""
        self.brokers[broker].kill()

    def hang(self, broker: int) -> None:
        """Let a broker stand still (SIGSTOP)."""
        self.brokers[broker].hang()

    def resume(self, broker: int) -> None:
        """Let a broker that hangs go on (SIGCONT)."""
        self.brokers[broker].resume()

    def stop(self, broker: int) -> None:
        """Stop a broker in good order and keep its data."""
        self.brokers[broker].stop()

    def start(self, broker: int) -> None:
        """Start a broker again on the same port with the same data; return when it answers."""
        self.brokers[broker].start()

    def restore(self) -> None:
        """Let every broker run and answer."""
        for node in self.brokers.values():
            node.resume()
            node.start()

    def _description(self, topic: str) -> Mapping[int, Any]:
        """Return a topic's partitions as the first broker knows them that answers."""
        for node in self.brokers.values():
            metadata = broker_metadata(node.bootstrap_servers) if node.answers else None
            if metadata is not None and topic in metadata.topics:
                found: Mapping[int, Any] = metadata.topics[topic].partitions
                return found
        return {}

    def _admin(self) -> AdminClient:
        # The first connection goes to a broker that answers.
        servers = ",".join(node.bootstrap_servers for node in self.brokers.values() if node.answers)
        return AdminClient({"bootstrap.servers": servers or self.bootstrap_servers})


class OpenCluster(Protocol):
    """How the fixture ``own_cluster`` is called; see `open_cluster`."""

    def __call__(
        self, *, min_in_sync: int = 1, unclean_election: bool = False, has_switches: bool = False, **config: str
    ) -> KafkaCluster:
        """Start a cluster."""


@contextmanager
def open_cluster(
    *, min_in_sync: int = 1, unclean_election: bool = False, has_switches: bool = False, **config: str
) -> Iterator[KafkaCluster]:
    """Start a cluster for one test.

    Args:
        min_in_sync: brokers that must have a record before it is acknowledged.
        unclean_election: whether a broker that lacks records may become leader when no other one is left.
        has_switches: whether brokers have a second listener, reached through a switch each.
        config: further broker settings; ``_`` in names stands for a dot.

    Raises:
        EnvironmentProblem: this machine cannot run one.
    """
    cluster_id = base64.urlsafe_b64encode(b"\1" + secrets.token_bytes(15)).decode().rstrip("=").replace("-", "A")
    settings = {
        **_REPLICATED,
        "min.insync.replicas": str(min_in_sync),
        "unclean.leader.election.enable": str(unclean_election).lower(),
        **{name.replace("_", "."): value for name, value in config.items()},
    }
    with ExitStack() as stack:
        controller = stack.enter_context(ClusterNode(_CONTROLLER, cluster_id, None, settings))
        address = controller.controller_address
        switches = {number: stack.enter_context(tcp_switch(0)) if has_switches else None for number in BROKERS}
        nodes = {
            number: ClusterNode(number, cluster_id, address, settings, switch) for number, switch in switches.items()
        }
        for node in nodes.values():
            stack.callback(node.close)
        with ThreadPoolExecutor(len(nodes)) as pool:
            list(pool.map(lambda node: node.start(), nodes.values()))
        yield KafkaCluster(nodes)


def _ready_brokers(admin: AdminClient) -> set[int]:
    """Return the brokers that may lead partitions, as the controller sees them."""
    return {node.id for node in admin.describe_cluster(request_timeout=_DEADLINE_S).result().nodes}


def _accepts(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=_PROBE_S).close()
    except OSError:
        return False
    return True


def _eventually(condition: Callable[[], bool], what: str) -> None:
    pause = Event()
    for _ in range(int(_DEADLINE_S / _PAUSE_S)):
        if condition():
            return
        pause.wait(_PAUSE_S)
    raise AssertionError(f"waited for {what} in vain")
