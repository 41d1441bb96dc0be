"""Both sides of `make bench-mysql-delta`: copies of a table in Delta Lake, first whole, then after changes.

Ours is what `tidemark mysql sync --once` does, its queries' start and planning included. The peer reads the table by
Spark's JDBC source in two parts; for changes it reads all of it again, as the table alone does not say what changed,
and a MERGE updates what differs, inserts what is new and deletes what is gone. After each measurement both copies must
be equal to the table. CPU is that of Spark, its workers and this process; the server's is not counted.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil
from pyspark.sql import DataFrame, SparkSession

from benchmarks.measure import cpu_seconds, jvm_of_this_process
from benchmarks.mysql.sides import Sides, fetch_connector_j, session, sums_of
from benchmarks.mysql.tables import COLUMNS, DATABASE, BenchServer, login_options, open_server
from datasources.sync.database_sync import DatabaseSync
from datasources.sync.sync_request import SyncRequest

ROWS: Final = 1_000_000
ROUNDS: Final = 3
_QUICK_DIVISOR: Final = 10
_TABLE: Final = "orders"
_SETTINGS: Final = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "4"}
"""As `tidemark mysql sync` sets them on two cores; the peer has them too."""
_SHARES: Final = {"changes of 1 %": 100, "changes of 50 %": 2}
"""What changes after the first copy: one row of so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cost:
    """What a copy cost; CPU is in seconds too."""

    rows: int
    seconds: float
    cpu: float


class _Copies:
    """The copies of one round.

    Args:
        spark: the session.
        server: has the table.
        directory: for the copies.
        rows: how many the table has at first.
    """

    def __init__(self, spark: SparkSession, server: BenchServer, directory: Path, rows: int) -> None:
        self._spark = spark
        self._sides = Sides(spark, server.login)
        self._rows = rows
        self._theirs = str(directory / "theirs")
        self._request = SyncRequest(
            source_options=login_options(server.login),
            database=DATABASE,
            tables=_TABLE,
            directory=str(directory / "ours"),
            is_once=True,
            restarts=0,
        )

    def ours(self) -> None:
        """Copy what there is, or what is new."""
        DatabaseSync(self._spark, self._request, lambda _: None).run(threading.Event())

    def first_of_theirs(self) -> None:
        """Copy the whole table."""
        self._read().write.format("delta").save(self._theirs)

    def next_of_theirs(self) -> None:
        """Bring the copy up to date."""
        self._read().createOrReplaceTempView("now_there")
        differs = " OR ".join(f"copy.{name} IS DISTINCT FROM now_there.{name}" for name in COLUMNS[1:])
        self._spark.sql(
            f"MERGE INTO delta.`{self._theirs}` AS copy USING now_there ON copy.id = now_there.id "
            f"WHEN MATCHED AND ({differs}) THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * "
            "WHEN NOT MATCHED BY SOURCE THEN DELETE"
        )

    def require_equal(self) -> None:
        """End the benchmark unless both copies are equal to the table."""
        copies = (self._request.copy_of(_TABLE), self._theirs)
        sums = {path: sums_of(self._spark.read.format("delta").load(path)) for path in copies}
        sums["the table"] = sums_of(self._read())
        if len(set(sums.values())) != 1:
            raise SystemExit(f"the copies differ; nothing was compared: {sums}")

    def _read(self) -> DataFrame:
        return self._sides.jdbc(_TABLE, self._rows)


def main(arguments: Sequence[str]) -> None:
    """Measure; the last line is JSON."""
    settings, *flags = arguments
    is_quick = "--quick" in flags
    rows, rounds = (ROWS // _QUICK_DIVISOR, 1) if is_quick else (ROWS, ROUNDS)
    found: dict[str, dict[str, list[_Cost]]] = {}
    delta = {**json.loads(settings), **_SETTINGS}
    jars = [Path(jar) for jar in delta.pop("spark.jars").split(",")]
    with (
        open_server() as server,
        tempfile.TemporaryDirectory(prefix="tidemark-bench-") as place,
        session([*jars, *fetch_connector_j(print)], delta) as spark,
    ):
        print(f"{server.title}, {rows:,} rows of {len(COLUMNS)} columns", flush=True)
        for number in range(-1, rounds):
            server.refill(_TABLE, rows)
            costs = _round(spark, server, Path(place) / str(number), rows, is_reversed=bool(number % 2))
            if number >= 0:  # the first one is a warm-up
                for work, sides in costs.items():
                    for side, cost in sides.items():
                        found.setdefault(work, {}).setdefault(side, []).append(cost)
    print(json.dumps({"rows": rows, "work": {work: _summary(sides) for work, sides in found.items()}}))


def _round(
    spark: SparkSession, server: BenchServer, directory: Path, rows: int, *, is_reversed: bool
) -> dict[str, dict[str, _Cost]]:
    copies = _Copies(spark, server, directory, rows)
    costs = {"snapshot": _both(copies.ours, copies.first_of_theirs, rows, is_reversed=is_reversed)}
    copies.require_equal()
    for work, share in _SHARES.items():
        changed = server.change(_TABLE, share)
        costs[work] = _both(copies.ours, copies.next_of_theirs, changed, is_reversed=is_reversed)
        copies.require_equal()
    for work, sides in costs.items():
        for side, cost in sides.items():
            rate = cost.rows / cost.seconds
            print(
                f"  {work:16} {side:14} {cost.rows:>9,} rows in {cost.seconds:6.2f} s: {rate:>9,.0f} rows/s", flush=True
            )
    return costs


def _both(ours: Callable[[], None], theirs: Callable[[], None], rows: int, *, is_reversed: bool) -> dict[str, _Cost]:
    sides = {"tidemark": ours, "spark_jdbc": theirs}
    turns = reversed(sides) if is_reversed else sides
    return {side: _cost(sides[side], rows) for side in turns}


def _cost(copy: Callable[[], None], rows: int) -> _Cost:
    used, begun = _cpu(), time.perf_counter()
    copy()
    return _Cost(rows=rows, seconds=time.perf_counter() - begun, cpu=_cpu() - used)


def _cpu() -> float:
    own = psutil.Process().cpu_times()
    return cpu_seconds(jvm_of_this_process()) + own.user + own.system


def _summary(sides: dict[str, list[_Cost]]) -> dict[str, Any]:
    """Return the medians of both sides, and our cost divided by the peer's."""
    summary: dict[str, Any] = {}
    for side, costs in sides.items():
        summary[side] = {
            "rows": costs[0].rows,
            "rows_per_s": round(statistics.median(cost.rows / cost.seconds for cost in costs)),
            "cpu_us_per_row": round(statistics.median(cost.cpu / cost.rows for cost in costs) * 1e6, 2),
        }
    ours, theirs = (summary[side]["cpu_us_per_row"] for side in ("tidemark", "spark_jdbc"))
    return {**summary, "cpu_ratio": round(ours / theirs, 2)}


if __name__ == "__main__":
    main(sys.argv[1:])
