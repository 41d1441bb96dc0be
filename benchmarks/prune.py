"""Column pruning: a windowed JSON count that reads 3 of 20 columns against the same one that reads them all.

    python -m benchmarks.prune          prints the rounds; the last line is JSON
    python -m benchmarks.prune --save   writes results/prune.json as well

1,000,000 documents of about 370 bytes on four partitions of a real broker, in batches of 250,000; the sides run in
turns, each in its own process. `speedup` is a ratio of CPU per record, `time_speedup` of elapsed time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from benchmarks.measure import load_average
from datasources.embedded import EmbeddedKafka

RESULTS: Final = Path(__file__).parent / "results" / "prune.json"
SIDES: Final = ("whole", "pruned")
ROWS: Final = 1_000_000
BATCH_ROWS: Final = 250_000
PARTITIONS: Final = 4
ROUNDS: Final = 3


def main() -> None:
    """Run the rounds and show them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    load = load_average()
    with EmbeddedKafka() as kafka:
        size = float(_child("wide_orders", kafka.bootstrap_servers, "wide", str(PARTITIONS), str(ROWS)))
        rounds = [_round(number, kafka.bootstrap_servers, console) for number in range(ROUNDS)]
    summary = _summary(rounds) | {"rows": ROWS, "record_bytes": round(size, 1), "columns": 20, "load": load}
    if arguments.save:
        machine = {"machine": f"{platform.machine()}, {os.cpu_count()} cores", "python": platform.python_version()}
        RESULTS.write_text(json.dumps(summary | machine | {"rounds": rounds}, indent=2) + "\n")
    print(json.dumps(summary))


def _child(module: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"benchmarks.{module} failed:\n{done.stderr[-4000:]}")
    return done.stdout.splitlines()[-1]


def _round(number: int, bootstrap: str, console: Console) -> dict[str, dict[str, Any]]:
    """Run both sides, the other one first in every second round; their counts must be equal."""
    order = SIDES if number % 2 == 0 else SIDES[::-1]
    results = {side: json.loads(_child("prune_query", side, bootstrap, "wide", str(BATCH_ROWS))) for side in order}
    whole, pruned = (results[side].pop("counts") for side in SIDES)
    if whole != pruned or sum(whole.values()) != ROWS:
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
