"""A process of sides: reads from standard input what to do (`BinlogRead`), line by line, and prints what it cost.

python -m benchmarks.tpcc.sides.side_main PROCESS
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager
from typing import Any

from benchmarks.tpcc.sides.binlog_read import BinlogRead


def main() -> None:
    """Answer each line until there are no more."""
    with _opened(sys.argv[1]) as run:
        for line in sys.stdin:
            print(json.dumps(run(BinlogRead.from_json(json.loads(line)))), flush=True)


def _opened(process: str) -> AbstractContextManager[Any]:
    if process == "flink":
        from benchmarks.tpcc.sides.flink_side import open_flink_side

        return open_flink_side()
    if process == "debezium":
        from benchmarks.tpcc.sides.debezium_side import open_debezium_side

        return open_debezium_side()
    from benchmarks.tpcc.sides.tidemark_side import open_tidemark_side

    return open_tidemark_side()


if __name__ == "__main__":
    main()
