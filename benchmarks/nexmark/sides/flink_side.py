"""Flink's side: its Kafka connector and the settings of the reference's guide, in a JVM that stays.

The topic is bounded by its end as of the query's start. With `is_durable` state is in RocksDB, with a checkpoint every
30 seconds (the guide's second version); without, it is on the heap and there are no checkpoints: the fastest form,
which loses its state in a failure.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError

from benchmarks.flink import FLINK_VERSION, KAFKA_AND_JSON, Flink, cause_of, fetch_jars, open_flink
from benchmarks.java_classes import compiled
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.nexmark.query_list import QUERIES, ddl_statements, with_options
from benchmarks.nexmark.sides.delivery import Watch
from benchmarks.nexmark.sides.directory_sampler import DirectorySampler
from benchmarks.nexmark.sides.side_run import SideRun

__all__ = ["DURABLE_SETTINGS", "SETTINGS", "open_flink_side"]

SETTINGS: Final = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "pipeline.object-reuse": "true",
    "restart-strategy.type": "none",
    "table.local-time-zone": "UTC",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    "table.optimizer.distinct-agg.split.enabled": "true",
}
DURABLE_SETTINGS: Final = {
    **SETTINGS,
    "state.backend.type": "rocksdb",
    "execution.checkpointing.incremental": "true",
    "execution.checkpointing.interval": "30 s",
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "execution.checkpointing.checkpoints-after-tasks-finish.enabled": "false",
    "taskmanager.memory.managed.size": "2g",
}
_CSV_VERSION: Final = "2.2.0"
_CONNECTORS: Final = (
    *KAFKA_AND_JSON,
    ("flink-csv", _CSV_VERSION, 1),
    ("flink-connector-files", FLINK_VERSION, 1),
)
_ROCKSDB: Final = (("flink-statebackend-rocksdb", FLINK_VERSION, 60),)
_JAVA: Final = Path(__file__).parent / "java"
_FILES: Final = "q10"


@contextmanager
def open_flink_side(*, is_durable: bool) -> Iterator[Callable[[SideRun], dict[str, Any]]]:
    """Start a Flink; give what runs a query."""
    jars = fetch_jars(
        lambda _: None,
        instead="Without it Flink's figures are left out.",
        connectors=(*_CONNECTORS, *(_ROCKSDB if is_durable else ())),
    )
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        classes = compiled(_JAVA, directory / "classes", jars)  # q14's function, q13's connector
        settings = dict(DURABLE_SETTINGS if is_durable else SETTINGS)
        state = directory / "state"
        # Without an interval there are no checkpoints, but a query that is started again has its savepoint there.
        settings["execution.checkpointing.storage"] = "filesystem"
        settings["execution.checkpointing.dir"] = (directory / "checkpoints").as_uri()
        if is_durable:
            settings["state.backend.rocksdb.localdir"] = str(state)
        with open_flink([*jars, classes], settings, directory / "log") as flink:
            numbers = itertools.count()
            yield lambda asked: _answer(flink, asked, f"flink-{is_durable}-{next(numbers)}", state)


def _answer(flink: Flink, asked: SideRun, run: str, state: Path) -> dict[str, Any]:
    try:
        return _run(flink, asked, run, state)
    except Py4JError as error:
        return {"why": cause_of(error)}


def _run(flink: Flink, asked: SideRun, run: str, state: Path) -> dict[str, Any]:
    if asked.watch is not None:
        return {"form": "debezium", **_watched(flink, asked.watch, _statements(asked, run), asked.directory)}
    tables = flink.tables()
    *declared, insert = _statements(asked, run)
    files = Path(asked.directory, "data", "output", run)
    jvm = jvm_of_this_process()
    with UsageSampler(jvm) as sampler, DirectorySampler(state) as state_sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        for statement in declared:
            tables.executeSql(statement)
        flink.run(tables, insert)
        elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm) - used
    if asked.output:
        return {"form": "csv", "path": str(files)} if asked.query == _FILES else {"form": "debezium"}
    shutil.rmtree(files, ignore_errors=True)
    return {
        "cpu_s": cpu,
        "elapsed_s": elapsed,
        "peak_jvm_mb": round(sampler.peak_jvm_mb),
        "peak_worker_mb": 0,
        "state_mb": round(state_sampler.peak_mb) or None,
    }


def _watched(flink: Flink, watch: Watch, statements: Sequence[str], directory: str) -> dict[str, Any]:
    """Run a query for some time; return when it was started again, if it was."""
    if not watch.restart_seconds:
        flink.run_for(statements, watch.seconds)
        return {}
    seconds = (watch.seconds, watch.restart_seconds)
    return {"restarted_ms": flink.stop_and_restart(statements, seconds, Path(directory, "savepoints").as_uri())}


def _statements(asked: SideRun, run: str) -> list[str]:
    """Return all statements of a run."""
    values = {"BOOTSTRAP_SERVERS": asked.bootstrap, "NEXMARK_DIR": asked.directory, "SUBMIT_TIME": run}
    side_input = {"connector": "side-input", "path": f"{asked.directory}/side_input.txt"}
    statements = [
        *ddl_statements(values, {} if asked.watch is not None else {"scan.bounded.mode": "latest-offset"}),
        *(with_options(each, "side_input", side_input) for each in QUERIES[asked.query].statements(values)),
    ]
    if not asked.output or asked.query == _FILES:
        return statements
    sink = {
        "connector": "kafka",
        "topic": asked.output,
        "properties.bootstrap.servers": asked.bootstrap,
        "format": "debezium-json",
    }
    return [with_options(each, "nexmark_", sink) for each in statements]
