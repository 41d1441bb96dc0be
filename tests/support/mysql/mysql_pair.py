"""A primary with a table, and its replica, for failovers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.support.mysql.mysql_server import OpenMySql, OwnMySql
from tests.support.tcp_switch import TcpSwitch, tcp_switch

__all__ = ["COLUMNS", "ROWS", "Pair", "mysql_pair"]

ROWS = 60
CHUNK = 5
ROWS_OF_A_BATCH = 10
COLUMNS = ("id", "v", "note")


@dataclass
class Pair:
    """A primary with a table, a replica that follows it, and the port through which the query reads.

    Attributes:
        old: the primary at first.
        new: its replica, the primary later.
        switch: the port.
    """

    old: OwnMySql
    new: OwnMySql
    switch: TcpSwitch
    _numbers: Any = field(default_factory=lambda: count(1))

    def change(self, server: OwnMySql) -> None:
        """Insert, update and delete, at the begin and at the end of the table, and change a key."""
        n = next(self._numbers)
        server.execute(
            f"INSERT INTO d.t VALUES ({1000 + n}, {n}, 'new'), ({-n}, {n}, 'low')",
            f"UPDATE d.t SET v = v + 100 WHERE id IN ({n}, {ROWS - n}, {1000 + n})",
            f"DELETE FROM d.t WHERE id IN ({2 * n + 20}, {-n})",
            f"UPDATE d.t SET id = {2000 + n} WHERE id = {1000 + n}",
            f"UPDATE d.t SET note = 'seen {n}' WHERE id < 30",
        )

    def catch_up(self) -> None:
        """Wait until the replica has everything."""
        executed = self.old.execute("SELECT @@GLOBAL.gtid_executed")[0][0]
        assert self.new.execute(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 30)") == [(0,)]

    def promote(self) -> None:
        """Make the replica the primary, and let it be read."""
        self.catch_up()
        self.new.execute("STOP REPLICA", "RESET REPLICA ALL")
        self.change(self.new)
        self.switch.lead_to(self.new.administrator.port)

    def options(self, **more: str) -> dict[str, str]:
        """The options of the query."""
        login = self.old.reader
        return {
            "hostname": "127.0.0.1",
            "port": str(self.switch.port),
            "username": login.user,
            "password": login.password,
            "ssl.mode": "disabled",
            "database-name": "d",
            "table-name": "t",
            "scan.incremental.snapshot.chunk.size": str(CHUNK),
            "scan.snapshot.parallelism": "2",
            "scan.max-rows-per-batch": str(ROWS_OF_A_BATCH),
            **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()},
        }

    def table(self, server: OwnMySql) -> dict[int, tuple[Any, ...]]:
        """Return the rows of the table by key."""
        return {row[0]: row for row in server.execute("SELECT id, v, note FROM d.t")}


@contextmanager
def mysql_pair(own_mysql: OpenMySql) -> Iterator[Pair]:
    """Start a primary and its replica."""
    old, new = own_mysql(**{"server-id": "11"}), own_mysql(**{"server-id": "12"})
    rows = ", ".join(f"({n}, {n}, NULL)" for n in range(1, ROWS + 1))
    # The new one has files and positions of its own.
    new.execute("FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
    old.execute(
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, note VARCHAR(20))",
        f"INSERT INTO d.t VALUES {rows}",
    )
    login = old.administrator
    new.execute(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={login.port}, SOURCE_USER='{login.user}', "
        f"SOURCE_PASSWORD='{login.password}', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_RETRY_COUNT=1",
        "START REPLICA",
    )
    with tcp_switch(login.port) as switch:
        found = Pair(old, new, switch)
        found.catch_up()
        yield found
