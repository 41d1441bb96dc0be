"""Rows and expressions on which the reader is compared with Spark."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

UTC = dt.UTC
D = decimal.Decimal
I64, I32 = 2**63, 2**31
SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("ts2", pa.timestamp("us", "UTC")),
        ("ntz", pa.timestamp("us")),
        ("ntz2", pa.timestamp("us")),
        ("day", pa.date32()),
        ("s", pa.string()),
        ("s2", pa.string()),
        ("num", pa.string()),
        ("str", pa.string()),
        ("j", pa.string()),
        ("y", pa.int8()),
        ("h", pa.int16()),
        ("i", pa.int32()),
        ("k", pa.int32()),
        ("b", pa.int64()),
        ("c", pa.int64()),
        ("d", pa.decimal128(11, 3)),
        ("e", pa.decimal128(5, 2)),
        ("f", pa.float64()),
        ("g", pa.float64()),
        ("r", pa.float32()),
        ("fl", pa.bool_()),
        ("fm", pa.bool_()),
        (
            "st",
            pa.struct(
                [("t", pa.timestamp("us", "UTC")), ("n", pa.int32()), ("In", pa.struct([("t", pa.timestamp("us"))]))]
            ),
        ),
    ]
)


def _us(*parts: int) -> int:
    moment = dt.datetime(*parts, tzinfo=UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=UTC)) // dt.timedelta(microseconds=1)


GAP, OVERLAP = _us(2026, 3, 8, 6, 59, 59, 999999), _us(2026, 11, 1, 5, 30)
_ROWS: list[dict[str, Any]] = [
    {"ts": GAP, "ts2": GAP + 1, "ntz": _us(2026, 3, 8, 2, 30, 0, 123456), "ntz2": _us(2026, 3, 8, 3), "day": 20520, "s": "2026-03-08 02:30:00", "s2": "2026-03-08T02:30:00.123Z", "num": "17", "str": "abc-123-def", "j": '{"a":{"b":"x"},"t":"1772956799"}', "y": 7, "h": 300, "i": 7, "k": 2, "b": 1772956799999, "c": 3, "d": D("12.345"), "e": D("1.50"), "f": 7.5, "g": 2.0, "r": 1.5, "fl": True, "fm": False, "st": {"t": GAP, "n": 3, "In": {"t": 5}}},
    {"ts": -500, "ts2": -1_000_000, "ntz": -500, "ntz2": None, "day": -1, "s": "1969-12-31 23:59:59.9995", "s2": "1969-12-31T23:59:59+05:30", "num": "-17", "str": "", "j": '{"a":null,"t":1772956799.5}', "y": -7, "h": -300, "i": -7, "k": -2, "b": -1, "c": -3, "d": D("-12.345"), "e": D("-1.50"), "f": -7.5, "g": -0.0, "r": -1.5, "fl": False, "fm": True, "st": {"t": None, "n": None, "In": None}},
    {"ts": OVERLAP, "ts2": OVERLAP + 3_600_000_000, "ntz": _us(2026, 11, 1, 1, 30), "ntz2": _us(2026, 11, 1, 0, 30), "day": 20758, "s": "2026-11-01 01:30:00", "s2": "2026-11-01", "num": "2147483648", "str": "ÄÖ😀x", "j": '{"a":{"b":1}}', "y": 127, "h": 32767, "i": I32 - 1, "k": 1, "b": 253402300800000, "c": 0, "d": D("99999999.999"), "e": D("999.99"), "f": 1e300, "g": 1e308, "r": 3e38, "fl": None, "fm": True, "st": {"t": OVERLAP, "n": 0, "In": {"t": None}}},
    {"ts": _us(2026, 12, 29, 12), "ts2": None, "ntz": _us(2026, 12, 29, 12), "ntz2": _us(2026, 12, 30), "day": None, "s": " 2026-12-29 12:00 ", "s2": "2026-12-29 12:00:00 +01", "num": " 12 ", "str": "a1b22", "j": '{"a":{"b":[1,2]},"t":"x"', "y": 0, "h": 0, "i": 0, "k": 0, "b": 0, "c": -1, "d": D("0.005"), "e": D("0.00"), "f": float("nan"), "g": 1.0, "r": float("nan"), "fl": True, "fm": None, "st": {"t": _us(1, 1, 1), "n": -1, "In": {"t": -1}}},
    dict.fromkeys(SCHEMA.names),
    {"ts": _us(1582, 10, 10), "ts2": _us(1582, 10, 10), "ntz": _us(1582, 10, 10), "ntz2": _us(1582, 10, 4, 23, 59), "day": -141428, "s": "20261229", "s2": "nonsense", "num": "12.5", "str": "xxx", "j": "null", "y": -128, "h": -32768, "i": -I32, "k": -1, "b": 1772956799, "c": 10**15, "d": D("-0.005"), "e": D("-999.99"), "f": -0.0, "g": 0.0, "r": -0.0, "fl": False, "fm": None, "st": None},
    {"ts": I64 - 1, "ts2": -I64, "ntz": I64 - 1, "ntz2": -I64, "day": I32 - 1, "s": "+294247-01-10 04:00:54.775807", "s2": "2026-02-30 00:00:00Z", "num": "9223372036854775808", "str": "  pad\tded  ", "j": "[1]", "y": 1, "h": 1, "i": 1, "k": I32 - 1, "b": I64 - 1, "c": I64 - 1, "d": D("1"), "e": D("0.01"), "f": 9.3e18, "g": -1.0, "r": 9.3e18, "fl": None, "fm": None, "st": {"t": I64 - 1, "n": I32 - 1, "In": {"t": I64 - 1}}},
    {"ts": -I64, "ts2": I64 - 1, "ntz": -I64, "ntz2": I64 - 1, "day": -I32, "s": "12:00:00", "s2": "2026-06-01 25:00:00Z", "num": "", "str": "line\nline", "j": '{"a":{"b":true},"t":{"x":1}}', "y": -1, "h": -1, "i": -1, "k": -I32, "b": -I64, "c": -1, "d": D("-1"), "e": D("0.99"), "f": -9.3e18, "g": 0.5, "r": -9.3e18, "fl": True, "fm": True, "st": {"t": -I64, "n": -I32, "In": {"t": -I64}}},
    {"ts": _us(2026, 6, 30, 23, 59, 59, 500), "ts2": _us(2026, 6, 30), "ntz": _us(2026, 6, 30, 1), "ntz2": _us(2025, 1, 1), "day": 20000, "s": "2026-06-30T23:59:59.9999999", "s2": "2026-06-30 23:59:59.9 GMT+1", "num": "1e3", "str": "a,b,,c", "j": '{"a":{"b":-0}, "t":12345678901234567890}', "y": 100, "h": 100, "i": 2147483, "k": 1000, "b": 9223372036854776, "c": 1000, "d": D("0.5"), "e": D("2.50"), "f": 2147483647.9, "g": 3.0, "r": 0.1, "fl": False, "fm": False, "st": {"t": 999, "n": 12, "In": {"t": 999}}},
    {"ts": 999, "ts2": 1000, "ntz": 999, "ntz2": 1000, "day": 0, "s": "2026", "s2": "2026-1-2 3:4:5.678Z", "num": "+5", "str": "Straße İx", "j": '{"a":{"b":"\\u00e9\\n"},"t":"2026-01-01T00:00:00Z"} ', "y": 10, "h": 10, "i": 10, "k": 3, "b": -9223372036854775, "c": 7, "d": D("1.5"), "e": D("3.33"), "f": 2147483648.0, "g": 7.0, "r": 16777216.0, "fl": True, "fm": False, "st": {"t": 1, "n": 1, "In": {"t": 1}}},
    {"ts": _us(1883, 11, 18, 17), "ts2": _us(1883, 11, 18, 16, 59), "ntz": _us(1883, 11, 18, 12), "ntz2": 0, "day": -31455, "s": "1883-11-18 12:00:00", "s2": "-0001-12-31 00:00:00Z", "num": ".5", "str": "A-B", "j": "", "y": 2, "h": 2, "i": 2, "k": 5, "b": 1, "c": 2, "d": D("2"), "e": D("2"), "f": 0.3, "g": 0.1, "r": 0.3, "fl": True, "fm": True, "st": {"t": 0, "n": 0, "In": {"t": 0}}},
    {"ts": 0, "ts2": 0, "ntz": 0, "ntz2": 0, "day": 1, "s": "2026-01-01 00:00:00.", "s2": "2026-01-01 12", "num": "x", "str": "x", "j": '{"a":{"b":"v"},"t":false}', "y": 3, "h": 3, "i": 3, "k": 7, "b": 2, "c": 1, "d": D("0"), "e": D("0"), "f": float("inf"), "g": float("-inf"), "r": float("inf"), "fl": None, "fm": False, "st": {"t": 7, "n": 7, "In": {"t": 7}}},
]  # fmt: skip


def batch() -> pa.RecordBatch:
    columns = [[row[name] if name != "id" else index for index, row in enumerate(_ROWS)] for name in SCHEMA.names]
    return pa.record_batch(
        [pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


EXPRESSIONS = [line for line in (Path(__file__).parent / "expression_forms.sql").read_text().splitlines() if line]
