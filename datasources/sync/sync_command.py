"""The command `tidemark mysql sync`: starts Spark with Delta Lake and runs the loop until it is stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from datasources.errors import EnvironmentProblem
from datasources.sinks.lake.delta_sink import DELTA_SETTINGS
from datasources.sql.shell.shell_session import start_session
from datasources.sync.database_sync import DatabaseSync

if TYPE_CHECKING:
    from datasources.sync.sync_request import SyncRequest

_NEWEST_SPARK: Final = "4.3"
_OWN_SETTINGS: Final = {
    "spark.app.name": "tidemark mysql sync",
    "spark.databricks.delta.snapshotPartitions": "4",  # of Delta's log; the default is 50 tasks for each commit
    "spark.log.level": "FATAL",  # a query that stops at a new column is no failure, and Spark logs each with its stack
    "spark.sql.session.timeZone": "UTC",
}


def run_sync(request: SyncRequest, settings: Mapping[str, str], report: Callable[[str], None]) -> None:
    """Run the command.

    Args:
        request: what was asked for.
        settings: of Spark; they come before those of Delta Lake.
        report: takes a line for the user.

    Raises:
        TidemarkError: a table cannot be copied, or no longer.
        EnvironmentProblem: Spark does not start, or has no Delta Lake.
    """
    _require_delta(settings)
    spark = start_session({**DELTA_SETTINGS, **_OWN_SETTINGS, **settings})
    try:
        with _stopped_by_signals() as stopped:
            DatabaseSync(spark, request, report).run(stopped)
    finally:
        spark.stop()


def _require_delta(settings: Mapping[str, str]) -> None:
    """Refuse a Spark for which there is no Delta Lake, unless the user brings one."""
    import pyspark

    if "spark.jars.packages" not in settings and pyspark.__version__.startswith(_NEWEST_SPARK):
        raise EnvironmentProblem(
            f"this is PySpark {pyspark.__version__}, and the newest Delta Lake, 4.4.0, runs on 4.2: pip install "
            f"'pyspark==4.2.*', or bring a Delta Lake for this Spark: --conf spark.jars.packages=..."
        )


@contextmanager
def _stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGINT and SIGTERM set."""
    stopped = threading.Event()
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
