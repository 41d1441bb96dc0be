"""Nexmark's latencies: each side reads a topic that gets 10,000 events a second, the event time of each its own time.

    python -m benchmarks.nexmark.latency                                   six queries on all sides, over a minute each
    python -m benchmarks.nexmark.latency --queries q0 q7 --sides tidemark flink --seconds 60
    python -m benchmarks.nexmark.latency --save                            writes results/nexmark_latency.json as well

A row of a window is due when the watermark, four seconds behind the events, reaches the window's end; another row is
due with its event. It is delivered when a sink has it: Spark's `foreachBatch` as Arrow; of Flink the broker. Rows that
were due in the first seconds of a run do not count: queries start there. Queries of events are stopped then, and run
again from their checkpoint, Flink from a savepoint: how long it takes until the first row. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.flink import FLINK_VERSION
from benchmarks.measure import load_before, machine_facts
from benchmarks.nexmark.dataset import PARTITIONS, TOPIC, topic_messages
from benchmarks.nexmark.generator.generator_config import GeneratorConfig
from benchmarks.nexmark.generator.topic_writer import EventWriter, TopicPart
from benchmarks.nexmark.sides.delivery import Deliveries, Watch, restart_of
from benchmarks.nexmark.sides.side_run import SIDES, SideRun
from benchmarks.nexmark.workbench import open_sides, write_side_input
from benchmarks.orders.json_orders import make_topic
from benchmarks.sides import WarmSide
from datasources.embedded import EmbeddedKafka
from watermark import SystemClock

RESULTS: Final = Path(__file__).parents[1] / "results" / "nexmark_latency.json"
WATCHED: Final = {
    "q0": ("dateTime", 0),
    "q1": ("dateTime", 0),
    "q7": ("dateTime", 10_000),
    "q8": ("stime", 10_000),
    "q18": ("dateTime", 0),
    "q20": ("bid_dateTime", 0),
}
"""The queries whose rows have a time: its column, and the length of their windows in milliseconds."""
_RATE: Final = 10_000
_STARTS_S: Final = 20
"""So long does a query start: these rows do not count."""
_RESTART_S: Final = 15
"""So long does a query of events run again, from its checkpoint: until it delivers the first row."""
_LEAD_S: Final = 2.0
_TICK_S: Final = 0.02


def main() -> None:
    """Run all queries on all sides; show and save."""
    asked = _asked()
    console, load = Console(), load_before(is_saved=asked.save)
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        write_side_input(Path(directory))
        sides = open_sides(stack, asked.sides, console)
        for side in sides.values():  # no figures: processes start, and compilers see the way of a row
            _latencies(asked.queries[0], side, directory, 0, asked.rate)
        found = {
            query: {name: _latencies(query, side, directory, asked.seconds, asked.rate) for name, side in sides.items()}
            for query in asked.queries
        }
    _show(console, found, asked.sides)
    everything = {**machine_facts(), "flink": FLINK_VERSION, "rate": asked.rate, "seconds": asked.seconds}
    everything |= {"queries": found, "load": load}
    if asked.save:
        RESULTS.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"queries": found, "load": load}))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", nargs="+", choices=tuple(WATCHED), default=list(WATCHED))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--seconds", type=int, default=60, help="of each run that count")
    parser.add_argument("--rate", type=int, default=_RATE, help="events a second")
    parser.add_argument("--save", action="store_true", help="write the result file")
    return parser.parse_args()


def _latencies(query: str, side: WarmSide, directory: str, counted_s: int, rate: int) -> dict[str, Any]:
    """Run a query on a side, with a broker of its own, for so many seconds that count; return its latencies."""
    column, window_ms = WATCHED[query]
    with EmbeddedKafka() as kafka:
        bootstrap, output = kafka.bootstrap_servers, f"{query}-result"
        make_topic(bootstrap, TOPIC, PARTITIONS)
        make_topic(bootstrap, output, 1, {"message.timestamp.type": "LogAppendTime"})
        started_ms = SystemClock().now_us() // 1_000 + int(_LEAD_S * 1_000)
        seconds = _LEAD_S + _STARTS_S + counted_s
        counted_ms = started_ms + _STARTS_S * 1_000
        watch = Watch(
            seconds=seconds,
            column=column,
            window_ms=window_ms,
            counted_from_ms=counted_ms,
            restart_seconds=0 if window_ms else _RESTART_S,
        )
        run = SideRun(
            query=query,
            bootstrap=bootstrap,
            events=0,
            batch_events=rate * 60,
            directory=directory,
            output=output,
            watch=watch,
        )
        events = rate * int(_STARTS_S + counted_s + watch.restart_seconds)
        writer = threading.Thread(target=_write, args=(bootstrap, started_ms, rate, events), daemon=True)
        writer.start()
        answer = side.answer(asdict(run))
        writer.join()
        if answer.get("form") == "debezium":
            answer = _of_topic(bootstrap, output, watch, answer.get("restarted_ms"))
    return answer


def _write(bootstrap: str, started_ms: int, rate: int, events: int) -> None:
    """Write each event at its event time."""
    config, clock, written = GeneratorConfig(rate=rate, base_ms=started_ms), SystemClock(), 0
    part = TopicPart(
        bootstrap=bootstrap,
        topic=TOPIC,
        partitions=PARTITIONS,
        written=tuple(range(PARTITIONS)),
        events=events,
        config=asdict(config),
    )
    pause = threading.Event()
    with EventWriter(part) as writer:
        while written < events:
            due = min(events, (clock.now_us() // 1_000 - started_ms) * rate // 1_000)
            if due > written:
                writer.write(written, due - written)
                written = due
            pause.wait(_TICK_S)


def _of_topic(bootstrap: str, topic: str, watch: Watch, restarted_ms: int | None) -> dict[str, Any]:
    """Return the latencies of the rows in a topic, by the broker's times, and of a restart."""
    deliveries, behind_ms = Deliveries(watch), []
    until_ms = math.inf if restarted_ms is None else restarted_ms
    for messages in topic_messages(bootstrap, topic):
        rows = [(json.loads(each.value()), each.timestamp()[1]) for each in messages]
        behind_ms += [at for _, at in rows if at >= until_ms]
        added = [(row["after"][watch.column], at) for row, at in rows if row["after"] is not None and at < until_ms]
        times = np.array([each for each, _ in added], "datetime64[ms]").astype(np.int64)
        deliveries.add(times, np.array([at for _, at in added], np.int64))
    return deliveries.summary() | restart_of(until_ms, behind_ms)


def _show(console: Console, found: dict[str, dict[str, dict[str, Any]]], sides: list[str]) -> None:
    table = Table("query", *sides, title="latency, p50 / p99 in milliseconds")
    for query, answers in found.items():
        cells = [f"{each['p50_ms']:,} / {each['p99_ms']:,}" if "p50_ms" in each else "-" for each in answers.values()]
        table.add_row(query, *cells)
    console.print(table)
    restarts = Table("query", *sides, title="from the restart to the first row, milliseconds")
    for query, answers in found.items():
        restarts.add_row(
            query, *(f"{each['restart_ms']:,}" if "restart_ms" in each else "-" for each in answers.values())
        )
    console.print(restarts)


if __name__ == "__main__":
    main()
