"""Flink's side of the windowed count: the same orders, the same windows, in a JVM that stays.

Flink reads the topic as a bounded table, with object reuse and two-phase aggregation; the settings are in the result
file. A run is measured from the job's submission to its end.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError

from benchmarks.flink import FLINK_VERSION, KAFKA_AND_JSON, Flink, cause_of, fetch_jars, open_flink
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.orders.json_orders import COUNT, order_table
from benchmarks.sides import Workload
from datasources.errors import EnvironmentProblem

__all__ = ["AVRO_CONFLUENT", "SETTINGS", "flink_side", "window_jars"]

SETTINGS: Final = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "pipeline.object-reuse": "true",
    "restart-strategy.type": "none",
    "table.local-time-zone": "UTC",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
}
AVRO_CONFLUENT: Final = (("flink-sql-avro-confluent-registry", "2.1.0", 8),)
"""The newest before Flink's own version that has one; it brings Avro and Confluent's client."""


@contextmanager
def flink_side() -> Iterator[Callable[[Workload], dict[str, Any]]]:
    """Open a Flink; yield what runs a workload's count, and says `why` where it cannot."""
    try:
        jars = window_jars()
    except EnvironmentProblem as problem:
        why = {"why": problem.message.splitlines()[0]}
        yield lambda _: why
        return
    with tempfile.TemporaryDirectory() as directory, open_flink(jars, SETTINGS, Path(directory) / "log") as flink:
        yield lambda work: {"flink": FLINK_VERSION, "settings": SETTINGS, **_measured(flink, work)}


def window_jars(formats: Sequence[tuple[str, str, int]] = ()) -> tuple[Path, ...]:
    """Return Flink's jars, with its connector for Kafka, its JSON format and others: artifact, version, size in MB.

    Raises:
        EnvironmentProblem: they cannot be fetched.
    """
    return fetch_jars(
        lambda _: None, instead="Without it Flink's figures are left out.", connectors=(*KAFKA_AND_JSON, *formats)
    )


def _measured(flink: Flink, work: Workload) -> dict[str, Any]:
    jvm = jvm_of_this_process()
    with UsageSampler(jvm) as sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        try:
            counts = _counted(flink, work.bootstrap, work.topic)
        except Py4JError as error:
            return {"why": cause_of(error)}
        elapsed, cpu = time.perf_counter() - begun, cpu_seconds(jvm) - used
    rows = sum(n for n, _ in counts.values())
    return {
        "rows": rows,
        "counts": counts,
        "cpu_us_per_record": cpu / rows * 1e6,
        "rows_per_s": rows / elapsed,
        "peak_worker_mb": 0,
        "peak_jvm_mb": round(sampler.peak_jvm_mb),
    }


def _counted(flink: Flink, bootstrap: str, topic: str) -> dict[str, tuple[int, float]]:
    """Return how many orders each window holds and what they cost, by its start."""
    tables = flink.tables()
    tables.executeSql(order_table(bootstrap, topic, **{"scan.bounded.mode": "latest-offset"}))
    found, rows = {}, tables.executeSql(COUNT).collect()
    while rows.hasNext():
        row = rows.next()
        found[str(row.getField(0)).removesuffix(".000")] = (int(row.getField(1)), float(row.getField(2)))
    rows.close()
    return found
