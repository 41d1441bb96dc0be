"""Rounds of all sides, query by query, and what they amount to."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.measure import load_average
from benchmarks.nexmark.sides.side_run import SideRun
from benchmarks.sides import WarmSide

__all__ = ["measure_query", "show"]

_FIGURES: Final = ("peak_jvm_mb", "peak_worker_mb", "state_mb")


def measure_query(
    console: Console, sides: Mapping[str, WarmSide], run: SideRun, rounds: int, before: SideRun | None
) -> dict[str, Any]:
    """Run a query on some sides in turns, each round beginning at the other end; return the figures of each side.

    Args:
        console: prints each run.
        sides: those that can run it.
        run: the query's.
        rounds: how many there are.
        before: a short run of the query directly before each one: PySpark ends workers that were idle for a minute,
            and to start them is no work of the query; None = there is none.
    """
    measured: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    load = load_average()
    for number in range(rounds):
        names = list(sides) if number % 2 == 0 else list(sides)[::-1]
        for name in names:
            if before is not None:
                _checked(name, sides[name].answer(asdict(replace(before, query=run.query))))
            measured[name].append(_checked(name, sides[name].answer(asdict(run))))
        costs = ", ".join(f"{name} {_us(measured[name][-1], run):.2f}" for name in sides)
        console.print(f"  {run.query} round {number + 1}: us CPU/event {costs}", highlight=False)
    return {"load": load, "sides": {name: _summary(found, run) for name, found in measured.items()}}


def _checked(name: str, answer: dict[str, Any]) -> dict[str, Any]:
    if "why" in answer:
        raise SystemExit(f"the side {name} could run the query before, and cannot now: {answer['why']}")
    return answer


def _us(answer: Mapping[str, Any], run: SideRun) -> float:
    return float(answer["cpu_s"]) / run.events * 1e6


def _summary(found: Sequence[Mapping[str, Any]], run: SideRun) -> dict[str, Any]:
    """Return medians of the rounds, and the rounds' CPU per event."""
    cpu, elapsed = (statistics.median(each[key] for each in found) for key in ("cpu_s", "elapsed_s"))
    figures: dict[str, Any] = {
        "cpu_us_per_event": round(cpu / run.events * 1e6, 3),
        "events_per_s": round(run.events / elapsed),
        "cores": round(cpu / elapsed, 2),
        "time_s": round(elapsed, 2),
        "cores_x_time_s": round(cpu, 2),
        "events_per_core_s": round(run.events / cpu),
    }
    behind = run.events - run.batch_events
    if behind > 0 and "steady_cpu_s" in found[0]:
        steady = statistics.median(each["steady_cpu_s"] for each in found)
        figures["steady_cpu_us_per_event"] = round(steady / behind * 1e6, 3)
    for key in _FIGURES:
        figures[key] = max((each[key] or 0 for each in found), default=0) or None
    return {**figures, "rounds_us": [round(_us(each, run), 3) for each in found]}


def show(console: Console, found: Mapping[str, Mapping[str, Any]], sides: Sequence[str]) -> None:
    """Print a table of the CPU per event."""
    table = Table("query", *sides, title="us CPU per event (thousand events/s)")
    for name, query in found.items():
        cells = []
        for side in sides:
            figures = query["sides"].get(side)
            cells.append(
                f"{figures['cpu_us_per_event']:.2f} ({figures['events_per_s'] / 1_000:.0f})" if figures else "-"
            )
        table.add_row(name, *cells)
    console.print(table)
