"""A side: reads from standard input what to run (`SideRun`), line by line, and prints what it cost or `why` it cannot.

python -m benchmarks.nexmark.sides.side_main SIDE [--jars ...]

The sides of Spark may share a JVM: `tidemark+spark-sql-kafka`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from benchmarks.nexmark.sides.side_run import FLINK_ROCKSDB, SideRun
from benchmarks.sides import BOTH, FLINK, PEER, TIDEMARK

_HEAP: Final = "-Xmx4g"
"""Of each side's JVM: joins without a bound keep all bids."""


def main() -> None:
    """Answer each line until there are no more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--jars", default="")
    asked = parser.parse_args()
    os.environ["_JAVA_OPTIONS"] = _HEAP  # wins over what the JVMs of all benchmarks are started with
    with _opened(asked) as run:
        for line in sys.stdin:
            print(json.dumps(run(SideRun.from_json(json.loads(line)))), flush=True)


def _opened(asked: argparse.Namespace) -> AbstractContextManager[Any]:
    if asked.side in {FLINK, FLINK_ROCKSDB}:
        from benchmarks.nexmark.sides.flink_side import open_flink_side

        return open_flink_side(is_durable=asked.side == FLINK_ROCKSDB)
    return _opened_in_spark(asked.side.split(BOTH), asked.jars, asked.slots)


@contextmanager
def _opened_in_spark(sides: list[str], jars: str, slots: int) -> Iterator[Callable[[SideRun], dict[str, Any]]]:
    """Start Spark; give what runs a query of one of the sides, each in a session of its own."""
    from benchmarks.kafka.sides.window_query import session
    from benchmarks.nexmark.sides.spark_side import spark_runner
    from benchmarks.nexmark.sides.tidemark_side import tidemark_runner

    runners = {TIDEMARK: tidemark_runner, PEER: spark_runner}
    spark = session(jars, slots=slots)
    running = {side: runners[side](spark if number == 0 else spark.newSession()) for number, side in enumerate(sides)}
    yield lambda asked: running[asked.side or sides[0]](asked)
    spark.stop()


if __name__ == "__main__":
    main()
