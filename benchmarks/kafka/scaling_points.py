"""The points at which the cost of a record is measured: partitions, slots, sizes, compression, the topic's length.

Sides stay in warm JVMs and alternate point by point; the first pass over all points warms up and counts for nothing.
What two figures share, the topic of four partitions that every other differs from in one thing, is measured once.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console

from benchmarks.orders.json_orders import sized_name
from benchmarks.sides import PEER, TIDEMARK, WarmSide, Workload, produce

__all__ = ["FEW", "FIGURES", "Topics", "measure"]

FEW: Final = 4
ROWS: Final = 4_000_000
BATCHES: Final = 4
PARTITIONS: Final = (1, FEW, 16, 64, 1_000)
RECORDS: Final = ((0, ROWS), (1_024, 1_000_000), (10_240, 200_000))
"""About how large a record is, 0 = as in `make bench`, and how many of them there are."""
CODECS: Final = ("none", "lz4", "zstd")
TASKS: Final = (1, 2, 4)
"""Among how many tasks the range of one partition is split (`minPartitions`)."""
LENGTHS: Final = (ROWS // 2, ROWS, ROWS * 4)
ROUNDS: Final = 3


class Topics:
    """Topics of orders on one broker, each filled once."""

    def __init__(self, console: Console, bootstrap: str) -> None:
        self._console = console
        self._bootstrap = bootstrap
        self._sizes: dict[str, float] = {}

    def filled(self, *, partitions: int = FEW, rows: int = ROWS, record_bytes: int = 0, codec: str = "none") -> str:
        """Return the name of the topic that holds these orders."""
        of: dict[str, Any] = {"partitions": partitions, "rows": rows}
        of |= {"record_bytes": record_bytes, "compression": codec}
        name = sized_name(**of)
        if name not in self._sizes:
            _, self._sizes[name] = produce(self._bootstrap, **of)
            self._console.print(f"  {name}: {rows:,} records of {self._sizes[name]:,} bytes")
        return name

    def record_bytes(self, name: str) -> float:
        """Return the mean size of a topic's records."""
        return self._sizes[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """What is measured for a figure, and by which sides."""

    figure: str
    facts: dict[str, Any]
    work: Workload
    sides: tuple[str, ...]


def measure(
    console: Console, topics: Topics, work: Workload, figures: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Measure every point of some figures; return the medians by figure.

    Args:
        console: prints each run.
        topics: filled as needed.
        work: the broker and the peer's jars.
        figures: any of `FIGURES`.

    Raises:
        SystemExit: a side failed, or two counted differently.
    """
    points = [point for figure in figures for point in _POINTS[figure](topics, work)]
    console.print("a pass to warm up")
    with ExitStack() as stack:
        warm: dict[tuple[str, int], WarmSide] = {}
        for point in points:
            for side in point.sides:
                key = (side, point.work.slots)
                if key not in warm:
                    warm[key] = stack.enter_context(WarmSide(side, slots=point.work.slots, jars=work.jars))
        _round(points, warm)
        rounds = [_round(points, warm, console) for _ in range(ROUNDS)]
    return {figure: [_medians(each, rounds) for each in points if each.figure == figure] for figure in figures}


def _on(work: Workload, topic: str, rows: int = ROWS, slots: int = 2) -> Workload:
    return work.of(topic=topic, batch_rows=rows // BATCHES, slots=slots)


def _partitions(topics: Topics, work: Workload) -> Iterable[_Point]:
    for partitions in PARTITIONS:
        for slots in (1, 2) if partitions == FEW else (2,):
            facts = {"partitions": partitions, "slots": slots}
            at = _on(work, topics.filled(partitions=partitions), slots=slots)
            yield _Point(figure="partitions", facts=facts, work=at, sides=(TIDEMARK,))


def _records(topics: Topics, work: Workload) -> Iterable[_Point]:
    for size, rows in RECORDS:
        topic = topics.filled(rows=rows, record_bytes=size)
        facts = {"record_bytes": topics.record_bytes(topic), "rows": rows}
        yield _Point(figure="records", facts=facts, work=_on(work, topic, rows), sides=(TIDEMARK, PEER))


def _compression(topics: Topics, work: Workload) -> Iterable[_Point]:
    for codec in CODECS:
        at = _on(work, topics.filled(codec=codec))
        yield _Point(figure="compression", facts={"codec": codec}, work=at, sides=(TIDEMARK, PEER))


def _tasks(topics: Topics, work: Workload) -> Iterable[_Point]:
    topic = topics.filled(partitions=1)
    for tasks in TASKS:
        at = _on(work, topic).of(min_partitions=tasks)
        yield _Point(figure="tasks", facts={"tasks": tasks}, work=at, sides=(TIDEMARK, PEER))


def _lengths(topics: Topics, work: Workload) -> Iterable[_Point]:
    for rows in LENGTHS:
        at = _on(work, topics.filled(rows=rows))  # batches of one size
        yield _Point(figure="lengths", facts={"rows": rows}, work=at, sides=(TIDEMARK,))


_POINTS: Final[dict[str, Callable[[Topics, Workload], Iterable[_Point]]]] = {
    "partitions": _partitions,
    "records": _records,
    "compression": _compression,
    "tasks": _tasks,
    "lengths": _lengths,
}
"""The points of each figure; their topics are filled on the way."""
FIGURES: Final = tuple(_POINTS)


def _round(
    points: list[_Point], warm: dict[tuple[str, int], WarmSide], console: Console | None = None
) -> dict[tuple[str, Workload], dict[str, Any]]:
    """Run each side of each point once; sides of a point one after the other, under the same conditions."""
    found: dict[tuple[str, Workload], dict[str, Any]] = {}
    for point in points:
        for side in point.sides:
            if (side, point.work) in found:
                continue
            found[side, point.work] = result = warm[side, point.work.slots].run(point.work)
            if console is not None:
                cost = f"{result['cpu_us_per_record']:.2f} us CPU/record, {result['rows_per_s']:,.0f} rows/s"
                console.print(f"  {point.figure} {point.facts} {side}: {cost}")
        counts = [found[side, point.work]["counts"] for side in point.sides]
        if any(each != counts[0] for each in counts):
            raise SystemExit(f"{point.facts}: the sides counted differently; nothing was compared")
    return found


def _medians(point: _Point, rounds: list[dict[tuple[str, Workload], dict[str, Any]]]) -> dict[str, Any]:
    """Return a point with the medians of its sides, and of the ratios of its rounds."""
    found = dict(point.facts)
    for side in point.sides:
        runs = [each[side, point.work] for each in rounds]
        costs = [run["cpu_us_per_record"] for run in runs]
        found[side] = {
            "cpu_us_per_record": round(statistics.median(costs), 3),
            "spread": [round(min(costs), 3), round(max(costs), 3)],
            "rows_per_s": round(statistics.median(run["rows_per_s"] for run in runs)),
        }
    if len(point.sides) > 1:
        ratios = [
            each[TIDEMARK, point.work]["cpu_us_per_record"] / each[PEER, point.work]["cpu_us_per_record"]
            for each in rounds
        ]
        found["ratio"] = round(statistics.median(ratios), 3)
    return found
