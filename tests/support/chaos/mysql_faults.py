"""What goes wrong around a query that follows a MySQL: its servers, the network and parts of the query itself."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from typing import Final

from tests.support.chaos.mysql_writer import Writer
from tests.support.mysql.mysql_server import OwnMySql
from tests.support.spark.query_process import QueryProcess
from tests.support.spark.recording import QueryDirectory
from tests.support.tcp_switch import TcpSwitch

__all__ = ["STALL_S", "MySqlFaults", "catch_up", "replicate"]

STALL_S: Final = 120.0
"""How long the query may stand still once its server can be reached, in seconds; a new driver has its start besides."""

_AWAY_S: Final = 6.0
_MORE_BATCHES: Final = 2


class MySqlFaults:
    """Injects one fault at a time, and waits until the query has read on.

    Attributes:
        injected: what was done, in order.
        primary, replica: which server has which part at the moment.

    Args:
        primary: the server that is written and read at first.
        replica: follows it.
        switch: the port through which the query reads.
        writer: writes meanwhile.
        query: reads meanwhile.
        recording: what the query leaves.
        chance: decides when parts of the query are hit.
    """

    def __init__(
        self,
        *,
        primary: OwnMySql,
        replica: OwnMySql,
        switch: TcpSwitch,
        writer: Writer,
        query: QueryProcess,
        recording: QueryDirectory,
        chance: random.Random,
    ) -> None:
        self.injected: list[str] = []
        self.primary = primary
        self.replica = replica
        self._switch = switch
        self._writer = writer
        self._query = query
        self._recording = recording
        self._chance = chance

    @property
    def kinds(self) -> Mapping[str, Callable[[], None]]:
        """Every kind of fault by its name."""
        return {
            "server restarts": self._restart,
            "server crashes": self._crash,
            "fail-over": self._fail_over,
            "network cut": self._cut,
            "driver killed": self._kill_driver,
            "planner killed": self._kill_planner,
            "worker killed": self._kill_worker,
            "executor killed": self._kill_executor,
        }

    def inject(self, kind: str) -> None:
        """Do it somewhere in a batch, and return when two more batches were committed."""
        self._pause(self._chance.random())
        self.injected.append(kind)
        self.kinds[kind]()
        self.wait_for_progress(f"batches after: {kind}")

    def wait_for_start(self) -> None:
        """Wait until a new driver has committed a batch."""
        before = self._recording.committed()
        self._query.wait_until("a batch of a new driver", lambda: self._recording.committed() > before)

    def wait_for_progress(self, what: str) -> None:
        """Wait until some more batches are committed."""
        goal = self._recording.committed() + _MORE_BATCHES
        self._query.wait_until(what, lambda: self._recording.committed() >= goal, within_s=STALL_S)

    def _restart(self) -> None:
        self.primary.embedded.stop()
        self._pause(_AWAY_S)
        self.primary.embedded.start()

    def _crash(self) -> None:
        self.primary.embedded.kill()
        self._pause(_AWAY_S)
        self.primary.embedded.start()

    def _fail_over(self) -> None:
        with self._writer.paused():
            catch_up(self.primary, self.replica)
            self.replica.execute("STOP REPLICA", "RESET REPLICA ALL")
            self.primary, self.replica = self.replica, self.primary
            self._writer.use(self.primary)
            self._switch.lead_to(self.primary.administrator.port)
            replicate(self.primary, self.replica)

    def _cut(self) -> None:
        self._switch.swallow()
        self._pause(_AWAY_S)
        self._switch.mend()

    def _kill_driver(self) -> None:
        self._query.kill_driver()
        self.wait_for_start()

    def _kill_planner(self) -> None:
        self._query.kill_runner()
        self.wait_for_start()

    def _kill_worker(self) -> None:
        self._query.wait_until("a worker to kill", lambda: self._query.kill_worker(self._chance), within_s=STALL_S)

    def _kill_executor(self) -> None:
        self._query.wait_until("an executor to kill", lambda: self._query.kill_executor(self._chance), within_s=STALL_S)

    def _pause(self, seconds: float) -> None:
        threading.Event().wait(seconds)


def replicate(source: OwnMySql, replica: OwnMySql) -> None:
    """Let a server follow another one."""
    login = source.administrator
    replica.execute(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={login.port}, SOURCE_USER='{login.user}', "
        f"SOURCE_PASSWORD='{login.password}', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, "
        "SOURCE_RETRY_COUNT=1000",
        "START REPLICA",
    )


def catch_up(source: OwnMySql, replica: OwnMySql) -> None:
    """Wait until a replica has everything."""
    executed = source.execute("SELECT @@GLOBAL.gtid_executed")[0][0]
    assert replica.execute(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)") == [(0,)]
