"""Alternating sides of a benchmark, round after round: equal results required, medians and spreads of their cost."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.sides import FLINK, PEER, TIDEMARK, TIDEMARK_SQL, WarmSide, Workload

__all__ = ["bare", "measure_rounds", "show", "summary"]

_ORDER = (TIDEMARK, TIDEMARK_SQL, PEER, FLINK)
_RATIOS = {
    "ratio": (TIDEMARK, PEER),
    "ratio_to_flink": (TIDEMARK, FLINK),
    "sql_ratio": (TIDEMARK_SQL, PEER),
    "sql_ratio_to_flink": (TIDEMARK_SQL, FLINK),
}
Round = dict[str, dict[str, Any]]


def measure_rounds(
    console: Console, sides: tuple[str, ...], work: Workload, rounds: int, warm_ups: Sequence[int]
) -> tuple[list[Round], str]:
    """Run the sides in turns, each in a JVM that stays, each round beginning at the other end.

    Args:
        console: prints each run.
        sides: their names.
        work: what each does.
        rounds: how many there are.
        warm_ups: the rows of a batch in each run that comes before them. Spark's JVM compiles what it does in every
            batch, so many small ones warm it up as hours of a query do.

    Returns:
        The rounds, and why a side was left out of all of them; "" = none was.

    Raises:
        SystemExit: a side failed, or the sides gave different results.
    """
    measured: list[Round] = []
    with ExitStack() as stack:
        warm = {side: stack.enter_context(WarmSide(side, jars=work.jars)) for side in sides}
        for batch_rows in warm_ups:
            console.print(f"warming up with batches of {batch_rows:,} rows:")
            for side in sides:
                _measured(console, side, warm[side], work.of(batch_rows=batch_rows))
        for number in range(rounds):
            console.print(f"round {number + 1}:")
            turns = sides if number % 2 == 0 else sides[::-1]
            measured.append({side: _measured(console, side, warm[side], work) for side in turns})
    why = next((str(result["why"]) for each in measured for result in each.values() if "why" in result), "")
    measured = [{side: result for side, result in each.items() if "why" not in result} for each in measured]
    for number, each in enumerate(measured, start=1):
        first, *others = (result["counts"] for result in each.values())
        if not first or any(other != first for other in others):
            raise SystemExit(f"round {number}: the sides counted differently; nothing was compared")
    return measured, why


def _measured(console: Console, name: str, side: WarmSide, work: Workload) -> dict[str, Any]:
    result = side.run(work)
    if "why" in result:
        console.print(f"  {name:16} not measured: {result['why']}")
    else:
        console.print(
            f"  {name:16} {result['cpu_us_per_record']:.2f} us CPU/record, {result['rows_per_s']:,.0f} rows/s, "
            f"largest worker {result['peak_worker_mb']} MB, JVM {result['peak_jvm_mb']} MB"
        )
    return result


def summary(measured: list[Round], load: float) -> dict[str, Any]:
    """Return medians of the cost, and of the ratios of our sides to the others with their spread."""
    sides = sorted(measured[0], key=_ORDER.index)
    cost = {side: statistics.median(each[side]["cpu_us_per_record"] for each in measured) for side in sides}
    found: dict[str, Any] = {"cpu_us_per_record": {side: round(value, 3) for side, value in cost.items()}}
    for name, (ours, other) in _RATIOS.items():
        if {ours, other} <= set(sides):
            ratios = [each[ours]["cpu_us_per_record"] / each[other]["cpu_us_per_record"] for each in measured]
            found[name] = round(statistics.median(ratios), 3)
            found[f"{name}_spread"] = [round(spread(ratios), 3) for spread in (min, max)]
    return {**found, "load": load}


def show(console: Console, measured: list[Round], found: dict[str, Any]) -> None:
    """Print a table of the sides, and the ratios."""
    table = Table("side", "us CPU/record", "rows/s", "largest worker MB", "JVM MB")
    for side in sorted(measured[0], key=_ORDER.index):
        runs = [each[side] for each in measured]
        table.add_row(
            side,
            f"{found['cpu_us_per_record'][side]:.2f}",
            f"{statistics.median(run['rows_per_s'] for run in runs):,.0f}",
            str(max(run["peak_worker_mb"] for run in runs)),
            str(max(run["peak_jvm_mb"] for run in runs)),
        )
    console.print(table)
    for key in (key for key in found if "ratio" in key and not key.endswith("spread")):
        console.print(f"{key.replace('_', ' ')} of CPU per record, median of the rounds: {found[key]:.2f}")


def bare(measured: list[Round]) -> list[Round]:
    """Return the rounds without the rows that were counted."""
    return [
        {side: {key: value for key, value in result.items() if key != "counts"} for side, result in each.items()}
        for each in measured
    ]
