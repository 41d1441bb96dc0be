"""Column pruning: a windowed JSON count that reads 3 of 20 columns against the same one that reads them all.

    python -m benchmarks.kafka.prune          prints the rounds; the last line is JSON
    python -m benchmarks.kafka.prune --save   writes results/prune.json as well

`pruned` is a windowed count as a statement over a table of 20 columns: the planner pushes down the three that it names.
`whole` is the same count over `SELECT *` of that table, which names all of them. 1,200,000 documents of about 400 bytes
on four partitions of a real broker, in two batches. The sides alternate in one session, and the first round warms it
up: a fresh JVM compiles for longer than a query runs. CPU and time are those of whole queries, from start to end.
`speedup` is a ratio of CPU per record, `time_speedup` of elapsed time, each the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from benchmarks.kafka.sides.window_query import counted, run, session
from benchmarks.measure import cpu_seconds, jvm_of_this_process, load_average, machine_facts
from benchmarks.orders.json_orders import COUNT
from benchmarks.orders.wide_orders import WIDE_SCHEMA
from datasources.embedded import EmbeddedKafka
from datasources.sql import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RESULTS: Final = Path(__file__).parents[1] / "results" / "prune.json"
SIDES: Final = ("whole", "pruned")
ROWS: Final = 1_200_000
BATCH_ROWS: Final = 600_000
PARTITIONS: Final = 4
WARM_UP, ROUNDS = 1, 4


def main() -> None:
    """Run the rounds and show them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    load = load_average()
    with EmbeddedKafka() as kafka:
        size = _produce(kafka.bootstrap_servers)
        t = TableEnvironment(session())
        t.sql(_ddl(kafka.bootstrap_servers))
        rounds = [_round(t, number, console) for number in range(WARM_UP + ROUNDS)][WARM_UP:]
    summary = _summary(rounds) | {"rows": ROWS, "record_bytes": round(size, 1), "columns": 20, "load": load}
    if arguments.save:
        RESULTS.write_text(json.dumps(summary | machine_facts() | {"rounds": rounds}, indent=2) + "\n")
    print(json.dumps(summary))


def _produce(bootstrap: str) -> float:
    """Write the documents in a process of its own, whose CPU does not count; return their mean size in bytes."""
    command = [sys.executable, "-m", "benchmarks.orders.wide_orders", bootstrap, "wide", str(PARTITIONS), str(ROWS)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _ddl(bootstrap: str) -> str:
    columns = WIDE_SCHEMA.replace("ts TIMESTAMP", "ts TIMESTAMP_LTZ(3)")
    return f"""
        CREATE TABLE orders ({columns}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (
          'connector' = 'kafka', 'topic' = 'wide', 'properties.bootstrap.servers' = '{bootstrap}',
          'scan.startup.mode' = 'earliest-offset', 'maxOffsetsPerTrigger' = '{BATCH_ROWS}', 'format' = 'json')
    """


def _query(t: TableEnvironment, side: str) -> DataFrame:
    frame = t.sql(COUNT if side == "pruned" else "SELECT * FROM orders")
    return frame if side == "pruned" else counted(frame)


def _cost(windows: DataFrame) -> dict[str, Any]:
    """Run a count to its end; return its counts, CPU per record and records per second."""
    jvm = jvm_of_this_process()
    cpu, start = cpu_seconds(jvm), time.perf_counter()
    found = run(windows, ROWS, measured=False)
    cpu, elapsed = cpu_seconds(jvm) - cpu, time.perf_counter() - start
    return {**found, "cpu_us_per_record": round(cpu / ROWS * 1e6, 2), "rows_per_s": round(ROWS / elapsed)}


def _round(t: TableEnvironment, number: int, console: Console) -> dict[str, dict[str, Any]]:
    """Run both sides, the other one first in every second round; their counts must be equal."""
    order = SIDES if number % 2 == 0 else SIDES[::-1]
    results = {side: _cost(_query(t, side)) for side in order}
    whole, pruned = (results[side].pop("counts") for side in SIDES)
    if whole != pruned or any(result.pop("rows") != ROWS for result in results.values()):
        raise SystemExit(f"round {number + 1}: the sides counted differently; nothing was compared")
    for side in SIDES:
        one = results[side]
        console.print(f"  {side:8} {one['cpu_us_per_record']:.2f} us CPU/record, {one['rows_per_s']:,.0f} rows/s")
    return results


def _summary(rounds: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    def median(key: str, side: str) -> float:
        return statistics.median(one[side][key] for one in rounds)

    def ratio(key: str, over: str, under: str) -> float:
        return round(statistics.median(one[over][key] / one[under][key] for one in rounds), 2)

    return {
        "speedup": ratio("cpu_us_per_record", "whole", "pruned"),
        "time_speedup": ratio("rows_per_s", "pruned", "whole"),
        "cpu_us_per_record": {side: round(median("cpu_us_per_record", side), 2) for side in SIDES},
        "rows_per_s": {side: round(median("rows_per_s", side)) for side in SIDES},
    }


if __name__ == "__main__":
    main()
