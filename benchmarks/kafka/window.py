"""The headline: a windowed count of JSON orders against spark-sql-kafka-0-10 and Flink SQL, and raw values.

Tidemark counts with DataFrames, as spark-sql-kafka does, and with the SQL that Flink gets. Five rounds in one run, the
sides in turns, each in a JVM that stays and has warmed up; Flink where its jars can be had.
Writes results/kafka_window.json and results/kafka_raw.json, or one of them (--only). With --quick: one round of the
windowed count on fewer rows and without Flink, nothing written, last line JSON.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pyspark
from rich.console import Console

from benchmarks.measure import load_average, machine_facts
from benchmarks.rounds import Round, bare, measure_rounds, show, summary
from benchmarks.sides import FLINK, PEER, TIDEMARK, TIDEMARK_SQL, Workload, produce
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka

RESULTS = Path(__file__).parents[1] / "results"
PARTITIONS = 4
ROUNDS = 5
WARM_BATCHES = 200
"""Batches of a first run that warms a JVM up; two runs as they are measured follow."""


def main() -> None:
    """Run the rounds and show them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, under two minutes")
    parser.add_argument("--only", choices=("window", "raw"), help="one of the two queries")
    asked = parser.parse_args()
    is_quick = asked.quick
    rows, batch = (1_500_000, 375_000) if is_quick else (6_000_000, 1_000_000)
    console = Console(stderr=is_quick)
    load = load_average()
    peer = fetch_spark_kafka(pyspark.__version__, console.print)
    console.print(f"{rows:,} JSON orders on {PARTITIONS} partitions, load before the run {load}")
    with EmbeddedKafka() as kafka:
        topic, size = produce(kafka.bootstrap_servers, partitions=PARTITIONS, rows=rows)
        work = Workload(
            bootstrap=kafka.bootstrap_servers,
            topic=topic,
            batch_rows=batch,
            jars=",".join(map(str, peer.jars)),
        )
        warm_ups = [batch] if is_quick else [rows // WARM_BATCHES, batch, batch]
        facts: dict[str, Any] = {"rows": rows, "record_bytes": size, "batch_rows": batch, "warm_ups": warm_ups}
        facts |= {"peer_version": peer.version, "load": load}
        if is_quick:
            measured, _ = measure_rounds(console, (TIDEMARK, PEER), work, 1, warm_ups)
            _require_all(measured, rows)
            found = summary(measured, load)
            show(console, measured, found)
            print(json.dumps({key: found[key] for key in ("cpu_us_per_record", "ratio", "load")}))
            return
        sides = {"window": (TIDEMARK, TIDEMARK_SQL, PEER, FLINK), "raw": (TIDEMARK, PEER)}
        queries = [asked.only] if asked.only else list(sides)
        found = {name: _rounds(console, f"kafka_{name}", sides[name], work.of(query=name), facts) for name in queries}
    print(json.dumps(found))


def _rounds(
    console: Console, name: str, sides: tuple[str, ...], work: Workload, facts: dict[str, Any]
) -> dict[str, Any]:
    """Run five rounds, show them, write them down; return the medians."""
    console.print(f"{work.query}:")
    measured, missing = measure_rounds(console, sides, work, ROUNDS, facts["warm_ups"])
    _require_all(measured, facts["rows"])
    found = summary(measured, facts["load"])
    show(console, measured, found)
    facts = {**facts, "missing": missing, "spark": pyspark.__version__, "partitions": PARTITIONS, **machine_facts()}
    document = {**found, **facts, "rounds": bare(measured)}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")
    return found


def _require_all(measured: list[Round], rows: int) -> None:
    for each in measured:
        if any(result["rows"] != rows for result in each.values()):
            raise SystemExit(f"not all of {rows:,} records were counted; nothing was compared")


if __name__ == "__main__":
    main()
