"""make bench-tpcc: a TPC-C load on MySQL, and what it costs to read its binlog: Tidemark, Flink CDC, Debezium Engine.

    python -m benchmarks.tpcc                       copy, transactions, then all sides in turns
    python -m benchmarks.tpcc --quick               few transactions, one round in young JVMs
    python -m benchmarks.tpcc --transactions 50000 --terminals 8 --warehouses 2 --rounds 1
    python -m benchmarks.tpcc --save                writes results/tpcc.json as well, on an idle machine

A side counts if it read as many rows of each table as the terminals changed; the copies of `tidemark mysql sync` must
have the checksums of their tables. The start of queries and readers is measured too, that of JVMs is not. The last line
is JSON.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import pymysql
from rich.console import Console

from benchmarks.measure import load_before, machine_facts
from benchmarks.mysql.flink_cdc import FLINK_SETTINGS
from benchmarks.mysql.tables import SETTINGS, VERSION
from benchmarks.sides import WarmSide
from benchmarks.tpcc.checksum import checksum_sql
from benchmarks.tpcc.consistency import broken_conditions
from benchmarks.tpcc.loading import load
from benchmarks.tpcc.schema import TABLES, Scale
from benchmarks.tpcc.session import images_of
from benchmarks.tpcc.sides.binlog_read import COPY, SIDES, SYNC, BinlogRead
from benchmarks.tpcc.sides.debezium_side import DEBEZIUM_VERSION
from benchmarks.tpcc.terminals import Terminals
from datasources.embedded import EmbeddedMySql, MySqlAddress
from tests.support.spark.delta_spark import SPARK_VERSION, delta_spark

RESULTS: Final = Path(__file__).parents[1] / "results" / "tpcc.json"
DATABASE: Final = "tpcc"
_QUICK: Final = {"transactions": 2_000, "rounds": 1}
_WARM_UPS: Final = 1
_MODULE: Final = "benchmarks.tpcc.sides.side_main"


def main() -> None:
    """Load, change, then measure; the last line is JSON."""
    asked = _arguments()
    load_average = load_before(is_saved=asked.save)
    console = Console(highlight=False)
    scale = Scale(warehouses=asked.warehouses, customers=asked.customers, items=asked.items)
    with EmbeddedMySql(VERSION, SETTINGS) as server, tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name:
        bench = _Bench(server.administrator, scale, Path(name), console)
        with _open_processes(asked.sides) as processes:
            bench.fill()
            if SYNC in asked.sides:
                bench.copy(processes[SIDES[SYNC]])
            written = bench.write(asked.transactions, asked.terminals)
            rounds = bench.measure(processes, asked.sides, asked.rounds, 0 if asked.quick else _WARM_UPS)
        found = {"writer": written, "sides": _summary(rounds), "load": load_average}
        if asked.save:
            _write({**found, "server": server.title, "scale": asdict(scale), "rounds": rounds})
    print(json.dumps(found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warehouses", type=int, default=1)
    parser.add_argument("--customers", type=int, default=300, help="of each district")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--transactions", type=int, default=20_000)
    parser.add_argument("--terminals", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        vars(asked).update(_QUICK)
    return asked


@contextmanager
def _open_processes(sides: list[str]) -> Iterator[Mapping[str, WarmSide]]:
    """Start the processes of sides; Delta Lake needs a PySpark that it knows."""
    environment = {"tidemark": delta_spark().environment}
    with ExitStack() as stack:
        names = dict.fromkeys(SIDES[side] for side in sides)
        yield {
            name: stack.enter_context(WarmSide(name, module=_MODULE, environment=environment.get(name)))
            for name in names
        }


class _Bench:
    """One run.

    Args:
        login: of the server's administrator.
        scale: of the tables.
        directory: for copies.
        console: shows each figure as soon as it is measured.
    """

    def __init__(self, login: MySqlAddress, scale: Scale, directory: Path, console: Console) -> None:
        self._connect = partial(
            pymysql.connect,
            host=login.host,
            port=login.port,
            user=login.user,
            password=login.password,
            ssl_disabled=True,
        )
        self._scale = scale
        self._directory = directory
        self._console = console
        self._read = BinlogRead(
            side=COPY,
            host=login.host,
            port=login.port,
            user=login.user,
            password=login.password,
            database=DATABASE,
            directory=str(directory),
            lake=str(directory / "first"),
        )
        self._images: dict[str, int] = {}
        self._checksums: dict[str, list[str]] = {}

    def fill(self) -> None:
        """Create the tables with their first rows."""
        begun = time.perf_counter()
        with closing(self._connect()) as connection:
            load(connection, DATABASE, self._scale)
        self._console.print(f"filled {self._scale} in {time.perf_counter() - begun:.1f} s")

    def copy(self, process: WarmSide) -> None:
        """Make the first copy, which each measured one goes on from.

        Raises:
            SystemExit: it differs.
        """
        self._look_at_server()
        self._require(SYNC, process.answer(asdict(self._read)))

    def write(self, transactions: int, terminals: int) -> dict[str, Any]:
        """Run transactions; return how many there were a second, and what they changed.

        Raises:
            SystemExit: the tables are not consistent.
        """
        file, position, _, _, gtids = self._rows("SHOW MASTER STATUS")[0]
        begun = time.perf_counter()
        connect = partial(self._connect, database=DATABASE)
        with Terminals(connect, self._scale, count=terminals, limit=transactions // terminals) as running:
            running.wait()
        seconds = time.perf_counter() - begun
        if broken := broken_conditions(self._rows):
            raise SystemExit(f"the tables are not consistent; nothing was compared: {broken}")
        self._look_at_server()
        self._images = images_of(running.changes)
        changes = running.changes.total()
        self._read = self._read.of(
            file=file,
            position=position,
            gtids=gtids.replace("\n", ""),
            changes=changes,
            images=sum(self._images.values()),
        )
        rate = running.total / seconds
        self._console.print(
            f"{running.total:,} transactions of {terminals} terminals in {seconds:.1f} s: {rate:,.0f} a second; "
            f"{running.rolled_back} rolled back, {running.repeated} repeated; {changes:,} changed rows"
        )
        return {
            "transactions_per_s": round(rate),
            "transactions": dict(running.run),
            "rolled_back": running.rolled_back,
            "repeated": running.repeated,
            "changes": changes,
            "images": self._images,
        }

    def measure(
        self, processes: Mapping[str, WarmSide], sides: list[str], rounds: int, warm_ups: int
    ) -> list[dict[str, Any]]:
        """Return what each side cost in each round, but for those that warm up."""
        found = []
        for number in range(-warm_ups, rounds):
            self._console.print("warming up:" if number < 0 else f"round {number + 1}:")
            order = sides if number % 2 == 0 else sides[::-1]
            costs = {side: self._cost(processes[SIDES[side]], side) for side in order}
            if number >= 0:
                found.append(costs)
        return found

    def _cost(self, process: WarmSide, side: str) -> dict[str, Any]:
        read = self._read.of(side=side)
        if side == SYNC:
            copy = self._directory / "copy"
            shutil.copytree(self._read.lake, copy)
            read = read.of(lake=str(copy))
        result = process.answer(asdict(read))
        if side == SYNC:
            shutil.rmtree(copy)
        if "why" in result:
            self._console.print(f"  {side:16} not measured: {result['why']}")
            return result
        self._require(side, result)
        cost = {
            **{key: value for key, value in result.items() if key not in {"images", "checksums"}},
            "changes_per_s": round(read.changes / result["seconds"]),
            "cpu_us_per_change": round(result["cpu_s"] / read.changes * 1e6, 2),
        }
        self._console.print(
            f"  {side:16} {cost['changes_per_s']:>9,} changes/s, {cost['cpu_us_per_change']:7.2f} us CPU a change"
        )
        return cost

    def _require(self, side: str, result: dict[str, Any]) -> None:
        """End the benchmark unless a side read what the terminals wrote."""
        expected, found = (self._checksums, "checksums") if side == SYNC else (self._images, "images")
        if result[found] != expected:
            raise SystemExit(f"{side} has {result[found]} instead of {expected}; nothing was compared")

    def _look_at_server(self) -> None:
        """Note the checksums of the tables."""
        for table in TABLES.values():
            [sums] = self._rows(checksum_sql(table, table.name))
            self._checksums[table.name] = [str(value) for value in sums]

    def _rows(self, select: str) -> Any:
        with closing(self._connect(database=DATABASE)) as connection, connection.cursor() as cursor:
            cursor.execute(select)
            return cursor.fetchall()


def _summary(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of each side, or why it was not measured."""
    found: dict[str, Any] = {}
    for side in rounds[0]:
        costs = [each[side] for each in rounds]
        why = next((cost for cost in costs if "why" in cost), None)
        found[side] = why or {
            key: statistics.median(cost[key] for cost in costs) for key in ("changes_per_s", "cpu_us_per_change")
        }
    return found


def _write(found: dict[str, Any]) -> None:
    versions = {"spark": SPARK_VERSION, "flink_cdc": FLINK_SETTINGS, "debezium": DEBEZIUM_VERSION}
    RESULTS.write_text(json.dumps({**found, **versions, **machine_facts()}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
