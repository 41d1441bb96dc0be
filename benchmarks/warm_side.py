"""A side of a benchmark whose JVM stays: reads from standard input what to run, line by line, and prints what it cost.

python -m benchmarks.warm_side SIDE [--slots 1] [--jars ...]
"""

from __future__ import annotations

import argparse
import json
import sys

from benchmarks.sides import Workload
from benchmarks.window_query import run_query, session


def main() -> None:
    """Answer each line until there are no more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--jars", default="")
    asked = parser.parse_args()
    spark = session(asked.jars, slots=asked.slots)
    for line in sys.stdin:
        work = Workload(**json.loads(line))
        source = (work.bootstrap, work.topic, work.batch_rows)
        print(json.dumps(run_query(spark, asked.side, work.query, *source, measured=True)), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
