"""The data of the pruning benchmarks: JSON documents of 20 columns, about 400 bytes, made from a number alone."""

from __future__ import annotations

import json
import sys

from benchmarks.orders.json_orders import make_topic, produce

__all__ = ["WIDE_SCHEMA", "document"]

_TEXTS = tuple(f"text_{n}" for n in range(7))
_NUMBERS = tuple(f"count_{n}" for n in range(5))
_RATES = tuple(f"rate_{n}" for n in range(3))
WIDE_SCHEMA = ", ".join(
    (
        "user BIGINT, price DOUBLE, ts TIMESTAMP, is_new BOOLEAN, day DATE",
        *(f"{name} STRING" for name in _TEXTS),
        *(f"{name} BIGINT" for name in _NUMBERS),
        *(f"{name} DOUBLE" for name in _RATES),
    )
)


def document(number: int) -> bytes:
    """Return the document with a number; event time rises by a millisecond per document."""
    values: dict[str, object] = {
        "user": number * 7919 % 1_000_003,
        "price": number % 500 + 0.25,
        "ts": f"2026-01-01T{number // 3_600_000 % 24:02}:{number // 60_000 % 60:02}:"
        f"{number // 1_000 % 60:02}.{number % 1_000:03}Z",
        "is_new": number % 3 == 0,
        "day": f"2026-03-{1 + number % 28:02}",
    }
    values |= dict.fromkeys(_TEXTS, f"value {number % 9973}")
    values |= dict.fromkeys(_NUMBERS, number * 31)
    values |= dict.fromkeys(_RATES, number / 8)
    return json.dumps(values, separators=(",", ":")).encode()


if __name__ == "__main__":
    make_topic(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(produce(sys.argv[1], sys.argv[2], int(sys.argv[3]), range(int(sys.argv[4])), document))
