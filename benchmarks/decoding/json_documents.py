"""JSON documents to columns, by shape: what one costs in C and what it costs in Python (the slow path).

Shapes: flat orders; Nexmark's events, of whose three rows one is there (1 person, 3 auctions and 46 bids in 50); arrays
of rows; maps; decimals; texts with escapes; Debezium's change events. The paths take turns, several rounds; in each
round C decodes all documents and Python the first ones. The last line is JSON, also in results/json_decode.json: of
each shape the mean size, and medians of the CPU per document and per byte.

    python -m benchmarks.decoding.json_documents [--quick]
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from benchmarks.measure import load_average
from benchmarks.orders import json_orders
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.schema_text.ddl import parse_schema

__all__ = ["NEXMARK", "SHAPES", "main", "nexmark"]

RESULT: Final = Path(__file__).parents[1] / "results" / "json_decode.json"
_DOCUMENTS: Final = 32_768
_SLOW_DOCUMENTS: Final = 2_000
_ROUNDS: Final = 9
NEXMARK: Final = (
    "event_type INT, person STRUCT<id: BIGINT, name: STRING, emailAddress: STRING, creditCard: STRING, city: STRING, "
    "state: STRING, dateTime: TIMESTAMP_NTZ, extra: STRING>, auction STRUCT<id: BIGINT, itemName: STRING, "
    "description: STRING, initialBid: BIGINT, reserve: BIGINT, dateTime: TIMESTAMP_NTZ, expires: TIMESTAMP_NTZ, "
    "seller: BIGINT, category: BIGINT, extra: STRING>, bid STRUCT<auction: BIGINT, bidder: BIGINT, price: BIGINT, "
    "channel: STRING, url: STRING, dateTime: TIMESTAMP_NTZ, extra: STRING>"
)


def _text(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _moment(number: int) -> str:
    return (
        f"2026-03-01 {number // 360_000 % 24:02}:{number // 6_000 % 60:02}:{number // 100 % 60:02}.{number % 100:02}0"
    )


def nexmark(number: int) -> bytes:
    """Return the event with a number: 1 person, 3 auctions and 46 bids in 50."""
    at, extra = _moment(number), "abcdefghijklmnopqrst"[: number % 20]
    event: dict[str, object] = {"event_type": 2, "person": None, "auction": None, "bid": None}
    if number % 50 == 0:
        event |= {"event_type": 0}
        event["person"] = {
            "id": number, "name": f"Peter {number % 97}", "emailAddress": f"peter{number % 97}@example.com",
            "creditCard": "1234 5678 9012 3456", "city": "Portland", "state": "OR", "dateTime": at, "extra": extra,
        }  # fmt: skip
    elif number % 50 < 4:
        event |= {"event_type": 1}
        event["auction"] = {
            "id": number, "itemName": f"item {number % 997}", "description": "a description of some words",
            "initialBid": number % 5_000, "reserve": number % 9_000, "dateTime": at, "expires": _moment(number + 900),
            "seller": number % 1_003, "category": number % 5 + 10, "extra": extra,
        }  # fmt: skip
    else:
        event["bid"] = {
            "auction": number - number % 101, "bidder": number % 1_003, "price": number * 7_919 % 1_000_003,
            "channel": "channel-" + str(number % 10_000), "url": f"https://www.nexmark.com/a/item.htm?query={number}",
            "dateTime": at, "extra": extra,
        }  # fmt: skip
    return _text(event)


def _array(number: int) -> bytes:
    items = [
        {"sku": f"sku-{n:05}", "count": n % 9, "price": n % 500 + 0.25} for n in range(number, number + number % 7)
    ]
    return _text({"id": number, "tags": ["new", "gift", "fast"][: number % 4], "items": items})


def _map(number: int) -> bytes:
    attributes = {f"key_{n % 40}": f"value {n % 997}" for n in range(number, number + 1 + number % 6)}
    return _text({"id": number, "attributes": attributes, "counts": {"a": number % 10, "b": number}})


def _decimal(number: int) -> bytes:
    cents, rate = f"{number % 99_991}.{number % 100:02}", f"0.{number % 10**6:06}1"
    return f'{{"id":{number},"net":{cents},"tax":"{cents}","rate":{rate},"total":{number + 1}{cents}}}'.encode()


def _escaped(number: int) -> bytes:
    return _text({"id": number, "title": f'a "{number}" in quotes', "note": f"é\n{number}\t日本 😀"})


def _change(number: int) -> bytes:
    before, after = ({"id": number, "name": f"name {n}", "weight": n / 8} for n in (number, number + 1))
    source = {"version": "2.1", "name": "shop", "ts_ms": 1_700_000_000_000 + number, "db": "shop", "table": "items"}
    return _text({"before": before, "after": after, "source": source, "op": "u", "ts_ms": 1_700_000_000_001 + number})


_ROW: Final = "STRUCT<id: BIGINT NOT NULL, name: STRING, weight: DOUBLE>"
SHAPES: Final[dict[str, tuple[str, Callable[[int], bytes]]]] = {
    "flat": (json_orders.SCHEMA, json_orders.order),
    "nexmark": (NEXMARK, nexmark),
    "arrays": ("id BIGINT, tags ARRAY<STRING>, items ARRAY<STRUCT<sku: STRING, count: INT, price: DOUBLE>>", _array),
    "maps": ("id BIGINT, attributes MAP<STRING, STRING>, counts MAP<STRING, BIGINT>", _map),
    "decimals": (
        "id BIGINT, net DECIMAL(10, 2), tax DECIMAL(10, 2), rate DECIMAL(8, 7), total DECIMAL(38, 18)",
        _decimal,
    ),
    "escapes": ("id BIGINT, title STRING, note STRING", _escaped),
    "changes": (f"before {_ROW}, after {_ROW}, op STRING, ts_ms BIGINT", _change),
}
"""Of each shape the schema, and its document with a number."""


def main(arguments: Sequence[str]) -> None:
    """Measure in turns, print, and write the result file."""
    quick = "--quick" in arguments
    load = load_average()
    batches = {
        name: pa.array([make(number) for number in range(_DOCUMENTS)], pa.binary())
        for name, (_, make) in SHAPES.items()
    }
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in SHAPES}
    for _ in range(2 if quick else _ROUNDS):
        for name, batch in batches.items():
            slow = _cpu_us(name, batch.slice(0, _SLOW_DOCUMENTS), way="off")
            measured[name].append((_cpu_us(name, batch, way=""), slow))
    result: dict[str, object] = {"documents": _DOCUMENTS, "shapes": {}, "load": load}
    shapes = {name: _figures(batches[name].nbytes / _DOCUMENTS - 4, rounds) for name, rounds in measured.items()}
    result["shapes"] = shapes
    if not quick:
        RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result))


def _cpu_us(name: str, batch: pa.Array, *, way: str) -> float:
    """Return the CPU time per document with the C library, or without it (`off`)."""
    os.environ["TIDEMARK_NATIVE"] = way
    decoder = JsonDecoder(parse_schema(SHAPES[name][0]), time_zone="UTC")
    decoder.decode(batch.slice(0, 1))  # it is built with its first batch
    begin = time.process_time()
    decoded = decoder.decode(batch)
    spent = time.process_time() - begin
    if decoded.statuses is not None:
        raise SystemExit(f"a document of {name} could not be decoded: the benchmark is wrong")
    return spent / len(batch) * 1e6


def _figures(size: float, rounds: Sequence[tuple[float, float]]) -> dict[str, float]:
    fast, slow = (statistics.median(side) for side in zip(*rounds, strict=True))
    return {
        "bytes": round(size),
        "native_us": round(fast, 3),
        "native_ns_per_byte": round(fast / size * 1e3, 2),
        "slow_us": round(slow, 2),
        "slow_ns_per_byte": round(slow / size * 1e3, 1),
        "ratio": round(slow / fast, 1),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
