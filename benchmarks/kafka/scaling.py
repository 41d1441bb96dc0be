"""How the cost of a record changes: partitions, worker slots, record sizes, compression, the topic's length; latency.

    python -m benchmarks.kafka.scaling          prints as it goes; the last line is JSON
    python -m benchmarks.kafka.scaling --save   writes results/kafka_scaling.json as well
    ... --only latency memory partitions        those figures; others that were written down stay

The windowed count of `make bench` on topics of one broker; spark-sql-kafka runs beside it where the point is about
records, and sides of one point give equal counts. Costs are measured in JVMs that stay, memory in new ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console

from benchmarks.kafka.idle import empty_triggers
from benchmarks.kafka.scaling_points import FEW, FIGURES, Topics, measure
from benchmarks.measure import load_average, machine_facts
from benchmarks.sides import PEER, PYTHON_SOURCE, TIDEMARK, Workload, run_latency, run_side
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka

RESULTS: Final = Path(__file__).parents[1] / "results" / "kafka_scaling.json"
MEMORY: Final = ((FEW, 0, 4_000_000), (FEW, 10_240, 200_000), (16, 10_240, 200_000), (64, 10_240, 200_000))
"""Partitions, about how large a record is (0 = as in `make bench`), and how many of them there are."""
LATENCY_ROUNDS: Final = 1
LATENCY_SIDES: Final = (TIDEMARK, PEER, PYTHON_SOURCE)
EMPTY_PARTITIONS: Final = (10, 100, 1_000)


def costs(console: Console, topics: Topics, work: Workload, figures: Sequence[str]) -> dict[str, Any]:
    """Measure the cost of a record at every point of some figures."""
    return dict(measure(console, topics, work, figures))


def memory(console: Console, topics: Topics, work: Workload) -> dict[str, Any]:
    """Measure the largest Python process of a query, in a new session for each point."""
    found = []
    for partitions, record_bytes, rows in MEMORY:
        topic = topics.filled(partitions=partitions, rows=rows, record_bytes=record_bytes)
        result = run_side(TIDEMARK, work.of(topic=topic, batch_rows=rows // 4))
        peaks = {key: result[key] for key in ("peak_worker_mb", "peak_jvm_mb")}
        found.append({"partitions": partitions, "record_bytes": topics.record_bytes(topic), **peaks})
        console.print(found[-1])
    return {"memory": found}


def latency(console: Console, _: Topics, work: Workload) -> dict[str, Any]:
    """Measure starts, small batches, restarts behind a backlog; the sides in turns."""
    found = []
    for number in range(LATENCY_ROUNDS):
        for side in LATENCY_SIDES[:: 1 if number % 2 == 0 else -1]:
            result = run_latency(side, work.of(topic=f"latency-{side}-{number}"))
            found.append({"side": side, "round": number + 1, **result})
            console.print(found[-1])
    return {"latency": found}


def empty(console: Console, _: Topics, work: Workload) -> dict[str, Any]:
    """Measure an empty trigger."""
    found = [asdict(empty_triggers(work.bootstrap, count)) for count in EMPTY_PARTITIONS]
    console.print(found)
    return {"empty_triggers": found}


PARTS: Final[dict[str, Callable[[Console, Topics, Workload], dict[str, Any]]]] = {
    "memory": memory,
    "latency": latency,
    "empty": empty,
}


def main() -> None:
    """Measure and show each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    parser.add_argument("--only", nargs="*", choices=[*FIGURES, *PARTS], help="some figures")
    asked = parser.parse_args()
    console = Console()
    jars = ",".join(map(str, fetch_spark_kafka(pyspark.__version__, console.print).jars))
    document: dict[str, Any] = {"spark": pyspark.__version__, **machine_facts(), "loads": {}}
    with EmbeddedKafka() as kafka:
        topics = Topics(console, kafka.bootstrap_servers)
        work = Workload(bootstrap=kafka.bootstrap_servers, topic="", batch_rows=0, jars=jars)
        wanted = asked.only or [*FIGURES, *PARTS]
        parts = {name: part for name, part in PARTS.items() if name in wanted}
        if figures := [figure for figure in FIGURES if figure in wanted]:
            parts = {"costs": partial(costs, figures=figures), **parts}
        for name, part in parts.items():
            document["loads"][name] = load_average()
            document |= part(console, topics, work)
            if asked.save:
                _save(document)
    print(json.dumps(document))


def _save(document: dict[str, Any]) -> None:
    """Write what was measured so far; figures that were not measured now stay."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    loads = {**known.get("loads", {}), **document["loads"]}
    RESULTS.write_text(json.dumps({**known, **document, "loads": loads}, indent=2) + "\n")


if __name__ == "__main__":
    main()
