"""Nexmark: 22 queries on Flink, Tidemark and plain Spark, from one Kafka topic.

    python -m benchmarks.nexmark                             check, then measure all queries on all sides
    python -m benchmarks.nexmark --check                     results only
    python -m benchmarks.nexmark --quick                     six queries on a million events, a quarter of an hour
    python -m benchmarks.nexmark --queries q0 q5 --sides tidemark flink --events 2000000 --rounds 1
    python -m benchmarks.nexmark --save                      writes results/nexmark.json as well, on an idle machine

A query is measured on the sides that have the result that DuckDB computes from the same events. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from benchmarks.flink import FLINK_VERSION
from benchmarks.measure import load_before, machine_facts
from benchmarks.nexmark.generator.generator_config import GeneratorConfig
from benchmarks.nexmark.measurement import show
from benchmarks.nexmark.query_list import NOT_RUN, QUERIES, QUICK
from benchmarks.nexmark.sides.side_run import SIDES, SideRun
from benchmarks.nexmark.workbench import filled_topic, open_sides, write_side_input
from benchmarks.sides import FLINK, PEER, TIDEMARK

RESULTS: Final = Path(__file__).parents[1] / "results" / "nexmark.json"
_EVENTS: Final = 5_000_000
_CHECKED_EVENTS: Final = 1_000_000
_BATCHES: Final = 5
_WARM_BATCHES: Final = 20
_QUICK_NAMES: Final = {TIDEMARK: "tidemark", FLINK: "flink", PEER: "spark"}


def main() -> None:
    """Check, measure, show and save."""
    asked = _asked()
    console, load = Console(), load_before(is_saved=asked.save)
    found = _run(console, asked)
    if "queries" not in found:
        print(json.dumps({**found, "load": load}))
        return
    show(console, found["queries"], asked.sides)
    if asked.save:
        everything = {**machine_facts(), "flink": FLINK_VERSION, **found, "not_run": NOT_RUN, "load": load}
        RESULTS.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"queries": _costs(found["queries"]), "load": load}))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", nargs="+", choices=tuple(QUERIES), default=list(QUERIES))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--events", type=int, default=0, help=f"default: {_EVENTS:,}; of --check: {_CHECKED_EVENTS:,}")
    parser.add_argument("--rate", type=int, default=GeneratorConfig().rate, help="events of a second of event time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="compare results only")
    parser.add_argument("--quick", action="store_true", help="six queries, a million events, one round")
    parser.add_argument("--save", action="store_true", help="write the result file")
    asked = parser.parse_args()
    if asked.quick:
        asked.queries, asked.rounds = list(QUICK), 1
        asked.sides = [side for side in asked.sides if side in _QUICK_NAMES]
    asked.events = asked.events or (_CHECKED_EVENTS if asked.check or asked.quick else _EVENTS)
    return asked


def _run(console: Console, asked: argparse.Namespace) -> dict[str, Any]:
    """Return the problems that were found and, unless results were compared only, the figures."""
    config, found = GeneratorConfig(rate=asked.rate), {}
    checked_events = asked.events if asked.check else min(asked.events, _CHECKED_EVENTS)
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_side_input(directory)
        sides = open_sides(stack, asked.sides, console)
        with filled_topic(console, config, sides, _work(directory, checked_events)) as workbench:
            problems = workbench.check(asked.queries)
            found = {"problems": {name: each for name, each in problems.items() if each}}
            if asked.check:
                return found
            if checked_events == asked.events:
                return found | _measured(workbench, problems, asked)
        with filled_topic(console, config, sides, _work(directory, asked.events)) as workbench:
            return found | _measured(workbench, problems, asked)


def _work(directory: Path, events: int) -> SideRun:
    return SideRun(query="", bootstrap="", events=events, batch_events=events // _BATCHES, directory=str(directory))


def _measured(workbench: Any, problems: Mapping[str, Mapping[str, str]], asked: argparse.Namespace) -> dict[str, Any]:
    warm_ups = [] if asked.quick else [asked.events // _WARM_BATCHES]
    queries = workbench.measure(asked.queries, problems, asked.rounds, warm_ups)
    config = asdict(workbench.config)
    return {
        "topic": asdict(workbench.filled),
        "config": config,
        "batch": workbench.run.batch_events,
        "queries": queries,
    }


def _costs(queries: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the CPU per event of each query and side."""
    return {
        name: {_QUICK_NAMES.get(side, side): each["cpu_us_per_event"] for side, each in found["sides"].items()}
        for name, found in queries.items()
    }


if __name__ == "__main__":
    main()
