"""`make bench-changelog`: queries whose rows change, on Spark and on Flink; the last line is JSON.

    python -m benchmarks.changelog            prints figures
    python -m benchmarks.changelog --save     writes results/changelog.json as well, on an idle machine only

Three queries over rows that are only added, whose results change: an aggregate of a million keys, the first three rows
of each of 100,000 keys, and a LEFT JOIN of two tables of a million rows, which removes the rows that it gave without a
partner. Each side is a process of its own; runs of the same query come before the measured one. CPU is that of all
processes of a side, from the query's start to its end, per row that is read.

Ours reads Parquet files in batches and keeps state in RocksDB with a checkpoint after each batch. Flink generates its
rows, with mini-batches and two-phase aggregation. It runs twice: `flink` keeps state on the heap without checkpoints,
its fastest form, which loses the state in a failure; `flink_rocksdb` keeps it in RocksDB with a checkpoint every three
seconds, as safe as ours. `plain` is the same without the operator.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import load_before, machine_facts

RESULTS: Final = Path(__file__).parents[1] / "results" / "changelog.json"
_PEER: Final = "benchmarks.changelog.flink_side"
SIDES: Final = {
    "tidemark": ("benchmarks.changelog.spark_side",),
    "flink": (_PEER,),
    "flink_rocksdb": (_PEER, "--rocksdb"),
}


def main() -> None:
    """Measure all sides one after the other; the last line is JSON."""
    load = load_before(is_saved="--save" in sys.argv)
    found: dict[str, Any] = {side: _measured(command) for side, command in SIDES.items()}
    ratios = {peer: _ratios(found["tidemark"], found[peer]) for peer in SIDES if peer != "tidemark"}
    everything = {**found, "cpu_ratio": ratios, "load": load, **machine_facts()}
    print(json.dumps(everything, indent=2))
    if "--save" in sys.argv:
        RESULTS.write_text(json.dumps(everything, indent=2) + "\n")
    print(json.dumps({"cpu_ratio": ratios, "load": load}))


def _ratios(ours: dict[str, Any], peers: dict[str, Any]) -> dict[str, float]:
    """Return our CPU per row divided by the peer's, by query; none if the peer could not run."""
    measured = peers.get("queries", {})
    return {
        name: round(figures["cpu_us_per_row"] / measured[name]["cpu_us_per_row"], 2)
        for name, figures in ours["queries"].items()
        if name in measured
    }


def _measured(command: Sequence[str]) -> dict[str, Any]:
    """Run a side, a module with its arguments; its last line is its result."""
    run = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{run.stdout[-2_000:]}{run.stderr[-4_000:]}")
    result: dict[str, Any] = json.loads(run.stdout.strip().splitlines()[-1])
    return result


if __name__ == "__main__":
    main()
