"""What goes wrong around a Kafka query: brokers, networks and parts of the query itself."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from typing import Final

from tests.support.chaos.orders import Orders
from tests.support.kafka.kafka_cluster import BROKERS, KafkaCluster
from tests.support.spark.query_process import QueryProcess
from tests.support.spark.recording import QueryDirectory
from tests.support.tcp_switch import TcpSwitch

__all__ = ["STALL_S", "KafkaFaults"]

STALL_S: Final = 120.0
"""How long a split that can be read may stand still, in seconds; a new driver has its start besides."""

_AWAY_S: Final = 6.0


class KafkaFaults:
    """Injects one fault at a time, and waits until the query has read on.

    Attributes:
        injected: what was done, in order.

    Args:
        cluster: the brokers.
        switches: by broker, the ports through which the query reaches them.
        orders: writes meanwhile.
        query: reads meanwhile.
        recording: what the query leaves.
        topic: what is written and read.
        chance: decides what is hit.
    """

    def __init__(
        self,
        *,
        cluster: KafkaCluster,
        switches: Mapping[int, TcpSwitch],
        orders: Orders,
        query: QueryProcess,
        recording: QueryDirectory,
        topic: str,
        partitions: int,
        chance: random.Random,
    ) -> None:
        self.injected: list[str] = []
        self._cluster = cluster
        self._switches = switches
        self._orders = orders
        self._query = query
        self._recording = recording
        self._topic = topic
        self._partitions = partitions
        self._chance = chance

    @property
    def kinds(self) -> Mapping[str, Callable[[], None]]:
        """Every kind of fault by its name."""
        return {
            "leader killed": self._kill_leader,
            "leader hangs": self._hang_leader,
            "rolling restart": self._restart_all,
            "network cut": self._cut,
            "more partitions": self._grow,
            "driver killed": self._kill_driver,
            "planner killed": self._kill_planner,
            "worker killed": self._kill_worker,
            "executor killed": self._kill_executor,
        }

    def inject(self, kind: str) -> None:
        """Do it, and return when every split was read further than when it was over."""
        self.injected.append(kind)
        self.kinds[kind]()
        self.wait_for_progress(f"all splits go on after: {kind}", range(self._partitions))

    def wait_for_start(self) -> None:
        """Wait until a new driver has committed a batch."""
        before = self._recording.committed()
        self._query.wait_until("a batch of a new driver", lambda: self._recording.committed() > before)

    def wait_for_progress(self, what: str, partitions: range) -> None:
        """Wait until the query has read further in each of these partitions."""
        names = [f"{self._topic}-{partition}" for partition in partitions]
        before = self._recording.positions()

        def has_moved() -> bool:
            now = self._recording.positions()
            return all(now.get(name, 0) > before.get(name, 0) for name in names)

        self._query.wait_until(what, has_moved, within_s=STALL_S)

    def _leader(self) -> int:
        return self._cluster.wait_for_leader(self._topic, self._chance.randrange(self._partitions))

    def _in_sync(self) -> None:
        for partition in range(self._partitions):
            self._cluster.wait_until_in_sync(self._topic, partition)

    def _kill_leader(self) -> None:
        broker = self._leader()
        self._cluster.kill(broker)
        self.wait_for_progress(f"all splits are read while broker {broker} is dead", range(self._partitions))
        self._cluster.start(broker)
        self._in_sync()

    def _hang_leader(self) -> None:
        broker = self._leader()
        self._cluster.hang(broker)
        self.wait_for_progress(f"all splits are read while broker {broker} hangs", range(self._partitions))
        self._cluster.resume(broker)
        self._in_sync()

    def _restart_all(self) -> None:
        for broker in BROKERS:
            self._cluster.stop(broker)
            self._cluster.start(broker)
            self._in_sync()

    def _cut(self) -> None:
        """Only the query is cut off, in the middle of a batch: the broker keeps its partitions, so the batch must wait."""
        broker = self._leader()
        self._switches[broker].swallow()
        self._pause(_AWAY_S)
        self._switches[broker].mend()

    def _grow(self) -> None:
        self._partitions += 1
        self._cluster.create_partitions(self._topic, self._partitions)
        new = f"{self._topic}-{self._partitions - 1}"
        self._query.wait_until(f"{new} is known", lambda: new in self._recording.positions(), within_s=STALL_S)
        self._orders.use_partitions(self._partitions)

    def _kill_driver(self) -> None:
        self._pause(self._chance.random())
        self._query.kill_driver()
        self.wait_for_start()

    def _kill_planner(self) -> None:
        self._pause(self._chance.random())
        self._query.kill_runner()
        self.wait_for_start()

    def _kill_worker(self) -> None:
        self._query.wait_until("a worker to kill", lambda: self._query.kill_worker(self._chance), within_s=STALL_S)

    def _kill_executor(self) -> None:
        self._query.wait_until("an executor to kill", lambda: self._query.kill_executor(self._chance), within_s=STALL_S)

    def _pause(self, seconds: float) -> None:
        threading.Event().wait(seconds)
