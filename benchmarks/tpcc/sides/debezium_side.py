"""Debezium Engine's side: its connector for MySQL in a process of its own, one reader for all tables.

It begins at a position in the binlog and takes the columns from the server (`snapshot.mode` = `recovery`). Records are
Kafka Connect's, not serialised, and are counted.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.java_classes import compiled
from benchmarks.tpcc.schema import TABLES
from benchmarks.tpcc.sides.binlog_read import BinlogRead
from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache
from datasources.errors import EnvironmentProblem
from datasources.java import find_java

__all__ = ["DEBEZIUM_VERSION", "open_debezium_side"]

DEBEZIUM_VERSION: Final = "3.6.1.Final"
_MODULES: Final = ("debezium-api", "debezium-embedded", "debezium-connector-mysql")
_SERVER_ID: Final = "5701"
_JAVA: Final = Path(__file__).parent / "java" / "debezium"


@contextmanager
def open_debezium_side() -> Iterator[Callable[[BinlogRead], dict[str, Any]]]:
    """Start a JVM with Debezium; give what reads a binlog."""
    try:
        jars = _jars()
    except EnvironmentProblem as problem:
        why = {"why": problem.message.splitlines()[0]}
        yield lambda _: why
        return
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        classes = compiled(_JAVA, directory / "classes", jars)
        with _java([*jars, classes], directory / "log") as process:
            yield lambda asked: _answer(process, asked, directory)


def _artifact(name: str) -> Artifact:
    return Artifact(organisation="io.debezium", name=name, revision=DEBEZIUM_VERSION)


def _jars() -> Sequence[Path]:
    bundle = JarBundle(
        title=f"Debezium Engine {DEBEZIUM_VERSION}",
        directory_name=f"peer-debezium-engine-mysql-{DEBEZIUM_VERSION}",
        size_mb=45,
        artifacts=tuple(
            Artifact(organisation="io.debezium", name=name, revision=DEBEZIUM_VERSION) for name in _MODULES
        ),
        instead="Without it Debezium's figures are left out.",
    )
    return sorted(JarCache(report=lambda _: None).provide(bundle).glob("*.jar"))


@contextmanager
def _java(jars: Sequence[Path], log: Path) -> Iterator[subprocess.Popen[str]]:
    java, class_path = str(find_java().executable), ":".join(map(str, jars))
    command = [java, "-Xmx2g", "-XX:+UseParallelGC", "-cp", class_path, "tidemark.tpcc.DebeziumCount"]
    pipe = subprocess.PIPE
    with log.open("w") as errors, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True) as java:
        yield java
        java.communicate()  # the end of its input is the end of it


def _answer(process: subprocess.Popen[str], asked: BinlogRead, directory: Path) -> dict[str, Any]:
    file = directory / "settings.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in _properties(asked).items()))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{file}\n")
    process.stdin.flush()
    printed = process.stdout.readline()
    result: dict[str, Any] = json.loads(printed) if printed else {"why": (directory / "log").read_text()[-1_000:]}
    return result


def _properties(asked: BinlogRead) -> dict[str, str]:
    return {
        "name": "tpcc",
        "topic.prefix": "tpcc",
        "connector.class": "io.debezium.connector.mysql.MySqlConnector",
        "database.hostname": asked.host,
        "database.port": str(asked.port),
        "database.user": asked.user,
        "database.password": asked.password,
        "database.server.id": _SERVER_ID,
        "database.ssl.mode": "disabled",
        "driver.allowPublicKeyRetrieval": "true",
        "database.include.list": asked.database,
        "table.include.list": ",".join(f"{asked.database}.{table}" for table in TABLES),
        "include.schema.changes": "false",
        "tombstones.on.delete": "false",
        "snapshot.mode": "recovery",
        "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
        "offset.storage": "tidemark.tpcc.StartOffset",
        "start.file": asked.file,
        "start.pos": str(asked.position),
        "start.gtids": asked.gtids,
        "wanted.changes": str(asked.changes),
    }
