"""A side of a benchmark whose JVM stays: reads from standard input what to run, line by line, and prints what it cost.

python -m benchmarks.kafka.sides.warm_side SIDE [--slots 1] [--jars ...]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.kafka.sides.window_flink import flink_side
from benchmarks.kafka.sides.window_query import run_query, session
from benchmarks.sides import FLINK, TIDEMARK, TIDEMARK_SQL, Workload


def main() -> None:
    """Answer each line until there are no more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--jars", default="")
    asked = parser.parse_args()
    with flink_side() if asked.side == FLINK else _spark_side(asked.side, asked.jars, asked.slots) as run:
        for line in sys.stdin:
            print(json.dumps(run(Workload(**json.loads(line)))), flush=True)


@contextmanager
def _spark_side(side: str, jars: str, slots: int) -> Iterator[Callable[[Workload], dict[str, Any]]]:
    spark = session(jars, slots=slots)

    def run(work: Workload) -> dict[str, Any]:
        query, source = work.query, (work.bootstrap, work.topic, work.batch_rows)
        if side == TIDEMARK_SQL and query == "window":
            query = "sql"
        own = TIDEMARK if side == TIDEMARK_SQL else side
        return run_query(spark, own, query, *source, min_partitions=work.min_partitions, measured=True)

    yield run
    spark.stop()


if __name__ == "__main__":
    main()
