"""Flink's side of `make bench-changelog`, in a process of its own; the last line is JSON.

With the argument `--rocksdb` its state is in RocksDB, with checkpoints, else on the heap without any.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError

from benchmarks.changelog.queries import QUERIES, WARM_UP_RUNS, ChangeBench
from benchmarks.flink import FLINK_VERSION, Flink, cause_of, fetch_jars, open_flink
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from datasources.errors import EnvironmentProblem

_SETTINGS: Final = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "pipeline.object-reuse": "true",
    "restart-strategy.type": "none",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
}
_ROCKSDB: Final = {
    "state.backend.type": "rocksdb",
    "state.backend.incremental": "true",
    "execution.checkpointing.interval": "3 s",  # about as often as ours ends a batch
    "taskmanager.memory.managed.size": "512m",
}
_ROCKSDB_JAR: Final = ("flink-statebackend-rocksdb", FLINK_VERSION, 60)
_ROCKSDB_WARM_UP: Final = 4
"""With RocksDB one run over this fraction of the rows comes before the measured one: little of its CPU is compiled."""
_NAMES: Final = {
    "plain": ("id", "k", "amount"),
    "aggregate": ("k", "n", "total", "largest"),
    "top_3": ("k", "id", "amount"),
    "join": ("k", "amount", "other"),
}
_INTEGERS: Final = frozenset({"amount", "largest", "other"})


def main() -> None:
    """Run each query to warm up, then measure it."""
    is_durable = "--rocksdb" in sys.argv
    settings = {**_SETTINGS, **(_ROCKSDB if is_durable else {})}
    facts: dict[str, Any] = {"flink": FLINK_VERSION, "settings": settings}
    instead = "Without it Flink's figures are left out."
    try:
        jars = fetch_jars(lambda _: None, instead=instead, connectors=[_ROCKSDB_JAR] if is_durable else [])
        with tempfile.TemporaryDirectory() as place:
            if is_durable:
                settings["state.checkpoints.dir"] = Path(place, "checkpoints").as_uri()
            with open_flink(jars, settings, Path(place) / "log") as flink:
                facts["queries"] = {
                    name: _measured(flink, name, query, is_durable=is_durable) for name, query in QUERIES.items()
                }
    except EnvironmentProblem as problem:
        facts["why"] = problem.message.splitlines()[0]
    except Py4JError as error:
        facts["why"] = cause_of(error)
    print(json.dumps(facts))


def _measured(flink: Flink, name: str, query: ChangeBench, *, is_durable: bool) -> dict[str, Any]:
    for rows in [query.rows // _ROCKSDB_WARM_UP] if is_durable else [query.rows] * WARM_UP_RUNS:
        _run(flink, name, query, rows)
    jvm = jvm_of_this_process()
    used, begun = cpu_seconds(jvm), time.perf_counter()
    with UsageSampler(jvm) as sampler:
        _run(flink, name, query, query.rows)
    elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm) - used
    return {
        "cpu_us_per_row": round(cpu / query.total * 1e6, 2),
        "rows_per_s": round(query.total / elapsed),
        "peak_jvm_mb": round(sampler.peak_jvm_mb),
    }


def _run(flink: Flink, name: str, query: ChangeBench, rows: int) -> None:
    tables = flink.tables()
    key = (
        f"'fields.k.kind' = 'sequence', 'fields.k.start' = '0', 'fields.k.end' = '{rows - 1}'"
        if query.has_unique_keys
        else f"'fields.k.min' = '0', 'fields.k.max' = '{query.keys - 1}'"
    )
    for table in query.tables:
        tables.executeSql(f"""
            CREATE TABLE {table} (id BIGINT, k BIGINT, amount INT) WITH ('connector' = 'datagen',
              'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{rows - 1}', {key},
              'fields.amount.min' = '1', 'fields.amount.max' = '10000', 'rows-per-second' = '100000000')
        """)
    columns = ", ".join(f"{column} {'INT' if column in _INTEGERS else 'BIGINT'}" for column in _NAMES[name])
    tables.executeSql(f"CREATE TABLE nothing ({columns}) WITH ('connector' = 'blackhole')")
    flink.run(tables, f"INSERT INTO nothing {query.sql}")


if __name__ == "__main__":
    main()
