"""Windowed counts of nested events, with keys, and over windows that overlap, against spark-sql-kafka and Flink SQL.

    python -m benchmarks.kafka_shapes          prints the rounds; the last line is JSON
    python -m benchmarks.kafka_shapes --save   writes results/kafka_shapes.json as well
    ... --rows 600000 --rounds 1               a first look

Every side has a JVM that stays. A first pass compares the sums of windows that all sides have completed, a second one
warms up, then the sides take turns, shape by shape.
"""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console

from benchmarks.measure import load_before, machine_facts
from benchmarks.orders import make_topic, produce
from benchmarks.rounds import summary
from benchmarks.shape_side import ShapeRun
from benchmarks.sides import FLINK, PEER, TIDEMARK, TIDEMARK_SQL, WarmSide
from benchmarks.window_shapes import SHAPES
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka

RESULTS: Final = Path(__file__).parent / "results" / "kafka_shapes.json"
SIDES: Final = (TIDEMARK, TIDEMARK_SQL, PEER, FLINK)
PARTITIONS: Final = 4
BATCHES: Final = 4
CHECKED_UNTIL: Final = {"nested events": "2026-03-01 00:30:00"}
ORDERS_CHECKED_UNTIL: Final = "2025-10-09 00:03:00"


def main() -> None:
    """Check, warm up, run the rounds, and show them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    console, load = Console(), load_before(is_saved=asked.save)
    jars = ",".join(map(str, fetch_spark_kafka(pyspark.__version__, console.print).jars))
    with EmbeddedKafka() as kafka, ExitStack() as stack:
        runs = _runs(console, kafka.bootstrap_servers, asked.rows)
        sides = {side: stack.enter_context(WarmSide(side, jars=jars, module="benchmarks.shape_side")) for side in SIDES}
        for run in runs:
            _check(console, sides, run)
        console.print("a pass to warm up")
        for run in runs:
            for side in sides.values():
                side.answer(asdict(run))
        rounds = [_round(console, sides, runs, number) for number in range(asked.rounds)]
    shapes = {run.shape: summary([each[run.shape] for each in rounds], load) for run in runs}
    document = {"rows": asked.rows, "batches": BATCHES, **machine_facts(), "shapes": shapes}
    if asked.save:
        RESULTS.write_text(json.dumps({**document, "rounds": rounds}, indent=2) + "\n")
    print(json.dumps(document))


def _runs(console: Console, bootstrap: str, rows: int) -> list[ShapeRun]:
    """Fill the topics; return the measured run of each shape."""
    topics: dict[Any, str] = {}
    found = []
    for name, shape in SHAPES.items():
        if shape.make not in topics:
            topics[shape.make] = topic = f"shapes-{len(topics)}"
            make_topic(bootstrap, topic, PARTITIONS)
            size = produce(bootstrap, topic, PARTITIONS, range(rows), shape.make)
            console.print(f"  {topic}: {rows:,} records of {size:.0f} bytes")
        batch_rows = rows // BATCHES
        run = ShapeRun(shape=name, bootstrap=bootstrap, topic=topics[shape.make], rows=rows, batch_rows=batch_rows)
        found.append(run)
    return found


def _check(console: Console, sides: dict[str, WarmSide], run: ShapeRun) -> None:
    """Require equal sums from all sides.

    Raises:
        SystemExit: they differ, or there is nothing to compare.
    """
    checked = replace(run, checked_until=CHECKED_UNTIL.get(run.shape, ORDERS_CHECKED_UNTIL))
    sums = {name: side.answer(asdict(checked))["sums"] for name, side in sides.items()}
    console.print(f"  {run.shape}: windows, rows, sum {sums[FLINK]}")
    if not all(sums[FLINK]) or any(found != sums[FLINK] for found in sums.values()):
        raise SystemExit(f"{run.shape}: the sides counted differently, nothing was compared: {sums}")


def _round(
    console: Console, sides: dict[str, WarmSide], runs: list[ShapeRun], number: int
) -> dict[str, dict[str, Any]]:
    """Run each side of each shape once, beginning at the other end in each round."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        turns = list(sides) if number % 2 == 0 else list(sides)[::-1]
        found[run.shape] = {name: sides[name].answer(asdict(run)) for name in turns}
        costs = ", ".join(f"{name} {found[run.shape][name]['cpu_us_per_record']:.2f}" for name in sides)
        console.print(f"  {run.shape}: us CPU/record {costs}")
    return found


if __name__ == "__main__":
    main()
