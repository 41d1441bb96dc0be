"""Windowed counts of nested events, with keys, and over windows that overlap, against spark-sql-kafka and Flink SQL.

    python -m benchmarks.kafka.shapes          prints the rounds; the last line is JSON
    python -m benchmarks.kafka.shapes --save   writes results/kafka_shapes.json as well
    ... --only "nested events"                 one of the shapes, beside what the file has of the others
    ... --rows 600000 --rounds 1               a first look

Every side has a JVM that stays. A first pass compares the sums of windows that all sides have completed, a second one
warms up in many small batches, then the sides take turns, shape by shape.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console

from benchmarks.kafka.sides.shape_side import ShapeRun
from benchmarks.kafka.sides.window_shapes import FORMAT_SHAPES, SHAPES, Shape
from benchmarks.measure import load_before, machine_facts
from benchmarks.orders.json_orders import make_topic, produce
from benchmarks.rounds import summary
from benchmarks.sides import FLINK, PEER, TIDEMARK, TIDEMARK_SQL, WarmSide
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka

__all__ = ["fill_topics", "measure_shapes"]

RESULTS: Final = Path(__file__).parents[1] / "results" / "kafka_shapes.json"
SIDES: Final = (TIDEMARK, TIDEMARK_SQL, PEER, FLINK)
PARTITIONS: Final = 4
BATCHES: Final = 4
WARM_BATCHES: Final = 80
"""Batches of each shape before the rounds: Spark's JVM compiles what it does in every batch."""
CHECKED_UNTIL: Final = {"nested events": "2026-03-01 00:30:00"}
ORDERS_CHECKED_UNTIL: Final = "2025-10-09 00:03:00"


def main() -> None:
    """Check, warm up, run the rounds, and show them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    parser.add_argument("--only", choices=tuple(SHAPES), action="append", help="one of the shapes, or several")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    console, load = Console(), load_before(is_saved=asked.save)
    jars = fetch_spark_kafka(pyspark.__version__, console.print).jars
    with EmbeddedKafka() as kafka:
        shapes = {name: SHAPES[name] for name in asked.only or SHAPES}
        runs = fill_topics(console, kafka.bootstrap_servers, asked.rows, shapes)
        found = measure_shapes(console, runs, jars, asked.rounds, load)
    if asked.save:
        _save(found)
    print(json.dumps({shape: {**each, "rounds": asked.rounds} for shape, each in found.items()}))


def measure_shapes(
    console: Console, runs: Sequence[ShapeRun], jars: Sequence[Path], rounds: int, load: float
) -> dict[str, dict[str, Any]]:
    """Check the sides, warm them up and measure them in turns; return each shape's figures and rounds.

    Raises:
        SystemExit: the sides count differently.
    """
    joined = ",".join(map(str, jars))
    with ExitStack() as stack:
        sides = {
            side: stack.enter_context(WarmSide(side, jars=joined, module="benchmarks.kafka.sides.shape_side"))
            for side in SIDES
        }
        for run in runs:
            _check(console, sides, run)
        console.print("a pass to warm up")
        for run in runs:
            for side in _sides(sides, run).values():
                side.answer(asdict(replace(run, batch_rows=run.rows // WARM_BATCHES)))
        measured = [_round(console, sides, runs, number) for number in range(rounds)]
    found = {}
    for run in runs:
        of_shape = [each[run.shape] for each in measured]
        found[run.shape] = {"rows": run.rows, **summary(of_shape, load), "rounds": of_shape}
    return found


def _save(found: dict[str, dict[str, Any]]) -> None:
    """Write the shapes into the result file, which keeps those that were not measured."""
    kept = json.loads(RESULTS.read_text())["shapes"] if RESULTS.exists() else {}
    shapes = {shape: found.get(shape) or kept[shape] for shape in SHAPES if shape in found or shape in kept}
    RESULTS.write_text(json.dumps({"batches": BATCHES, **machine_facts(), "shapes": shapes}, indent=2) + "\n")


def fill_topics(
    console: Console, bootstrap: str, rows: int, shapes: Mapping[str, Shape], registry: str = ""
) -> list[ShapeRun]:
    """Fill the topics; return the measured run of each shape."""
    topics: dict[Any, str] = {}
    found = []
    for name, shape in shapes.items():
        if shape.make not in topics:
            topics[shape.make] = topic = f"shapes-{len(topics)}"
            make_topic(bootstrap, topic, PARTITIONS)
            size = produce(bootstrap, topic, PARTITIONS, range(rows), shape.make)
            console.print(f"  {topic}: {rows:,} records of {size:.0f} bytes")
        found.append(
            ShapeRun(
                shape=name,
                bootstrap=bootstrap,
                topic=topics[shape.make],
                rows=rows,
                batch_rows=rows // BATCHES,
                registry=registry,
            )
        )
    return found


def _sides(sides: Mapping[str, WarmSide], run: ShapeRun) -> dict[str, WarmSide]:
    """Return those that can read the shape."""
    return {name: sides[name] for name in (SHAPES | FORMAT_SHAPES)[run.shape].sides}


def _check(console: Console, sides: dict[str, WarmSide], run: ShapeRun) -> None:
    """Require equal sums from all sides.

    Raises:
        SystemExit: they differ, or there is nothing to compare.
    """
    checked = replace(run, checked_until=CHECKED_UNTIL.get(run.shape, ORDERS_CHECKED_UNTIL))
    sums = {name: side.answer(asdict(checked))["sums"] for name, side in _sides(sides, run).items()}
    first, *others = sums.values()
    console.print(f"  {run.shape}: windows, rows, sum {first}")
    if not all(first) or any(found != first for found in others):
        raise SystemExit(f"{run.shape}: the sides counted differently, nothing was compared: {sums}")


def _round(
    console: Console, sides: dict[str, WarmSide], runs: Sequence[ShapeRun], number: int
) -> dict[str, dict[str, Any]]:
    """Run each side of each shape once, beginning at the other end in each round."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        names = list(_sides(sides, run))
        turns = names if number % 2 == 0 else names[::-1]
        found[run.shape] = {name: sides[name].answer(asdict(run)) for name in turns}
        costs = ", ".join(f"{name} {found[run.shape][name]['cpu_us_per_record']:.2f}" for name in names)
        console.print(f"  {run.shape}: us CPU/record {costs}")
    return found


if __name__ == "__main__":
    main()
