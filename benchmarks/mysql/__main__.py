"""make bench-mysql: a snapshot of eight million rows and two binlogs, beside Spark JDBC, connectorx and Flink CDC.

One server, one Spark session, the same two tasks at a time for each side, alternating; sinks that take everything and
do nothing. Before anything is timed all sides read the table once and must agree on what it holds. Writes
benchmarks/results/mysql.json; the last line is JSON. It takes ten minutes.

    python -m benchmarks.mysql [--quick]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyspark
from py4j.protocol import Py4JError
from rich.console import Console

from benchmarks.flink import cause_of, open_flink
from benchmarks.measure import UsageSampler, jvm_of_this_process, load_average, machine_facts
from benchmarks.mysql.connectorx_side import CONNECTORX_SETTINGS, connectorx_reader
from benchmarks.mysql.flink_cdc import FLINK_SETTINGS, FlinkCdc, fetch_flink
from benchmarks.mysql.plan import plan_chunks
from benchmarks.mysql.sides import (
    JDBC_SETTINGS,
    Ran,
    Sides,
    fetch_connector_j,
    read_all,
    read_batch,
    session,
    sums_of,
    sums_of_stream,
)
from benchmarks.mysql.tables import Changes, open_server
from datasources.embedded import MySqlAddress
from datasources.errors import EnvironmentProblem

__all__ = ["main"]

RESULTS: Final = Path(__file__).parents[1] / "results" / "mysql.json"
ROWS: Final = 8_000_000
BULK_ROWS: Final = 1_000_000
SINGLE_ROWS: Final = 200_000
ROUNDS: Final = 3
FLINK_ROUNDS: Final = 1
PEERS: Final = {"spark_jdbc": JDBC_SETTINGS, "connectorx": CONNECTORX_SETTINGS, "flink_cdc": FLINK_SETTINGS}
_QUICK_DIVISOR: Final = 10
_COLUMNS: Final = 110
_SIDES: Final = ("snapshot", "spark_jdbc", "connectorx", "flink_cdc", "binlog_bulk", "binlog_single")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is read: a table and how many rows it has, two binlogs, and how often."""

    table: str
    rows: int
    bulk: Changes
    single: Changes
    rounds: int


class _Found:
    """What was measured, rows a second.

    Args:
        console: shows each figure as soon as it is measured.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self.rates: dict[str, list[float]] = {}

    def add(self, name: str, ran: Ran, rows: int) -> None:
        """Note one reading.

        Raises:
            SystemExit: it read another number of rows.
        """
        if ran.rows != rows:
            raise SystemExit(f"{name} read {ran.rows:,} rows instead of {rows:,}; nothing was compared")
        rate = rows / ran.seconds
        self.rates.setdefault(name, []).append(rate)
        self._console.print(f"  {name:14} {rows:>9,} rows in {ran.seconds:6.2f} s: {rate:>9,.0f} rows/s")

    def median(self, name: str) -> int | None:
        """Return the median of a side; None if it did not run."""
        rates = self.rates.get(name)
        return None if rates is None else round(statistics.median(rates))


def main(arguments: Sequence[str]) -> None:
    """Run everything and show it."""
    is_quick = "--quick" in arguments
    divisor, rounds = (_QUICK_DIVISOR, 1) if is_quick else (1, ROUNDS)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _COLUMNS)
    load = load_average()
    connector = fetch_connector_j(console.print)
    flink, missing = _flink_jars(console)
    found = _Found(console)
    with open_server() as server, tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name:
        rows = ROWS // divisor
        console.print(f"{server.title}, {rows:,} rows of 6 columns, load before the run {load}")
        work = _Work(
            table=server.fill(rows),
            rows=rows,
            bulk=server.bulk(BULK_ROWS // divisor),
            single=server.single(SINGLE_ROWS // divisor),
            rounds=rounds,
        )
        peak_mb = _spark_sides(server.login, work, connector, found)
        if flink:
            missing = _flink_side(server.login, work, (*flink, *connector), Path(name) / "flink.log", found)
        plan = plan_chunks(server, work.table, chunk_rows=2)
    summary = {
        **{f"{side}_rows_s": found.median(side) for side in _SIDES},
        "peak_mb": round(peak_mb),
        "load": load,
    }
    console.print(
        f"planning {plan.chunks:,} chunks: {plan.plan_ms} ms a batch (99 of 100 below {plan.worst_plan_ms} ms), state "
        f"of at most {plan.offset_bytes:,} bytes"
    )
    if not is_quick:
        facts = {"server": server.title, "rows": rows, "flink_cdc_missing": missing, "planning": asdict(plan)}
        _write({**summary, **facts}, found)
    print(json.dumps(summary))


def _spark_sides(login: MySqlAddress, work: _Work, connector: Sequence[Path], found: _Found) -> float:
    """Measure what runs in Spark; return the largest resident size of a Python worker, MB."""
    with session(connector) as spark:
        sides = Sides(spark, login)
        _require_equal(sides, work)
        snapshots: dict[str, Callable[[], Ran]] = {
            "snapshot": lambda: read_all(sides.snapshot(work.table)),
            "batch": lambda: read_batch(sides.ours(work.table), work.rows),
            "spark_jdbc": lambda: read_batch(sides.jdbc(work.table, work.rows), work.rows),
        }
        if connectorx := connectorx_reader(login, work.table, work.rows):
            snapshots["connectorx"] = connectorx
        binlogs: dict[str, Callable[[], Ran]] = {
            "binlog_bulk": lambda: _of_changes(sides, work.bulk),
            "binlog_single": lambda: _of_changes(sides, work.single),
        }
        for read in (*snapshots.values(), *binlogs.values()):
            read()  # the JVM compiles what it has seen a few times
        with UsageSampler(jvm_of_this_process()) as sampler:
            for number in range(work.rounds):
                names = [*snapshots] if number % 2 == 0 else [*reversed(snapshots)]
                for name in names:
                    found.add(name, snapshots[name](), work.rows)
                for name, changes in (("binlog_bulk", work.bulk), ("binlog_single", work.single)):
                    found.add(name, binlogs[name](), changes.rows)
    return sampler.peak_worker_mb


def _of_changes(sides: Sides, changes: Changes) -> Ran:
    ran = read_all(sides.changes(changes))
    if ran.rows != changes.images:
        raise SystemExit(f"the binlog of {changes.table} gave {ran.rows:,} rows, and {changes.images:,} were changed")
    return Ran(rows=changes.rows, seconds=ran.seconds)


def _require_equal(sides: Sides, work: _Work) -> None:
    read = {"spark_jdbc": sides.jdbc(work.table, work.rows), "batch": sides.ours(work.table)}
    sums = {name: sums_of(df) for name, df in read.items()}
    sums["snapshot"] = sums_of_stream(sides.snapshot(work.table))
    if len(set(sums.values())) != 1 or sums["batch"][0] != work.rows:
        raise SystemExit(f"the sides read different rows; nothing was compared: {sums}")


def _flink_jars(console: Console) -> tuple[tuple[Path, ...], str | None]:
    try:
        return fetch_flink(console.print), None
    except EnvironmentProblem as problem:
        console.print(f"no Flink CDC: {problem.message}")
        return (), problem.message.splitlines()[0]


def _flink_side(login: MySqlAddress, work: _Work, jars: Sequence[Path], log: Path, found: _Found) -> str | None:
    """Measure Flink CDC; return why not, if it failed."""
    try:
        with open_flink(jars, FLINK_SETTINGS, log) as jvm:
            flink = FlinkCdc(jvm, login)
            if (rows := flink.count(work.table)) != work.rows:
                raise SystemExit(f"Flink CDC read {rows:,} rows instead of {work.rows:,}; nothing was compared")
            for _ in range(FLINK_ROUNDS):
                found.add("flink_cdc", flink.read(work.table, work.rows), work.rows)
    except Py4JError as error:
        return f"Flink CDC failed: {cause_of(error)}"
    return None


def _write(facts: dict[str, Any], found: _Found) -> None:
    document = {
        **facts,
        "rows_s": {name: [round(rate) for rate in rates] for name, rates in found.rates.items()},
        "peers": PEERS,
        "spark": pyspark.__version__,
        **machine_facts(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
