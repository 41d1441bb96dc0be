"""make bench: the windowed JSON count on 4 partitions against spark-sql-kafka-0-10 and Flink SQL.

Five rounds in one run, the sides in turns; Flink where its jars can be had. Writes results/kafka_window.json.
With --quick: one round on fewer rows and without Flink, nothing written, last line JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
from rich.console import Console
from rich.table import Table

from benchmarks.measure import load_average, machine_facts
from datasources.demo.spark_kafka import SparkKafka, fetch_spark_kafka
from datasources.embedded import EmbeddedKafka

SIDES = ("tidemark", "spark-sql-kafka")
FLINK = "flink"
RESULTS = Path(__file__).parent / "results" / "kafka_window.json"
PARTITIONS = 4


def main() -> None:
    """Run the rounds and show them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, under two minutes")
    arguments = parser.parse_args()
    rows, rounds, batch = (1_500_000, 1, 375_000) if arguments.quick else (4_000_000, 5, 500_000)
    console = Console(stderr=arguments.quick)
    load = load_average()
    peer = fetch_spark_kafka(pyspark.__version__, console.print)
    console.print(f"{rows:,} JSON orders on {PARTITIONS} partitions, {rounds} round(s), load before the run {load}")
    sides = SIDES if arguments.quick else (*SIDES, FLINK)
    with EmbeddedKafka() as kafka:
        size = _produce(kafka.bootstrap_servers, "orders", rows)
        measured = [
            {side: _measure(side, kafka.bootstrap_servers, batch, peer, console) for side in _order(sides, number)}
            for number in range(rounds)
        ]
    measured, missing = _without_missing(measured)
    _require_equal_results(measured, rows)
    summary = _summary(measured, load)
    _show(console, measured, summary)
    if not arguments.quick:
        facts = {"rows": rows, "record_bytes": size, "batch_rows": batch, "peer_version": peer.version}
        _write(measured, summary, {**facts, "flink_missing": missing})
    print(
        json.dumps(
            {key: summary[key] for key in ("cpu_us_per_record", "ratio", "load")} if arguments.quick else summary
        )
    )


def _order(sides: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Alternate which side goes first."""
    return sides if number % 2 == 0 else sides[::-1]


def _without_missing(measured: list[dict[str, dict[str, Any]]]) -> tuple[list[dict[str, dict[str, Any]]], str | None]:
    """Leave Flink out if it could not run; say why."""
    why = next((r[FLINK]["why"] for r in measured if "why" in r.get(FLINK, {})), None)
    return [{side: r[side] for side in r if why is None or side != FLINK} for r in measured], why


def _produce(bootstrap: str, topic: str, rows: int) -> float:
    command = [sys.executable, "-m", "benchmarks.orders", bootstrap, topic, str(PARTITIONS), str(rows)]
    return round(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout), 1)


def _measure(side: str, bootstrap: str, batch: int, peer: SparkKafka, console: Console) -> dict[str, Any]:
    jars = ",".join(str(jar) for jar in peer.jars)
    command = [sys.executable, "-m", "benchmarks.window_query", side, bootstrap, "orders", str(batch), jars]
    if side == FLINK:
        command = [sys.executable, "-m", "benchmarks.window_flink", bootstrap, "orders"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the {side} side failed:\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "why" in result:
        console.print(f"  {side:16} not measured: {result['why']}")
        return result
    console.print(
        f"  {side:16} {result['cpu_us_per_record']:.2f} us CPU/record, {result['rows_per_s']:,.0f} rows/s, "
        f"largest worker {result['peak_worker_mb']} MB, JVM {result['peak_jvm_mb']} MB"
    )
    return result


def _require_equal_results(measured: list[dict[str, dict[str, Any]]], rows: int) -> None:
    for number, one_round in enumerate(measured):
        ours, *theirs = (one_round[side]["counts"] for side in sorted(one_round, key=_place))
        if any(ours != each for each in theirs) or sum(ours.values()) != rows:
            raise SystemExit(f"round {number + 1}: the sides counted differently; nothing was compared")


def _place(side: str) -> int:
    return (*SIDES, FLINK).index(side)


def _summary(measured: list[dict[str, dict[str, Any]]], load: float) -> dict[str, Any]:
    sides = sorted(measured[0], key=_place)
    cost = {side: statistics.median(r[side]["cpu_us_per_record"] for r in measured) for side in sides}
    ratios = {
        side: [r["tidemark"]["cpu_us_per_record"] / r[side]["cpu_us_per_record"] for r in measured]
        for side in sides[1:]
    }
    to_flink = {"ratio_to_flink": round(statistics.median(ratios[FLINK]), 3)} if FLINK in ratios else {}
    return {
        "cpu_us_per_record": {side: round(value, 3) for side, value in cost.items()},
        "ratio": round(statistics.median(ratios["spark-sql-kafka"]), 3),
        "ratio_spread": [round(spread(ratios["spark-sql-kafka"]), 3) for spread in (min, max)],
        **to_flink,
        "load": load,
    }


def _show(console: Console, measured: list[dict[str, dict[str, Any]]], summary: dict[str, Any]) -> None:
    table = Table("side", "us CPU/record", "rows/s", "largest worker MB", "JVM MB")
    for side in sorted(measured[0], key=_place):
        runs = [r[side] for r in measured]
        table.add_row(
            side,
            f"{summary['cpu_us_per_record'][side]:.2f}",
            f"{statistics.median(r['rows_per_s'] for r in runs):,.0f}",
            str(max(r["peak_worker_mb"] for r in runs)),
            str(max(r["peak_jvm_mb"] for r in runs)),
        )
    console.print(table)
    console.print(f"ratio of CPU per record, median of the rounds: {summary['ratio']:.2f}; equal counts on all sides")


def _write(measured: list[dict[str, dict[str, Any]]], summary: dict[str, Any], facts: dict[str, Any]) -> None:
    rounds = [
        {side: {k: v for k, v in result.items() if k != "counts"} for side, result in r.items()} for r in measured
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    document = {
        **summary,
        **facts,
        "spark": pyspark.__version__,
        "partitions": PARTITIONS,
        **machine_facts(),
        "rounds": rounds,
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
