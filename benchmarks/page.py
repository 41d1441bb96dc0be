"""The tables of docs/performance.md and docs/nexmark.md, made from the figures of benchmarks/results/; `make plots`.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. A test asserts that the pages hold the figures of the
result files, so that no figure there is older than its measurement.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.nexmark.sides.side_run import FLINK_ROCKSDB
from benchmarks.sides import FLINK, PEER, PYTHON_SOURCE, TIDEMARK, TIDEMARK_SQL

__all__ = ["PAGES", "fill", "filled"]

RESULTS: Final = Path(__file__).parent / "results"
PAGES: Final = tuple(Path(__file__).parents[1] / "docs" / name for name in ("performance.md", "nexmark.md"))
_BLOCK: Final = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_TITLES: Final = {
    TIDEMARK: "Tidemark, DataFrame",
    TIDEMARK_SQL: "Tidemark, SQL",
    PEER: "spark-sql-kafka, DataFrame",
    FLINK: "Flink, SQL",
}
_PEERS: Final = {FLINK: "Flink, heap", FLINK_ROCKSDB: "Flink, RocksDB", PEER: "spark-sql-kafka"}
"""Beside Tidemark in Nexmark's tables."""
_RATIOS: Final = {
    "ratio": (TIDEMARK, PEER),
    "sql_ratio": (TIDEMARK_SQL, PEER),
    "ratio_to_flink": (TIDEMARK, FLINK),
    "sql_ratio_to_flink": (TIDEMARK_SQL, FLINK),
}


def fill() -> None:
    """Write the tables into the pages."""
    for page in PAGES:
        page.write_text(filled(page.read_text()))


def filled(page: str) -> str:
    """Return a page with its tables made anew.

    Raises:
        KeyError: it asks for a table that is not made here, or for figures that no result file has.
    """
    return _BLOCK.sub(lambda block: block[1] + _TABLES[block[2]]() + block[3], page)


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _headline() -> str:
    window, raw = _read("kafka_window"), _read("kafka_raw")
    rows = []
    for side in window["cpu_us_per_record"]:
        cells = [cell for found in (window, raw) for cell in _cost(found, side)]
        rows.append([_TITLES[side], *cells])
    return _table(["", "windowed count", "records/s", "raw values", "records/s"], rows)


def _cost(found: dict[str, Any], side: str) -> tuple[str, str]:
    if side not in found["cpu_us_per_record"]:
        return "", ""
    speed = statistics.median(each[side]["rows_per_s"] for each in found["rounds"])
    return f"{found['cpu_us_per_record'][side]:.2f} us", f"{speed:,.0f}"


def _ratios() -> str:
    window, raw = _read("kafka_window"), _read("kafka_raw")
    rows = [
        [
            f"{what}: {_TITLES[ours]} to {_TITLES[other]}",
            f"{found[name]:.2f}",
            *map("{:.2f}".format, found[f"{name}_spread"]),
        ]
        for what, found in (("windowed count", window), ("raw values", raw))
        for name, (ours, other) in _RATIOS.items()
        if name in found
    ]
    return _table(["CPU per record", "median of the rounds", "lowest", "highest"], rows)


def _shapes() -> str:
    return _counted(_read("kafka_shapes")["shapes"])


def _format_queries() -> str:
    return _counted(_read("kafka_formats")["formats"])


def _counted(shapes: Mapping[str, Any]) -> str:
    rows = []
    for shape, found in shapes.items():
        measured = found["cpu_us_per_record"]
        costs = [f"{measured[side]:.2f} us" if side in measured else "" for side in _TITLES]
        ratios = (f"{found[name]:.2f}" if name in found else "" for name in ("sql_ratio", "sql_ratio_to_flink"))
        rows.append([shape, *costs, *ratios])
    return _table(["", *_TITLES.values(), "SQL to spark-sql-kafka", "SQL to Flink"], rows)


def _formats() -> str:
    found = _read("format_decode")
    rows = [
        [way, f"{cost:,} ns", f"{found['ratio_to_json'][way]:.2f}"] for way, cost in found["cpu_ns_per_record"].items()
    ]
    return _table(["from bytes to columns", "CPU of a record", "ratio to JSON"], rows)


def _fetch() -> str:
    found = _read("kafka_fetch")
    titles = {"columns": "values, offsets, timestamps as Arrow columns", "json": "four typed columns of JSON"}
    rows = []
    for name, title in titles.items():
        cost = found[name]["cpu_us_per_record"]
        rows.append([title, f"{cost['native']:.2f} us", f"{cost['messages']:.2f} us", f"{found[name]['ratio']:.2f}"])
    return _table(["from the broker to", "through C", "through messages", "ratio"], rows)


def _latency() -> str:
    found = {each["side"]: each for each in _read("kafka_scaling")["latency"]}
    lines: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
        ("a batch of 1,000 records, median of 30", lambda each: f"{each['small_batch_ms']:,} ms"),
        ("CPU of it, all processes", lambda each: f"{each['small_batch_cpu_ms'] / 1_000:.2f} s"),
        ("the first commit of a query in a new JVM", lambda each: f"{each['first_commit_s']:.1f} s"),
        ("the first commit after a restart in a warm JVM", lambda each: f"{each['restart_first_commit_s']:.1f} s"),
        ("1,000,000 records that waited, until none is left", lambda each: f"{each['catch_up_s']:.1f} s"),
    )
    titles = {TIDEMARK: "Tidemark", PEER: "spark-sql-kafka", PYTHON_SOURCE: "numbers from a Python source"}
    sides = {title: side for side, title in titles.items() if side in found}
    rows = [[title, *(cell(found[side]) for side in sides.values())] for title, cell in lines]
    return _table(["", *sides], rows)


def _scaling() -> str:
    found = _read("kafka_scaling")
    rows = [
        _point(f"{_count(p['partitions'], 'partition')}, {_count(p['slots'], 'slot')}", p) for p in found["partitions"]
    ]
    rows += [_point(f"records of {round(p['record_bytes']):,} bytes", p) for p in found["records"]]
    rows += [_point(f"compression: {p['codec']}", p) for p in found["compression"]]
    rows += [_point(f"one partition, {_count(p['tasks'], 'task')}", p) for p in found.get("tasks", ())]
    rows += [_point(f"a topic of {p['rows']:,} records", p) for p in found["lengths"]]
    return _table(["", "Tidemark", "three passes", "records/s", "spark-sql-kafka", "records/s", "ratio"], rows)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''}"


def _point(title: str, point: dict[str, Any]) -> list[str]:
    ours, other = point[TIDEMARK], point.get(PEER)
    low, high = ours["spread"]
    cells = [f"{ours['cpu_us_per_record']:.2f} us", f"{low:.2f} to {high:.2f}", f"{ours['rows_per_s']:,}"]
    if other is None:
        return [title, *cells, "", "", ""]
    return [title, *cells, f"{other['cpu_us_per_record']:.2f} us", f"{other['rows_per_s']:,}", f"{point['ratio']:.2f}"]


def _memory() -> str:
    rows = [
        [str(p["partitions"]), f"{round(p['record_bytes']):,}", f"{p['peak_worker_mb']} MB", f"{p['peak_jvm_mb']:,} MB"]
        for p in _read("kafka_scaling")["memory"]
    ]
    return _table(["partitions", "bytes of a record", "largest Python process", "JVM (-Xmx2g)"], rows)


def _empty() -> str:
    rows = [
        [f"{p['partitions']:,}", f"{p['cpu_ms']:.1f} ms", f"{p['offset_bytes']:,}"]
        for p in _read("kafka_scaling")["empty_triggers"]
    ]
    return _table(["partitions", "CPU of an empty trigger", "bytes of the offset"], rows)


def _loads() -> str:
    loads = _read("kafka_scaling")["loads"]
    return f"(Load before each part began: {', '.join(f'{name} {load}' for name, load in loads.items())}.)\n"


def _changelog() -> str:
    found = _read("changelog")
    titles = {
        "aggregate": "COUNT, SUM, MAX per key, 1,000,000 keys, 4,000,000 rows",
        "top_3": "the first three rows of each of 100,000 keys, 4,000,000 rows",
        "join": "LEFT JOIN of two tables of 1,000,000 rows",
        "plain": "the rows alone",
    }
    sides = ("tidemark", "flink", "flink_rocksdb")
    rows = []
    for query, title in titles.items():
        costs = [f"{found[side]['queries'][query]['cpu_us_per_row']:.2f} us" for side in sides]
        ratios = [f"{found['cpu_ratio'][side][query]:.2f}" for side in sides[1:]]
        rows.append([title, costs[0], costs[1], ratios[0], costs[2], ratios[1]])
    return _table(["", "Tidemark", "Flink, heap", "ratio", "Flink, RocksDB", "ratio"], rows)


def _mysql_delta() -> str:
    rows = []
    for work, sides in _read("mysql_delta")["work"].items():
        ours, theirs = sides["tidemark"], sides["spark_jdbc"]
        rates = [f"{side['rows_per_s']:,} rows/s, {side['cpu_us_per_row']:,.0f} us" for side in (ours, theirs)]
        rows.append([f"{work}: {ours['rows']:,} rows", *rates, f"{sides['cpu_ratio']:.2f}"])
    return _table(["", "Tidemark", "Spark JDBC", "ratio of CPU"], rows)


def _nexmark() -> str:
    found = _read("nexmark")["queries"]
    rows = [[name, *_nexmark_cells(each["sides"])] for name, each in found.items()]
    head = ["", "Tidemark", *(cell for title in _PEERS.values() for cell in (title, "ratio"))]
    return _table(head, [*rows, ["sum of both", "", *_nexmark_sums(found)]])


def _nexmark_cells(sides: Mapping[str, Any]) -> list[str]:
    ours = sides[TIDEMARK]["cpu_us_per_event"]
    cells = [f"{ours:.2f} us"]
    for side in _PEERS:
        cost = sides.get(side, {}).get("cpu_us_per_event")
        cells += ["", ""] if cost is None else [f"{cost:.2f} us", f"{ours / cost:.2f}"]
    return cells


def _nexmark_sums(found: Mapping[str, Any]) -> list[str]:
    """Return the cost of each peer over the queries that it runs, and the ratio of ours over the same ones."""
    cells = []
    for side in _PEERS:
        both = [each["sides"] for each in found.values() if side in each["sides"]]
        ours, theirs = (sum(each[name]["cpu_us_per_event"] for each in both) for name in (TIDEMARK, side))
        cells += [f"{theirs:.1f} us", f"{ours / theirs:.2f}"]
    return cells


def _nexmark_work() -> str:
    rows = []
    for name, each in _read("nexmark")["queries"].items():
        figures = [each["sides"].get(side) for side in (TIDEMARK, *_PEERS)]
        speeds = ["" if one is None else f"{one['events_per_s'] / 1_000:,.0f}" for one in figures]
        memory = ["" if one is None else f"{one['peak_jvm_mb'] + (one['peak_worker_mb'] or 0):,}" for one in figures]
        rows.append([name, *speeds, *memory])
    titles = ["Tidemark", *_PEERS.values()]
    return _table(["", *(f"{t}, 1,000 events/s" for t in titles), *(f"{t}, MB" for t in titles)], rows)


def _nexmark_cores() -> str:
    rows = []
    for name, each in _read("nexmark")["queries"].items():
        figures = (each["sides"].get(side) for side in (TIDEMARK, *_PEERS))
        rows.append([name, *("" if one is None else f"{one['cores_x_time_s']:.1f}" for one in figures)])
    return _table(["Cores x Time, s", "Tidemark", *_PEERS.values()], rows)


def _nexmark_state() -> str:
    rows = []
    for name, each in _read("nexmark")["queries"].items():
        sizes = [each["sides"].get(side, {}).get("state_mb") for side in (TIDEMARK, FLINK_ROCKSDB, PEER)]
        if any(sizes):
            rows.append([name, *("" if size is None else f"{size:,}" for size in sizes)])
    return _table(["state, MB", "Tidemark", _PEERS[FLINK_ROCKSDB], _PEERS[PEER]], rows)


def _nexmark_latency() -> str:
    rows = []
    for name, sides in _read("nexmark_latency")["queries"].items():
        figures = (sides.get(side, {}) for side in (TIDEMARK, *_PEERS))
        rows.append([name, *(f"{f['p50_ms']:,} / {f['p99_ms']:,}" if "p50_ms" in f else "" for f in figures)])
    return _table(["p50 / p99, ms", "Tidemark", *_PEERS.values()], rows)


def _nexmark_restart() -> str:
    rows = []
    for name, sides in _read("nexmark_latency")["queries"].items():
        figures = [sides.get(side, {}).get("restart_ms") for side in (TIDEMARK, *_PEERS)]
        if any(figures):
            rows.append([name, *("" if each is None else f"{each:,}" for each in figures)])
    return _table(["ms to the first row", "Tidemark", *_PEERS.values()], rows)


_TABLES: Final = {
    "headline": _headline,
    "ratios": _ratios,
    "shapes": _shapes,
    "formats": _formats,
    "format_queries": _format_queries,
    "fetch": _fetch,
    "latency": _latency,
    "empty": _empty,
    "scaling": _scaling,
    "memory": _memory,
    "loads": _loads,
    "changelog": _changelog,
    "mysql_delta": _mysql_delta,
    "nexmark": _nexmark,
    "nexmark_work": _nexmark_work,
    "nexmark_cores": _nexmark_cores,
    "nexmark_state": _nexmark_state,
    "nexmark_latency": _nexmark_latency,
    "nexmark_restart": _nexmark_restart,
}
