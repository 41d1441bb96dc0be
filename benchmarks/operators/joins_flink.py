"""Flink's side of `make bench-joins`: its temporal join of orders and rates of the same shape, from its generator."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError

from benchmarks.flink import FLINK_VERSION, Flink, cause_of, fetch_jars, open_flink
from datasources.errors import EnvironmentProblem

__all__ = ["flink_temporal_join"]

_SETTINGS: Final = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "pipeline.object-reuse": "true",
    "restart-strategy.type": "none",
}
_BEGIN_MS: Final = 1_700_000_000_000
_ORDERS_OF_A_MS: Final = 100
_JOIN: Final = """
INSERT INTO nothing SELECT orders.k, orders.ts, orders.amount, rates.rate, rates.name
FROM orders LEFT JOIN rates FOR SYSTEM_TIME AS OF orders.ts ON orders.k = rates.k
"""


def flink_temporal_join(*, keys: int, rows: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Return how many orders a second Flink joins; what loading the table takes is left out.

    The key of a table cannot be computed from a sequence there, so the table's first rows are of random keys: some two
    thirds of all keys have a row.

    Runs with half as many rows and with half as many again: the difference is `rows` of them.

    Args:
        keys: of the table.
        rows: how many orders count.
        report: what to print about downloads.
    """
    facts = {"flink": FLINK_VERSION, "settings": _SETTINGS, "state": "on the heap, no checkpoints"}
    try:
        jars = fetch_jars(report, instead="Without it Flink's figures are left out.")
    except EnvironmentProblem as problem:
        return {**facts, "rows_s": None, "why": problem.message.splitlines()[0]}
    with tempfile.TemporaryDirectory() as place, open_flink(jars, _SETTINGS, Path(place) / "log") as flink:
        try:
            few, many = (_seconds(flink, keys, count) for count in (rows // 2, rows + rows // 2))
        except Py4JError as error:
            return {**facts, "rows_s": None, "why": cause_of(error)}
    return {**facts, "rows_s": round(rows / (many - few)), "seconds": [few, many]}


def _seconds(flink: Flink, keys: int, rows: int) -> float:
    tables = flink.tables()
    changes = rows // _ORDERS_OF_A_MS
    tables.executeSql(f"""
        CREATE TABLE orders (id BIGINT, k BIGINT, amount INT,
          ts AS TO_TIMESTAMP_LTZ({_BEGIN_MS} + id / {_ORDERS_OF_A_MS}, 3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
        WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0',
          'fields.id.end' = '{rows - 1}', 'fields.k.min' = '0', 'fields.k.max' = '{keys - 1}',
          'fields.amount.min' = '1', 'fields.amount.max' = '10000', 'rows-per-second' = '100000000')
    """)
    tables.executeSql(f"""
        CREATE TABLE rates (id BIGINT, rate DOUBLE, k BIGINT,
          name AS CONCAT('n', CAST(id AS STRING)),
          ts AS TO_TIMESTAMP_LTZ(IF(id < {keys}, 0, {_BEGIN_MS} + id - {keys}), 3),
          WATERMARK FOR ts AS ts - INTERVAL '2' SECOND, PRIMARY KEY (k) NOT ENFORCED)
        WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0',
          'fields.id.end' = '{keys + changes - 1}', 'fields.k.min' = '0', 'fields.k.max' = '{keys - 1}',
          'rows-per-second' = '100000000')
    """)
    tables.executeSql(
        "CREATE TABLE nothing (k BIGINT, ts TIMESTAMP_LTZ(3), amount INT, rate DOUBLE, name STRING) "
        "WITH ('connector' = 'blackhole')"
    )
    return flink.run(tables, _JOIN)
