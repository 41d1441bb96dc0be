"""Nexmark: 22 queries on Flink, Tidemark and plain Spark, from one Kafka topic.

    python -m benchmarks.nexmark                             check, then measure all queries on all sides
    python -m benchmarks.nexmark --check                     results only
    python -m benchmarks.nexmark --quick                     six queries on few events, in young JVMs
    python -m benchmarks.nexmark --queries q0 q5 --sides tidemark flink --events 2000000 --rounds 1
    python -m benchmarks.nexmark --save                      writes results/nexmark.json as well, on an idle machine
    python -m benchmarks.nexmark --save --queries q0 q1      adds these queries to the file: all of them take hours

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
from benchmarks.nexmark.workbench import Workbench, filled_topic, open_sides, write_side_input
from benchmarks.sides import FLINK, PEER, TIDEMARK

RESULTS: Final = Path(__file__).parents[1] / "results" / "nexmark.json"
_EVENTS: Final = 2_000_000
_CHECKED_EVENTS: Final = 500_000
_BATCHES: Final = 2
_CHECKED_BATCHES: Final = 5
_SHORT_EVENTS: Final = 50_000
_QUICK_EVENTS: Final = 150_000
_QUICK_BATCHES: Final = 1
_QUICK_SLOWER: Final = 10
"""So much slower is the clock of few events: windows of ten seconds shall close."""
_SAME: Final = ("machine", "python", "flink", "config", "events", "batch", "rounds")
Problems = Mapping[str, Mapping[str, str]]
"""By query and side, why it cannot run it or what is wrong with its result."""
_QUICK_NAMES: Final = {TIDEMARK: "tidemark", FLINK: "flink", PEER: "spark"}


def main() -> None:
    """Check, measure, show and save."""
    asked = _asked()
    console, load = Console(), load_before(is_saved=asked.save)
    found = _run(console, asked, load)
    if "queries" not in found:
        print(json.dumps({**found, "load": load}))
        return
    show(console, found["queries"], asked.sides)
    print(json.dumps({"queries": _costs(found["queries"]), "load": load}))


def _save(found: Mapping[str, Any]) -> None:
    """Write the figures; those of other queries stay if they were measured in the same way."""
    found = dict(found)
    if RESULTS.exists():
        before = json.loads(RESULTS.read_text(encoding="utf-8"))
        if all(before.get(key) == found[key] for key in _SAME):
            queries = before["queries"] | found["queries"]
            problems = {name: each for name, each in before["problems"].items() if name not in found["queries"]}
            found["queries"] = {name: queries[name] for name in QUERIES if name in queries}
            found["problems"] = problems | found["problems"]
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", nargs="+", choices=tuple(QUERIES), default=list(QUERIES))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--events", type=int, default=0, help=f"default: {_EVENTS:,}; with --check {_CHECKED_EVENTS:,}")
    parser.add_argument("--rate", type=int, default=GeneratorConfig().rate, help="events of a second of event time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="compare results only")
    parser.add_argument("--quick", action="store_true", help=f"six queries, {_QUICK_EVENTS:,} events, one round")
    parser.add_argument("--save", action="store_true", help="write the result file")
    asked = parser.parse_args()
    if asked.quick:
        asked.queries, asked.rounds, asked.rate = list(QUICK), 1, asked.rate // _QUICK_SLOWER
        asked.sides = [side for side in asked.sides if side in _QUICK_NAMES]
    usual = _QUICK_EVENTS if asked.quick else _CHECKED_EVENTS if asked.check else _EVENTS
    asked.events = asked.events or usual
    return asked


def _run(console: Console, asked: argparse.Namespace, load: float) -> dict[str, Any]:
    """Return the problems that were found and, unless results were compared only, the figures."""
    config = GeneratorConfig(rate=asked.rate)
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_side_input(directory)
        sides = open_sides(stack, asked.sides, console, is_shared=asked.quick)
        if asked.quick:  # one topic for both: to fill another takes longer than to compare more rows
            workbench = stack.enter_context(
                filled_topic(console, config, sides, _work(directory, asked.events, _QUICK_BATCHES))
            )
            return _measured(workbench, asked, workbench.check(asked.queries), None, load)
        checked = _work(
            directory, asked.events if asked.check else min(asked.events, _CHECKED_EVENTS), _CHECKED_BATCHES
        )
        with filled_topic(console, config, sides, checked) as workbench:
            problems = workbench.check(asked.queries)
        if asked.check:
            return {"problems": _only_problems(problems)}
        before = stack.enter_context(filled_topic(console, config, {}, _work(directory, _SHORT_EVENTS, 1))).run
        with filled_topic(console, config, sides, _work(directory, asked.events, _BATCHES)) as workbench:
            return _measured(workbench, asked, problems, before, load)


def _measured(
    workbench: Workbench, asked: argparse.Namespace, problems: Problems, before: SideRun | None, load: float
) -> dict[str, Any]:
    """Return the figures of all queries, each on the sides that have no problem with it."""
    found = {"problems": _only_problems(problems), **_described(workbench, asked.rounds), "queries": {}}
    for name in asked.queries:
        found["queries"][name] = workbench.measure(name, problems[name], asked.rounds, before)
        if asked.save:
            _save({**machine_facts(), "load": load, "flink": FLINK_VERSION, **found, "not_run": NOT_RUN})
    return found


def _only_problems(problems: Problems) -> dict[str, Any]:
    return {name: each for name, each in problems.items() if each}


def _work(directory: Path, events: int, batches: int) -> SideRun:
    return SideRun(query="", bootstrap="", events=events, batch_events=events // batches, directory=str(directory))


def _described(workbench: Workbench, rounds: int) -> dict[str, Any]:
    return {
        "topic": asdict(workbench.filled),
        "config": asdict(workbench.config),
        "events": workbench.run.events,
        "rounds": rounds,
        "batch": workbench.run.batch_events,
    }


def _costs(queries: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the CPU per event of each query and side."""
    return {
        name: {_QUICK_NAMES.get(side, side): each["cpu_us_per_event"] for side, each in found["sides"].items()}
        for name, found in queries.items()
    }


if __name__ == "__main__":
    main()
