"""The loop that keeps the copies of a database: it begins with tables that appear, and ends with the first error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JError

from datasources.errors import EnvironmentProblem, SchemaError, SourceUnavailable
from datasources.mysql.connection.connection import connect
from datasources.mysql.tables.table_schema import table_names
from datasources.sync.table_sync import TableSync

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from datasources.sync.sync_request import SyncRequest

_POLL_S: Final = 0.5
_POLLS_PER_DISCOVERY: Final = 20


class DatabaseSync:
    """The copies of the tables of one database.

    Args:
        spark: a session with Delta Lake.
        request: what was asked for.
        report: takes a line for the user.
    """

    def __init__(self, spark: SparkSession, request: SyncRequest, report: Callable[[str], None]) -> None:
        self._spark = spark
        self._request = request
        self._report = report
        self._tables: dict[str, TableSync] = {}

    def run(self, stopped: threading.Event) -> None:
        """Copy until `stopped` is set or, with `is_once`, until there is no more; queries are stopped in any case.

        Raises:
            TidemarkError: a table cannot be copied, or no longer.
            EnvironmentProblem: Spark has stopped.
        """
        try:
            self._begin()
            polls = 0
            while self._step() and not stopped.wait(_POLL_S):
                polls += 1
                if not polls % _POLLS_PER_DISCOVERY and not self._request.is_once:
                    with suppress(SourceUnavailable):  # the tables' queries report it, and end the command if it stays
                        self._discover()
        finally:
            if not self._is_spark_stopped():
                for table in self._tables.values():
                    table.stop()

    def _begin(self) -> None:
        self._discover()
        if not self._tables:
            raise SchemaError(
                f"no table of database '{self._request.database}' that {self._request.connection} can see matches "
                f"'{self._request.tables}': correct the names, or GRANT SELECT on the tables."
            )

    def _step(self) -> bool:
        """Return whether a query runs; those that do not are started."""
        if self._is_spark_stopped():
            raise EnvironmentProblem(
                f"Spark stopped, and with it the copies of database '{self._request.database}'; its output has the "
                f"reason. Start the command again: each copy goes on from its last batch."
            )
        running = [table.step() for table in self._tables.values()]
        return any(running)

    def _is_spark_stopped(self) -> bool:
        """Whether no query can be started any more: Spark stops itself after some errors, such as a full code cache."""
        try:
            return bool(self._spark.sparkContext._jsc.sc().isStopped())  # noqa: SLF001 - PySpark has no name for it
        except Py4JError:  # its process has ended
            return True

    def _discover(self) -> None:
        with closing(connect(self._request.connection, doing="listing the tables")) as connection:
            found = table_names(connection, self._request.wants)
        for _, name in found:
            if name not in self._tables:
                self._tables[name] = TableSync(self._spark, self._request, name, self._report)
