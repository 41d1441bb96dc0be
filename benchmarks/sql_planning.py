"""What our part of planning a statement costs: `python -m benchmarks.sql_planning`.

A table of 200 columns, a windowed count over three of them. Spark's share (analysis, and everything else that happens
behind the gateway to its process) is measured at the gateway and taken off; the rest is ours: tokens, rewrites,
resolving, pushing down. The last line is JSON, in milliseconds, the median of 20 statements after three to warm up.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import load_average

COLUMNS = 200
WARM_UP, ROUNDS = 3, 20
RESULT = Path(__file__).parent / "results" / "sql_planning.json"
QUERY = (
    "SELECT window_start, c1, count(*) AS n, sum(c2) AS s "
    "FROM TABLE(TUMBLE(TABLE wide /*+ OPTIONS('scan.watermark.idle-timeout' = '5 s') */, DESCRIPTOR(ts), "
    "INTERVAL '1' MINUTE)) WHERE c3 > 7 GROUP BY window_start, window_end, c1"
)


class Gateway:
    """Time spent behind the gateway to Spark's process."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count while in the block."""
        from py4j.clientserver import JavaClient

        plain: Callable[..., Any] = JavaClient.send_command

        def timed(client: Any, *arguments: Any, **more: Any) -> Any:
            start = time.perf_counter()
            try:
                return plain(client, *arguments, **more)
            finally:
                self.seconds += time.perf_counter() - start

        JavaClient.send_command = timed
        try:
            yield
        finally:
            JavaClient.send_command = plain


def ddl() -> str:
    """Return the table."""
    columns = ", ".join(f"c{n} {('BIGINT', 'STRING', 'DOUBLE', 'INT')[n % 4]}" for n in range(COLUMNS - 2))
    return (
        f"CREATE TABLE wide ({columns}, day AS CAST(ts AS DATE), ts TIMESTAMP_LTZ(3), "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'topic' = 'wide', "
        "'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json')"
    )


def ours_ms(run: Callable[[], Any]) -> tuple[float, float]:
    """Return (our milliseconds, all milliseconds) of a call."""
    gateway = Gateway()
    with gateway.watched():
        start = time.perf_counter()
        run()
        total = time.perf_counter() - start
    return (total - gateway.seconds) * 1e3, total * 1e3


def main() -> None:
    """Measure, print, write."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    from datasources.sql import TableEnvironment

    load = load_average()
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    t = TableEnvironment(spark)
    create = ours_ms(lambda: t.sql(ddl()))
    found = [ours_ms(lambda: t.sql(QUERY)) for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    result = {
        "columns": COLUMNS,
        "create_table_ours_ms": round(create[0], 1),
        "query_ours_ms": round(statistics.median(ours for ours, _ in found), 1),
        "query_with_spark_ms": round(statistics.median(total for _, total in found), 1),
        "load": load,
    }
    spark.stop()
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
