"""Draws the figures of benchmarks/results/ for the pages that show them, and fills their tables in; `make plots`.

Colours belong to sides and are those of a palette that colour-blind readers distinguish.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

from benchmarks.nexmark.sides.side_run import FLINK_ROCKSDB
from benchmarks.page import fill
from benchmarks.sides import FLINK, PEER, TIDEMARK, TIDEMARK_SQL

RESULTS: Final = Path(__file__).parent / "results"
IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
COLOURS: Final = {
    TIDEMARK: "#0072B2",
    TIDEMARK_SQL: "#56B4E9",
    PEER: "#E69F00",
    FLINK: "#999999",
    FLINK_ROCKSDB: "#555555",
}
_STYLE: Final = {
    "svg.hashsalt": "tidemark",  # the same figures give the same file
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
}


def main() -> None:
    """Draw all plots; fill in the tables."""
    IMAGES.mkdir(exist_ok=True)
    with plt.rc_context(_STYLE):
        _save(_headline(), "cpu_per_record")
        _save(_scaling(_read("kafka_scaling")), "scaling")
        _save(_nexmark(_read("nexmark")["queries"]), "nexmark")
    fill()


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def _save(figure: Any, name: str) -> None:
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def _headline() -> Any:
    """CPU per record: every round as a point, the median as a bar."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3), width_ratios=(2, 1), layout="constrained")
    titles = {"kafka_window": "windowed count of JSON orders", "kafka_raw": "raw values"}
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        found = _read(name)
        for place, (side, cost) in enumerate(found["cpu_us_per_record"].items()):
            axis.bar(place, cost, color=COLOURS[side], width=0.6)
            rounds = [each[side]["cpu_us_per_record"] for each in found["rounds"]]
            axis.plot([place] * len(rounds), rounds, "k.", markersize=4)
            axis.annotate(f"{cost:.2f}", (place + 0.33, cost), va="center")
        axis.set_xticks(range(len(found["cpu_us_per_record"])), list(found["cpu_us_per_record"]))
        axis.set_xlim(-0.5, len(found["cpu_us_per_record"]) - 0.2)
        axis.set_title(title)
    axes[0].set_ylabel("µs of CPU per record")
    return figure


def _nexmark(found: dict[str, Any]) -> Any:
    """CPU per event of each query and side; medians."""
    figure, axis = plt.subplots(figsize=(10, 3.5), layout="constrained")
    for number, side in enumerate((TIDEMARK, FLINK, FLINK_ROCKSDB, PEER)):
        places = [place + 0.2 * (number - 1.5) for place, each in enumerate(found.values()) if side in each["sides"]]
        costs = [each["sides"][side]["cpu_us_per_event"] for each in found.values() if side in each["sides"]]
        axis.bar(places, costs, 0.2, color=COLOURS[side], label=side)
    axis.set_xticks(range(len(found)), list(found))
    axis.set_ylabel("µs of CPU per event")
    axis.set_title("Nexmark")
    axis.legend(frameon=False)
    return figure


def _scaling(found: dict[str, Any]) -> Any:
    """CPU per record at every point: medians, and the spread of the passes."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
    _partitions(axes[0][0], found["partitions"])
    _length(axes[0][1], found["lengths"])
    _bars(axes[1][0], found["records"], [f"{round(p['record_bytes']):,}" for p in found["records"]])
    axes[1][0].set_title("by record size")
    axes[1][0].set_xlabel("bytes of a record")
    axes[1][0].set_yscale("log")
    axes[1][0].set_ylim(bottom=1)
    axes[1][0].legend(frameon=False)
    _bars(axes[1][1], found["compression"], [p["codec"] for p in found["compression"]])
    axes[1][1].set_title("by compression")
    for axis in (axes[0][0], axes[1][0]):
        axis.set_ylabel("µs of CPU per record")
    return figure


def _costs(points: list[dict[str, Any]], side: str) -> tuple[list[float], list[list[float]]]:
    """Medians, and how far the passes went below and above them."""
    costs = [p[side]["cpu_us_per_record"] for p in points]
    lows, highs = zip(*(p[side]["spread"] for p in points), strict=True)
    below = [cost - low for cost, low in zip(costs, lows, strict=True)]
    return costs, [below, [high - cost for cost, high in zip(costs, highs, strict=True)]]


def _partitions(axis: Any, points: list[dict[str, Any]]) -> None:
    for slots, style in ((2, "o-"), (1, "s")):
        mine = [p for p in points if p["slots"] == slots]
        costs, spread = _costs(mine, TIDEMARK)
        places = [p["partitions"] * (1.1 if slots == 1 else 1) for p in mine]  # beside each other
        label = f"{slots} slot{'s' if slots > 1 else ''}"
        axis.errorbar(places, costs, spread, fmt=style, color=COLOURS[TIDEMARK], label=label, capsize=2)
    axis.set_xscale("log", base=2)
    counts = sorted({p["partitions"] for p in points})
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.set_ylim(0, 1.1 * axis.get_ylim()[1])
    axis.set_title("by partitions")
    axis.legend(frameon=False, loc="lower left")


def _length(axis: Any, points: list[dict[str, Any]]) -> None:
    lengths = [p["rows"] / 1e6 for p in points]
    axis.errorbar(lengths, *_costs(points, TIDEMARK), fmt="o-", color=COLOURS[TIDEMARK], capsize=2)
    axis.set_ylim(0, 1.1 * axis.get_ylim()[1])
    axis.set_title("by length of the topic")
    axis.set_xlabel("million records")


def _bars(axis: Any, points: list[dict[str, Any]], names: list[str]) -> None:
    for shift, side in ((-0.2, TIDEMARK), (0.2, PEER)):
        places = [place + shift for place in range(len(points))]
        costs, spread = _costs(points, side)
        axis.bar(places, costs, 0.4, yerr=spread, capsize=2, color=COLOURS[side], label=side)
    axis.set_xticks(range(len(points)), names)


if __name__ == "__main__":
    main()
