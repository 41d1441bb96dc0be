"""Flink CDC's side: a source of its SQL connector for each table, in one job, into sinks that count.

A source that begins at a position in the binlog has no end: the job is cancelled once all rows are counted.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError

from benchmarks.flink import Flink, cause_of, listed_options, open_flink
from benchmarks.java_classes import compiled
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.mysql.flink_cdc import FLINK_SETTINGS, fetch_flink
from benchmarks.mysql.sides import fetch_connector_j
from benchmarks.tpcc.schema import TABLES, Table
from benchmarks.tpcc.sides.binlog_read import BinlogRead
from datasources.errors import EnvironmentProblem

__all__ = ["flink_type", "open_flink_side"]

_FIRST_ID: Final = 5_601
_IDS: Final = 2
_LOOK_S: Final = 0.02
_STALL_S: Final = 120.0
_TYPES: Final = {"CHAR": "STRING", "VARCHAR": "STRING", "DATETIME": "TIMESTAMP(0)"}
_JAVA: Final = Path(__file__).parent / "java" / "flink"


@contextmanager
def open_flink_side() -> Iterator[Callable[[BinlogRead], dict[str, Any]]]:
    """Start a Flink; give what reads a binlog."""
    try:
        jars = [*fetch_flink(lambda _: None), *fetch_connector_j(lambda _: None)]
    except EnvironmentProblem as problem:
        why = {"why": problem.message.splitlines()[0]}
        yield lambda _: why
        return
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        classes = compiled(_JAVA, directory / "classes", jars)
        with open_flink([*jars, classes], FLINK_SETTINGS, directory / "log") as flink:
            yield lambda asked: _answer(flink, asked)


def flink_type(kind: str) -> str:
    """Return Flink's type for a type of MySQL's DDL."""
    name, bracket, rest = kind.split(" NOT NULL", maxsplit=1)[0].partition("(")
    return _TYPES.get(name, f"{name}{bracket}{rest}")


def _answer(flink: Flink, asked: BinlogRead) -> dict[str, Any]:
    try:
        return _run(flink, asked)
    except Py4JError as error:
        return {"why": cause_of(error)}


def _run(flink: Flink, asked: BinlogRead) -> dict[str, Any]:
    tables, counts = flink.tables(), flink.java("tidemark.tpcc.Counts")
    counts.reset()
    jvm = jvm_of_this_process()
    with UsageSampler(jvm) as sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        inserts = tables.createStatementSet()
        for number, table in enumerate(TABLES.values()):
            for statement in _ddl(table, asked, number):
                tables.executeSql(statement)
            inserts.addInsertSql(f"INSERT INTO counted_{table.name} SELECT * FROM {table.name}")
        job = inserts.execute().getJobClient().get()
        why = _wait(counts, asked.images)
        elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm) - used
        job.cancel().get()
    if why:
        return {"why": why}
    images = {name: int(counts.count(name)) for name in TABLES}
    images = {name: count for name, count in images.items() if count}
    return {"images": images, "seconds": elapsed, "cpu_s": cpu, "peak_jvm_mb": round(sampler.peak_jvm_mb)}


def _wait(counts: Any, wanted: int) -> str:
    """Wait for all rows; return why not all came."""
    pause = threading.Event()
    seen, seen_at = 0, time.monotonic()
    while (now := int(counts.total())) < wanted:
        if now > seen:
            seen, seen_at = now, time.monotonic()
        elif time.monotonic() - seen_at > _STALL_S:
            return f"nothing came for {_STALL_S:g} s after {now:,} of {wanted:,} rows"
        pause.wait(_LOOK_S)
    return ""


def _ddl(table: Table, asked: BinlogRead, number: int) -> tuple[str, str]:
    columns = ", ".join(f"{name} {flink_type(kind)}" for name, kind in table.columns)
    first = _FIRST_ID + _IDS * number
    options = {
        "connector": "mysql-cdc",
        "hostname": asked.host,
        "port": str(asked.port),
        "username": asked.user,
        "password": asked.password,
        "database-name": asked.database,
        "table-name": table.name,
        "server-time-zone": "UTC",
        "server-id": f"{first}-{first + _IDS - 1}",
        "scan.startup.mode": "specific-offset",
        "scan.startup.specific-offset.file": asked.file,
        "scan.startup.specific-offset.pos": str(asked.position),
        "jdbc.properties.useSSL": "false",
        "jdbc.properties.allowPublicKeyRetrieval": "true",
    }
    key = f"PRIMARY KEY ({', '.join(table.key)}) NOT ENFORCED"
    source = f"CREATE TABLE {table.name} ({columns}, {key}) WITH ({listed_options(options)})"
    sink = {"connector": "counting", "table": table.name}
    return source, f"CREATE TABLE counted_{table.name} ({columns}) WITH ({listed_options(sink)})"
