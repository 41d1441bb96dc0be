"""Column pruning inside the decoder of format=json: documents of 20 columns, all of them and three of them.

The last line is JSON: CPU in microseconds per document, and how many times faster three columns are. What a whole query
gains is `python -m benchmarks.kafka.prune`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence

import pyarrow as pa

from benchmarks.measure import load_average
from benchmarks.orders.wide_orders import WIDE_SCHEMA, document
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.schema_text.ddl import parse_schema

__all__ = ["WANTED", "main", "measure"]

WANTED = ("user", "price", "ts")
_DOCUMENTS = 200_000
_BATCH = 16_384
_ROUNDS = 5


def measure(documents: Sequence[bytes], columns: tuple[str, ...] | None) -> float:
    """Return the CPU time of one decoding of all documents, in microseconds per document."""
    decoder = JsonDecoder(parse_schema(WIDE_SCHEMA), time_zone="UTC", columns=columns)
    starts = range(0, len(documents), _BATCH)
    batches = [pa.array(documents[start : start + _BATCH], pa.binary()) for start in starts]
    decoder.decode(batches[0])  # it learns what the documents look like
    begin = time.process_time()
    for batch in batches:
        if decoder.decode(batch).statuses is not None:
            raise SystemExit("a document could not be decoded: the benchmark is wrong")
    return (time.process_time() - begin) / len(documents) * 1e6


def main() -> None:
    """Measure in turns, and write the medians."""
    load = load_average()
    documents = [document(number) for number in range(_DOCUMENTS)]
    rounds = [(measure(documents, None), measure(documents, WANTED)) for _ in range(_ROUNDS)]
    whole, pruned = (statistics.median(side) for side in zip(*rounds, strict=True))
    summary = {
        "documents": _DOCUMENTS,
        "all_us": round(whole, 2),
        "pruned_us": round(pruned, 2),
        "speedup": round(statistics.median(one / other for one, other in rounds), 2),
        "load": load,
    }
    sys.stdout.write(json.dumps(summary) + "\n")


if __name__ == "__main__":
    main()
