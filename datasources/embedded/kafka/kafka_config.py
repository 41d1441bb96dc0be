"""The configuration of a single-node Kafka: what a test or demo needs, and nothing that waits for a second node."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from datasources.embedded.process.ports import LOOPBACK
from datasources.errors import OptionError

_MAX_INT64_TEXT: Final = str(2**63 - 1)

BROKER_DEFAULTS: Final[Mapping[str, str]] = {
    "auto.create.topics.enable": "false",
    # One node is every replica there can be.
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Internal topics of fifty partitions cost seconds at their first use.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    # Tests write records of any year: none may expire by its timestamp or be refused for it.
    "log.retention.ms": "-1",
    "log.message.timestamp.before.max.ms": _MAX_INT64_TEXT,
    "log.message.timestamp.after.max.ms": _MAX_INT64_TEXT,
    # The cleaner's default buffer would be a quarter of the heap.
    "log.cleaner.threads": "1",
    "log.cleaner.dedupe.buffer.size": str(8 * 1024 * 1024),
    # After a crash the controller waits for the old broker's session to end: 9 s by default, and less than 3 s would
    # fence a broker that a busy machine keeps waiting.
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "num.network.threads": "2",
    "num.io.threads": "4",
}
"""Broker settings of every Kafka that we start ourselves, in Kafka's own names and units."""

_OURS: Final = frozenset(
    {
        "process.roles",
        "node.id",
        "controller.quorum.voters",
        "controller.listener.names",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaAddress:
    """The loopback ports of a node that is broker and controller; the secured one is left out unless it is named."""

    broker_port: int
    controller_port: int
    secured_port: int | None = None

    @property
    def bootstrap_servers(self) -> str:
        """``host:port`` for clients."""
        return f"{LOOPBACK}:{self.broker_port}"

    @property
    def secured_servers(self) -> str:
        """``host:port`` of the secured listener."""
        return f"{LOOPBACK}:{self.secured_port}"


def server_properties(address: KafkaAddress, data: Path, config: Mapping[str, str]) -> str:
    """Return the text of a server.properties file.

    The caller's settings in ``config`` win over our defaults.

    Raises:
        OptionError: ``config`` sets what makes the node an embedded one, or holds a line break.
    """
    _check(config)
    settings = {**BROKER_DEFAULTS, **config, **_node(address, data)}
    return "".join(f"{key}={_escape(value)}\n" for key, value in settings.items())


def _node(address: KafkaAddress, data: Path) -> dict[str, str]:
    controller = f"{LOOPBACK}:{address.controller_port}"
    listeners, protocols = f"BROKER://{address.bootstrap_servers}", "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT"
    if address.secured_port is not None:
        listeners, protocols = f"{listeners},SECURED://{address.secured_servers}", f"{protocols},SECURED:SASL_SSL"
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{listeners},CONTROLLER://{controller}",
        "advertised.listeners": listeners,
        "listener.security.protocol.map": protocols,
        "inter.broker.listener.name": "BROKER",
        "log.dirs": str(data),
    }


def _check(config: Mapping[str, str]) -> None:
    for key, value in config.items():
        if key in _OURS:
            raise OptionError(f"broker setting {key!r} is made by the embedded Kafka itself: leave it out")
        if not key or any(mark in key for mark in "\r\n=: ") or any(mark in value for mark in "\r\n"):
            near = difflib.get_close_matches(key.strip(), BROKER_DEFAULTS, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise OptionError(f"broker setting {key!r} = {value!r} cannot stand in a properties file{hint}")


def _escape(value: str) -> str:
    """Write a value as Java's properties format reads it back."""
    escaped = value.replace("\\", "\\\\")
    return "\\" + escaped if escaped.startswith(" ") else escaped
