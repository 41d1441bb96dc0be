"""OVER on Spark: how many rows a second go through the operator on two cores, and what a row costs.

    python -m benchmarks.over_windows          prints one line of JSON
    python -m benchmarks.over_windows --save   writes results/over_windows.json as well, on an idle machine only

The rows of benchmarks.session_windows, 100,000 keys, in batches of 500,000: SUM and COUNT over the last 10 s of a key,
into a noop sink. `plain` is the same query without the operator: what reading and decoding take.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import session_windows
from benchmarks.measure import load_average
from datasources import OverFrame, over, with_source_watermark

RESULTS: Final = Path(__file__).parent / "results" / "over_windows.json"
BATCH_ROWS: Final = 500_000
_IDLE: Final = 1.0


def main() -> None:
    """Measure and print; the last line is JSON."""
    load = load_average()
    if "--save" in sys.argv and load > _IDLE:
        raise SystemExit(f"the load is {load}: figures of a busy machine are not written down")
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        session_windows.write_scripts(directory)
        spark = session_windows.started()
        plain = session_windows.run(
            with_source_watermark(session_windows.stream(spark, directory, batch_rows=BATCH_ROWS))
        )
        stream = session_windows.stream(spark, directory, batch_rows=BATCH_ROWS)
        aggregates = {"total": "SUM(cents)", "n": "COUNT(*)"}
        stream = stream.selectExpr("ts", "user", "cast(price * 100 as bigint) as cents", "_watermark", "_heartbeat")
        answer = over(stream, aggregates, keys=["user"], attribute="ts", frame=OverFrame.range(10_000))
        measured = session_windows.run(with_source_watermark(answer))
        spark.stop()
    document = {"rows": session_windows.ROWS, "keys": session_windows.KEYS, **measured, "plain": plain, "load": load}
    if "--save" in sys.argv:
        RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document))


if __name__ == "__main__":
    main()
