"""Column pruning of format=json: the time to decode documents of 20 columns, all of them and three of them.

The last line is JSON: CPU in microseconds per document, and how many times faster three columns are.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence

import pyarrow as pa

from benchmarks.measure import load_average
from datasources.formats.ddl import parse_schema
from datasources.formats.json import JsonDecoder

__all__ = ["WANTED", "document", "main", "measure"]

WANTED = ("user", "price", "ts")
_DOCUMENTS = 200_000
_BATCH = 16_384
_ROUNDS = 5
_TEXTS = tuple(f"text_{n}" for n in range(7))
_NUMBERS = tuple(f"count_{n}" for n in range(5))
_RATES = tuple(f"rate_{n}" for n in range(3))
_DDL = ", ".join(
    (
        "user BIGINT, price DOUBLE, ts TIMESTAMP, is_new BOOLEAN, day DATE",
        *(f"{name} STRING" for name in _TEXTS),
        *(f"{name} BIGINT" for name in _NUMBERS),
        *(f"{name} DOUBLE" for name in _RATES),
    )
)


def document(number: int) -> bytes:
    """Return the document with a number, about 370 bytes."""
    values: dict[str, object] = {
        "user": number * 7919 % 1_000_003,
        "price": number % 500 + 0.25,
        "ts": f"2026-01-01T{number // 3_600_000 % 24:02}:{number // 60_000 % 60:02}:{number // 1_000 % 60:02}.000Z",
        "is_new": number % 3 == 0,
        "day": f"2026-03-{1 + number % 28:02}",
    }
    values |= dict.fromkeys(_TEXTS, f"value {number % 9973}")
    values |= dict.fromkeys(_NUMBERS, number * 31)
    values |= dict.fromkeys(_RATES, number / 8)
    return json.dumps(values, separators=(",", ":")).encode()


def measure(documents: Sequence[bytes], columns: tuple[str, ...] | None) -> float:
    """Return the CPU time of one decoding of all documents, in microseconds per document."""
    decoder = JsonDecoder(parse_schema(_DDL), time_zone="UTC", columns=columns)
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
