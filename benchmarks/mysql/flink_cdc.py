"""Flink CDC's side of `make bench-mysql`: a bounded snapshot into Flink's own sink for nothing, in a JVM of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.flink import Flink, fetch_jars, listed_options
from benchmarks.mysql.sides import Ran
from benchmarks.mysql.tables import DATABASE
from datasources.embedded import MySqlAddress

__all__ = ["FLINK_SETTINGS", "FlinkCdc", "fetch_flink"]

FLINK_CDC_VERSION: Final = "3.5.0"
FLINK_VERSION: Final = "1.20.3"
"""The newest that Flink CDC's connector for MySQL is built for."""
FLINK_SETTINGS: Final = {
    "flink": FLINK_VERSION,
    "flink-cdc": FLINK_CDC_VERSION,
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "scan.incremental.snapshot.chunk.size": "50000",
    "scan.snapshot.fetch.size": "10240",
    "pipeline.object-reuse": "true",
    "execution.checkpointing.interval": "10 s",
    "restart-strategy.type": "none",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "5 s",
    "table.exec.mini-batch.size": "100000",
}
_CONNECTOR: Final = ("flink-sql-connector-mysql-cdc", FLINK_CDC_VERSION, 25)
_COLUMNS: Final = (
    "id INT, item STRING, price DECIMAL(12,2), `at` TIMESTAMP(6), weight DOUBLE, amount INT, "
    "PRIMARY KEY (id) NOT ENFORCED"
)


def fetch_flink(report: Callable[[str], None]) -> tuple[Path, ...]:
    """Return the jars of Flink and of its MySQL connector.

    Raises:
        EnvironmentProblem: They cannot be fetched; the message gives the reason.
    """
    return fetch_jars(
        report, instead="Without it flink_cdc_rows_s is null.", connectors=[_CONNECTOR], version=FLINK_VERSION
    )


class FlinkCdc:
    """Flink reading MySQL.

    Args:
        flink: Flink with its MySQL connector and Connector/J.
        login: the reader's.
    """

    def __init__(self, flink: Flink, login: MySqlAddress) -> None:
        self._flink = flink
        self._login = login

    def read(self, table: str, rows: int) -> Ran:
        """Read a table into a sink for nothing; return what the job took, Flink's start excluded.

        Args:
            table: the table.
            rows: how many rows it has: `count` checks that they all come.
        """
        tables = self._environment(table)
        tables.executeSql(f"CREATE TABLE nothing ({_COLUMNS}) WITH ('connector' = 'blackhole')")
        return Ran(rows=rows, seconds=self._flink.run(tables, "INSERT INTO nothing SELECT * FROM source_rows"))

    def count(self, table: str) -> int:
        """Return how many rows of a table come."""
        rows = self._environment(table).executeSql("SELECT COUNT(*) FROM source_rows").collect()
        last = 0
        while rows.hasNext():
            last = int(rows.next().getField(0))
        return last

    def _environment(self, table: str) -> Any:
        tables, login = self._flink.tables(), self._login
        options = {
            "connector": "mysql-cdc",
            "hostname": login.host,
            "port": str(login.port),
            "username": login.user,
            "password": login.password,
            "database-name": DATABASE,
            "table-name": table,
            "server-time-zone": "UTC",
            "server-id": "5601-5610",
            "scan.startup.mode": "snapshot",
            **{key: value for key, value in FLINK_SETTINGS.items() if key.startswith("scan.")},
            "jdbc.properties.useSSL": "false",
            "jdbc.properties.allowPublicKeyRetrieval": "true",
        }
        tables.executeSql(f"CREATE TABLE source_rows ({_COLUMNS}) WITH ({listed_options(options)})")
        return tables
