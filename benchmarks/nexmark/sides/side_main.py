"""A side: reads from standard input what to run (`SideRun`), line by line, and prints what it cost or `why` it cannot.

python -m benchmarks.nexmark.sides.side_main SIDE [--jars ...]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import AbstractContextManager
from typing import Any, Final

from benchmarks.nexmark.sides.side_run import FLINK_ROCKSDB, SideRun
from benchmarks.sides import FLINK, PEER

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
    if asked.side == PEER:
        from benchmarks.nexmark.sides.spark_side import open_spark_side

        return open_spark_side(asked.jars, asked.slots)
    from benchmarks.nexmark.sides.tidemark_side import open_tidemark_side

    return open_tidemark_side(asked.slots)


if __name__ == "__main__":
    main()
