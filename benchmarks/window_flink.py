"""Flink's side of the windowed count: the same orders, the same windows, in a process of its own; prints one JSON line.

python -m benchmarks.window_flink BOOTSTRAP TOPIC [--warm-ups 3]

The count runs in one JVM to warm up, then measured, from the job's submission to its end. Flink reads the
topic as a bounded table, with object reuse and two-phase aggregation; the settings are in the result file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError

from benchmarks.flink import FLINK_VERSION, Flink, cause_of, fetch_jars, open_flink
from benchmarks.measure import UsageSampler, cpu_seconds, jvm_of_this_process
from benchmarks.orders import COUNT, order_table
from datasources.errors import EnvironmentProblem

__all__ = ["SETTINGS", "window_jars"]

SETTINGS: Final = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "pipeline.object-reuse": "true",
    "restart-strategy.type": "none",
    "table.local-time-zone": "UTC",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
}
_CONNECTORS: Final = (("flink-connector-kafka", "3.4.0-1.20", 12), ("flink-json", FLINK_VERSION, 1))


def main() -> None:
    """Run to warm up, then measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("--warm-ups", type=int, default=1)
    asked = parser.parse_args()
    bootstrap, topic = asked.bootstrap, asked.topic
    try:
        with tempfile.TemporaryDirectory() as place, open_flink(window_jars(), SETTINGS, Path(place) / "log") as flink:
            for _ in range(asked.warm_ups):
                _counted(flink, bootstrap, topic)
            result = _measured(flink, bootstrap, topic)
    except EnvironmentProblem as problem:
        result = {"why": problem.message.splitlines()[0]}
    except Py4JError as error:
        result = {"why": cause_of(error)}
    print(json.dumps({"flink": FLINK_VERSION, "settings": SETTINGS, **result}))


def window_jars() -> tuple[Path, ...]:
    """Return Flink's jars, with its connector for Kafka and its JSON format.

    Raises:
        EnvironmentProblem: they cannot be fetched.
    """
    return fetch_jars(lambda _: None, instead="Without it Flink's figures are left out.", connectors=_CONNECTORS)


def _measured(flink: Flink, bootstrap: str, topic: str) -> dict[str, Any]:
    jvm = jvm_of_this_process()
    with UsageSampler(jvm) as sampler:
        begun, used = time.perf_counter(), cpu_seconds(jvm)
        counts = _counted(flink, bootstrap, topic)
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


if __name__ == "__main__":
    main()
