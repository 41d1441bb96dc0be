"""A table of events that grows, and queries over it that stop and go on."""

from __future__ import annotations

import random
from collections import Counter

from datasources.spark.plans.plan_walk import items
from datasources.spark.pushdown.table_rows import is_source
from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.sql.sql_tables import scripted_table, write_records

__all__ = ["FORMS", "GrowingTable", "run_over_all", "source_options_of"]

FORMS = [
    ("TIMESTAMP_LTZ(3)", "on-event"),
    *full(("TIMESTAMP(3)", "on-event"), ("TIMESTAMP(3)", "on-periodic")),
]
"""Types of the time attribute, and how watermarks are emitted."""

COLUMNS = (
    "id INT NOT NULL, k STRING, v INT, d DOUBLE, p DECIMAL(20, 2), s ROW<a INT, b STRING>, l ARRAY<STRING>, "
    "ts {time}, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
)


def _rows_of(seed, count):
    """Rows with NULLs, keys that come back, rows without time, and rows that are late."""
    rng = random.Random(f"rows {seed}")
    for number in range(count):
        second = seed * 60 + number - (rng.randrange(60) if rng.random() < 0.2 else 0)
        yield {
            "id": number + 1_000 * seed,
            "k": rng.choice("abcd") if rng.random() < 0.9 else None,
            "v": rng.randrange(-2, 3) if rng.random() < 0.9 else None,
            "d": rng.choice([0.0, -0.0, 1.5, None]),
            "p": str(rng.choice([0, 10**17])) if rng.random() < 0.9 else None,
            "s": {"a": rng.randrange(3), "b": rng.choice(["p", None])} if rng.random() < 0.9 else None,
            "l": rng.choice([None, [], ["x", None]]),
            "ts": f"2026-01-01 00:{max(second, 0) // 60:02d}:{max(second, 0) % 60:02d}" if rng.random() < 0.97 else None,
        }  # fmt: skip


class GrowingTable:
    """A table `t` of two splits, views over it, and queries."""

    def __init__(self, spark, directory, views=(), *, time="TIMESTAMP_LTZ(3)", emit="on-event") -> None:
        self.spark, self.directory, self.views, self.time, self.emit = spark, directory, views, time, emit

    def add(self, seed, count=60):
        """Append rows to both splits."""
        rows = list(_rows_of(seed, count))
        for split in range(2):
            write_records(self.directory / "t", f"s-{split}", rows[split::2])

    def environment(self):
        """Return the tables and views."""
        tables = TableEnvironment(self.spark)
        options = {"scan.max-rows-per-batch": "25", "scan.watermark.emit.strategy": self.emit}
        tables.sql(scripted_table("t", COLUMNS.format(time=self.time), self.directory / "t", **options))
        for view in self.views:
            tables.sql(view)
        return tables

    def frame(self, statement):
        """Return the query of a statement."""
        return self.environment().sql(statement)

    def rows(self, frame, checkpoint):
        """Run a query over what is there; return its rows, and the counts of late rows and of those without time."""
        counts = Counter()
        found, query = run_over_all(frame, self.directory / checkpoint)
        for progress in query.recentProgress:
            for metrics in progress["observedMetrics"].values():
                counts.update({name: value for name, value in metrics.asDict().items() if name.endswith("_rows")})
        return found, counts

    def in_orders(self, orders, plan):
        """Run a query in two steps with a restart between, once for each pair of ways in which the steps are planned.

        Return by order the rows, and the counts of late rows and of those without time; `plan` makes the query of a way.
        """
        found = {order: (Counter(), Counter()) for order in orders}
        for step in range(2):
            self.add(step)
            for order, totals in found.items():
                for total, new in zip(totals, self.rows(plan(order[step]), "-".join(order)), strict=True):
                    total.update(new)
        return found


def run_over_all(frame, checkpoint):
    """Run a streaming query over what is there; return its rows as texts, counted, and the query."""
    found = Counter()
    stream = frame.writeStream.foreachBatch(lambda batch, _: found.update(map(str, batch.collect())))
    query = stream.trigger(availableNow=True).option("checkpointLocation", str(checkpoint)).start()
    assert query.awaitTermination(120)
    return found, query


def source_options_of(frame):
    """Return the options of each source in a plan."""
    leaves = items(frame._jdf.queryExecution().analyzed().collectLeaves())
    return [dict(leaf.extraOptions().asCaseSensitiveMap()) for leaf in leaves if is_source(leaf)]
