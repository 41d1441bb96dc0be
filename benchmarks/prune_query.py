"""One side of the pruning benchmark in a process of its own; prints one JSON line.

python -m benchmarks.prune_query SIDE BOOTSTRAP TOPIC BATCH_ROWS

`pruned` is a windowed count as a statement over a table of 20 columns: the planner pushes down the three that it names.
`whole` is the same count over `SELECT *` of that table, which names all of them.
"""

from __future__ import annotations

import json
import sys

from benchmarks.wide_orders import WIDE_SCHEMA
from benchmarks.window_query import counted, run, session
from datasources.sql import TableEnvironment

WINDOWS = """
    SELECT CAST(window_start AS STRING) AS start, n FROM (
      SELECT window_start, window_end, count(user) AS n, sum(price) AS total
      FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end)
"""


def ddl(bootstrap: str, topic: str, batch_rows: int) -> str:
    """Return the table: the documents' columns, in SQL's types."""
    columns = WIDE_SCHEMA.replace("ts TIMESTAMP", "ts TIMESTAMP_LTZ(3)")
    return f"""
        CREATE TABLE orders ({columns}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (
          'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}',
          'scan.startup.mode' = 'earliest-offset', 'maxOffsetsPerTrigger' = '{batch_rows}', 'format' = 'json')
    """


def main() -> None:
    """Run once to warm up, then measure."""
    side, bootstrap, topic, batch_rows = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    spark = session()
    t = TableEnvironment(spark)
    t.sql(ddl(bootstrap, topic, batch_rows))
    for measured in (False, True):
        windows = t.sql(WINDOWS) if side == "pruned" else counted(t.sql("SELECT * FROM orders"))
        result = run(windows, measured=measured)
    print(json.dumps(result))
    spark.stop()


if __name__ == "__main__":
    main()
