"""A local Flink in batch mode with the table `t`: types of queries, their rows, and why it refuses or fails."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from py4j.java_gateway import get_method
from py4j.protocol import Py4JError

from benchmarks.flink import FLINK_VERSION, cause_of, fetch_jars, open_flink
from tests.support.flink.inputs import ZONE, input_table, json_lines
from tests.support.flink.java_values import plain

_HOST: Final = "localhost"
_SETTINGS: Final = {
    "parallelism.default": "1",
    "restart-strategy.type": "none",
    "execution.target": "remote",
    "rest.address": _HOST,
    "table.local-time-zone": ZONE,
}
_CONNECTORS: Final = (("flink-connector-files", FLINK_VERSION, 1), ("flink-json", FLINK_VERSION, 1))


UNCOMPILED: Final = "CompileException"
"""In the message about generated code that Java does not compile, which some jobs find once they run."""


class FlinkRefused(Exception):
    """The planner refuses a query; the message is the first line of the cause."""


class FlinkFailed(Exception):
    """A query fails while it runs; the message is the first line of the cause."""


class FlinkSession:
    """A table environment with the table `t`.

    Args:
        tables: Flink's TableEnvironment, by Py4J.
    """

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def types(self, query: str) -> tuple[str, ...]:
        """Return the types of a query's columns; nothing runs.

        Raises:
            FlinkRefused: It is no valid query.
        """
        try:
            columns = self._tables.sqlQuery(query).getResolvedSchema().getColumnDataTypes()
        except Py4JError as error:
            raise FlinkRefused(_cause(error)) from None
        return tuple(str(column.getLogicalType().asSummaryString()) for column in columns)

    def rows(self, query: str) -> list[list[Any]]:
        """Run a query; return its rows in Flink's order, as values of JSON.

        Raises:
            FlinkRefused: The query cannot be planned or compiled.
            FlinkFailed: A row fails.
        """
        try:
            found = self._tables.executeSql(query).collect()
        except Py4JError as error:
            raise FlinkRefused(_cause(error)) from None
        rows = []
        following = get_method(found, "next")  # the method of Py4J's iterator takes every error for the end
        try:
            while found.hasNext():
                row = following()
                rows.append([plain(row.getField(position)) for position in range(row.getArity())])
            found.close()
        except Py4JError as error:
            cause = _cause(error)
            raise (FlinkRefused(cause) if UNCOMPILED in cause else FlinkFailed(cause)) from None
        return rows

    def functions(self) -> tuple[str, ...]:
        """Return the names of all functions that are built in, in order."""
        return tuple(sorted(self._tables.listFunctions()))


def _cause(error: Py4JError) -> str:
    """Return the first line of the cause, without the addresses of objects, which vary."""
    return re.sub(r"@[0-9a-f]{5,8}\b", "", cause_of(error))


@contextmanager
def open_session(report: Callable[[str], None]) -> Iterator[FlinkSession]:
    """Start Flink and create the table; it ends after the block.

    Args:
        report: What to print about downloads.

    Raises:
        EnvironmentProblem: Flink's jars cannot be fetched; the message gives the reason.
    """
    jars = fetch_jars(report, instead="Without them nothing is recorded.", connectors=_CONNECTORS)
    os.environ["TZ"] = "UTC"  # the JVM's zone: answers may depend on the session's only
    with (
        tempfile.TemporaryDirectory() as folder,
        open_flink(jars, {}, Path(folder) / "log") as flink,
        _cluster(flink._jvm) as port,
    ):
        tables = _batch_tables(flink._jvm, port)
        data = Path(folder) / "t.json"
        data.write_text(json_lines(input_table()), encoding="utf-8")
        tables.executeSql(_create_table(data))
        yield FlinkSession(tables)


@contextmanager
def _cluster(jvm: Any) -> Iterator[int]:
    """Start one cluster in the JVM for all jobs, which a table environment would start anew for each; yield its port."""
    runtime = jvm.org.apache.flink.runtime.minicluster
    settings = jvm.org.apache.flink.configuration.Configuration()
    settings.setString("rest.address", _HOST)
    settings.setString("rest.bind-port", "0")
    builder = runtime.MiniClusterConfiguration.Builder().setConfiguration(settings)
    cluster = runtime.MiniCluster(builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(4).build())
    cluster.start()
    try:
        yield int(cluster.getRestAddress().get().getPort())
    finally:
        cluster.close()


def _batch_tables(jvm: Any, port: int) -> Any:
    api = jvm.org.apache.flink.table.api
    tables = api.TableEnvironment.create(api.EnvironmentSettings.newInstance().inBatchMode().build())
    for key, value in (_SETTINGS | {"rest.port": str(port)}).items():
        tables.getConfig().set(key, value)
    return tables


def _create_table(data: Path) -> str:
    table = input_table()
    columns = ", ".join(f"`{name}` {kind}" for name, kind in zip(table.names, table.types, strict=True))
    return (
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{data.as_uri()}', "
        "'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601')"
    )
