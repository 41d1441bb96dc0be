"""The Spark session below `tidemark sql`."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from datasources.distribution import WITH_SPARK
from datasources.errors import EnvironmentProblem, OptionError
from datasources.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REMOTE: Final = "spark.remote"
_REMOTE_PORT: Final = 15002
_REMOTE_TIMEOUT_S: Final = 10.0
_LOG_SETTINGS: Final = {
    "spark.app.name": "tidemark sql",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def parse_settings(texts: Iterable[str]) -> dict[str, str]:
    """Return settings of Spark from texts such as `spark.master=local[2]`.

    Raises:
        OptionError: a text has no key or no `=`.
    """
    settings = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise OptionError(f"--conf '{text}' is no setting; write --conf spark.key=value.")
        settings[key.strip()] = value.strip()
    return settings


def _for_one_machine(settings: Mapping[str, str]) -> dict[str, str]:
    """Return what suits a session of this process: 200 shuffle partitions, Spark's default, are slow on one machine.

    A session that spark-submit configured is left as it is.
    """
    is_local = settings.get("spark.master", "local").startswith("local") and "PYSPARK_GATEWAY_PORT" not in os.environ
    return {"spark.sql.shuffle.partitions": str(os.cpu_count() or 1)} if is_local else {}


def start_session(settings: Mapping[str, str]) -> SparkSession:
    """Return the session of this process, or start one: on this machine, unless a setting names another master.

    With the setting `spark.remote` it is a client of that Spark Connect server.

    Raises:
        OptionError: the server's address is none.
        EnvironmentProblem: Java, PySpark or the server is missing, or Spark does not start; the message has the reason.
    """
    is_remote = _REMOTE in settings
    if is_remote:
        _require_server(settings[_REMOTE])
    else:
        find_java()
    if importlib.util.find_spec("pyspark") is None:
        raise EnvironmentProblem(f"PySpark is missing: {WITH_SPARK}")
    from pyspark.errors import PySparkRuntimeError
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    # PySpark writes each error to standard error as one line of JSON with a stack trace, beside raising it. Its
    # own class must make these loggers: PySpark gives them arguments that logging.Logger refuses.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    # Source processes run the PATH's python3 otherwise, which may have none of our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    ours = {} if is_remote else {**_LOG_SETTINGS, **_for_one_machine(settings)}
    for key, value in {**ours, **settings}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise EnvironmentProblem(
            f"Spark did not start: {str(error).splitlines()[0]} Run `tidemark doctor` to list what is missing."
        ) from error


def _require_server(remote: str) -> None:
    """Raise where no server listens: Spark's client would try again for minutes, without a word.

    Raises:
        OptionError: the text is no address of a Spark Connect server.
        EnvironmentProblem: nothing listens there.
    """
    try:
        address = urlsplit(remote)
        host, port = address.hostname, address.port or _REMOTE_PORT
    except ValueError:
        host, port = None, 0
    if host is None or address.scheme != "sc":
        raise OptionError(f"'{remote}' is no address of a Spark Connect server: write sc://host or sc://host:15002.")
    try:
        socket.create_connection((host, port), timeout=_REMOTE_TIMEOUT_S).close()
    except OSError as error:
        raise EnvironmentProblem(
            f"no Spark Connect server answers at {host}:{port}: {error.strerror or error}."
        ) from error
