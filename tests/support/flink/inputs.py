"""The table that Flink's expressions are recorded over: typed columns with the values that implementations differ in.

Row 1 is ordinary, rows 2 and 3 have the smallest and largest values, row 4 zeros and empty texts, rows 5 and 6 the
unusual ones (NaN and infinity, the gap and the overlap of the zone's clock), row 7 negative ones; rows 8 and 9 have NULL
in every other column, row 10 in all.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np

ZONE: Final = "America/New_York"
"""The session's time zone, in Flink and in Spark."""

_D: Final = Decimal
_NULL: Final = None
_INF: Final = math.inf


def _at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def _days(*texts: str | None) -> tuple[dt.date | None, ...]:
    return tuple(None if text is None else dt.date.fromisoformat(text) for text in texts)


def _times(*texts: str | None) -> tuple[dt.time | None, ...]:
    return tuple(None if text is None else dt.time.fromisoformat(text) for text in texts)


def _moments(*texts: str | None) -> tuple[dt.datetime | None, ...]:
    return tuple(None if text is None else _at(text) for text in texts)


def _instants(*texts: str | None) -> tuple[dt.datetime | None, ...]:
    return tuple(None if text is None else _at(text).replace(tzinfo=dt.UTC) for text in texts)


def _decimals(*texts: str | None) -> tuple[Decimal | None, ...]:
    return tuple(None if text is None else _D(text) for text in texts)


def _row(a: int | None, b: str | None, n: dict[str, float | None] | None) -> dict[str, Any]:
    return {"a": a, "b": b, "n": n}


_LARGEST_DOUBLE: Final = 1.7976931348623157e308
_LARGEST_FLOAT: Final = 3.4028234663852886e38

# fmt: off
_COLUMNS: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {
    "k": ("INT", tuple(range(1, 11))),
    "g": ("STRING", ("a", "b", "b", "a", "a", "b", "a", _NULL, _NULL, "c")),
    "ti": ("TINYINT", (1, -128, 127, 0, 5, -5, -1, 7, _NULL, _NULL)),
    "si": ("SMALLINT", (300, -32768, 32767, 0, 5, 6, -1, _NULL, 12, _NULL)),
    "i": ("INT", (7, -2147483648, 2147483647, 0, 5, 1, -7, 42, _NULL, _NULL)),
    "i2": ("INT", (3, -1, 1, 0, -3, 2147483647, 2, _NULL, 9, _NULL)),
    "l": ("BIGINT", (7000000000, -(2**63), 2**63 - 1, 0, 1700000000, -1, 1700000000123, _NULL, 100, _NULL)),
    "l2": ("BIGINT", (3, -1, 1, 0, 1000, 2**63 - 1, -7, 5, _NULL, _NULL)),
    "f": ("FLOAT", (1.5, -_LARGEST_FLOAT, _LARGEST_FLOAT, 0.0, math.nan, _INF, -2.5, 0.10000000149011612, _NULL, _NULL)),
    "d": ("DOUBLE", (2.5, -_LARGEST_DOUBLE, _LARGEST_DOUBLE, 0.0, math.nan, _INF, -2.5, -0.0, _NULL, _NULL)),
    "d2": ("DOUBLE", (0.1, -_INF, 10.0, -0.0, 1.0, math.nan, 3.0, _NULL, 1e-07, _NULL)),
    "dec1": ("DECIMAL(10, 2)", _decimals("123.45", "-99999999.99", "99999999.99", "0.00", "0.01", "2.50", "-1.50", _NULL, "10.00", _NULL)),
    "dec2": ("DECIMAL(10, 4)", _decimals("0.3333", "-999999.9999", "999999.9999", "0.0000", "3.0000", "-0.0001", "2.5555", "7.0000", _NULL, _NULL)),
    "big": ("DECIMAL(38, 18)", _decimals(
        "1.000000000000000001", "-99999999999999999999.999999999999999999", "99999999999999999999.999999999999999999", "0.000000000000000000",
        "3.141592653589793238", "0.000000000000000001", "-12345678901234567890.123456789000000000", _NULL, "2.000000000000000000", _NULL)),
    "b": ("BOOLEAN", (True, True, False, False, True, False, _NULL, _NULL, True, _NULL)),
    "b2": ("BOOLEAN", (True, False, True, False, _NULL, _NULL, True, False, False, _NULL)),
    "s": ("STRING", ("Hello World", "", "  padded  ", "ÀÉîß straße", "😀a😁z", "a,b,,c", "ab%_\\c", "\t\nx\u00a0", _NULL, _NULL)),
    "s2": ("STRING", ("World", "", " ", "ß", "😁", ",", "%", _NULL, "abc", _NULL)),
    "p": ("STRING", ("Hello%", "", "%pad%", "_%", "😀%", "(a|b),", "ab\\%\\_\\\\c", "[", ".*", _NULL)),
    "c": ("CHAR(3)", ("abc", "   ", "ab ", "a  ", "ABC", "日本語", " ab", "xyz", _NULL, _NULL)),
    "vc": ("VARCHAR(5)", ("abc", "", "ab", "a", "abcde", "ABC ", " ab", _NULL, "xyz", _NULL)),
    "bin": ("BYTES", (b"abc", b"", b"\x00\xff", b"\x80", "é".encode(), "😀".encode(), b"ABC", b"\x01\x02", _NULL, _NULL)),
    "dt": ("DATE", _days("2024-02-29", "0001-01-01", "9999-12-31", "1970-01-01", "2025-03-09", "2025-11-02", "1582-10-10", "1969-12-31", _NULL, _NULL)),
    "dt2": ("DATE", _days("2023-02-28", "2024-12-30", "2000-02-29", "1969-07-20", "2025-03-10", "2025-01-31", "1582-10-04", _NULL, "2025-12-31", _NULL)),
    "tm": ("TIME(0)", _times("12:34:56", "00:00:00", "23:59:59", "06:30:00", "02:30:00", "01:30:00", "11:59:59", _NULL, "18:00:01", _NULL)),
    "ts": ("TIMESTAMP(3)", _moments(
        "2024-02-29 12:34:56.789", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999", "1970-01-01 00:00:00", "2025-03-09 02:30:00",
        "2025-11-02 01:30:00", "1582-10-10 10:10:10.010", "1969-12-31 23:59:59.999", _NULL, _NULL)),
    "ts2": ("TIMESTAMP(3)", _moments(
        "2023-02-28 12:34:56.790", "1883-11-18 12:00:00", "2000-01-31 00:00:00", "1970-01-31 23:59:59.999", "2025-03-09 03:30:00",
        "2025-11-02 00:30:00", "1582-10-04 10:10:10", _NULL, "2025-12-31 23:59:59.500", _NULL)),
    "ts6": ("TIMESTAMP(6)", _moments(
        "2024-02-29 12:34:56.789123", "0001-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999", "1970-01-01 00:00:00.500",
        "1969-12-31 23:59:59.999999", "2025-11-02 01:30:00.100", "1900-01-01 00:00:00.000100", "2024-12-31 23:59:59.999500", _NULL, _NULL)),
    "ltz": ("TIMESTAMP_LTZ(3)", _instants(
        "2024-02-29 12:34:56.789", "0001-01-03 00:00:00", "9999-12-31 23:59:59.999", "1970-01-01 00:00:00", "2025-03-09 07:30:00",
        "2025-11-02 06:30:00", "1582-10-15 00:00:00", "1969-12-31 23:59:59.999", _NULL, _NULL)),
    "ltz2": ("TIMESTAMP_LTZ(3)", _instants(
        "2024-02-29 12:34:56.790", "1883-11-18 17:00:00", "2000-02-01 04:59:59.999", "1970-01-31 05:00:00", "2025-03-09 06:59:59.999",
        "2025-11-02 05:30:00", "1582-10-04 10:10:10", _NULL, "2026-01-01 04:59:59.500", _NULL)),
    "ai": ("ARRAY<INT>", ([1, 2, 3], [], [None], [2147483647, -2147483648, 0], [3, 1, None, 3], [5], [-1, -1, 2], _NULL, [9, 9], _NULL)),
    "as_": ("ARRAY<STRING>", (["a", "b", "c"], [], ["", None, "x"], ["😀", "a"], ["b", "a", "b", None], ["only"], [" a ", ""], ["z"], _NULL, _NULL)),
    "m": ("MAP<STRING, INT>", ({"a": 1, "b": 2}, {}, {"": 0}, {"k": None}, {"😀": 3}, {"a": -1}, {"b": 5, "c": 6}, _NULL, {"a": 2147483647}, _NULL)),
    "r": ("ROW<`a` INT, `b` STRING, `n` ROW<`x` DOUBLE>>", (
        _row(7, "x", {"x": 1.5}), _row(-2147483648, "", {"x": -0.0}), _row(2147483647, " ", {"x": _INF}), _row(0, None, {"x": None}),
        _row(None, "y", None), _row(1, "😀", {"x": math.nan}), _row(None, None, None), _NULL, _row(9, "z", {"x": 9.5}), _NULL)),
    "js": ("STRING", (
        '{"a": 1, "b": "text", "c": [1, 2, {"d": null}], "e": {"f": 2.50, "g h": true}}', "{}", '[1, "two", null, true, [3]]',
        "not json", '"scalar"', '{"a": "1", "a": 2, "b": 12345678901234567890}',
        '{"a": null, "b": true, "c": 1e2, "u": "\\u00e9\\n/\\ud83d\\ude00"}', '{"a": 1', ' {"a": {"b": [[]]}, "c": []} ', _NULL)),
    "url": ("STRING", (
        "http://user:pw@example.com:8080/path/a.html?k1=v1&k2=v%202&k1=z#frag", "https://example.org", "", "a b&c=d/é?+%",
        "ftp://[::1]/x;y", "%41%zz", "http://example.com/p?empty=&novalue&a.b=1", "not a url", _NULL, _NULL)),
    "num": ("STRING", ("42", " 42 ", "-1.5", "", "abc", "1e3", "+7", "9223372036854775808", "127.99", _NULL)),
    "tst": ("STRING", (
        "2024-02-29 12:34:56", "2024-02-29", "2024-02-30 00:00:00", "", "2025-03-09 02:30:00.123456789", "2025-11-02T01:30:00Z",
        "12:34:56", " 2024-02-29 12:34:56 ", "2024-1-2 3:4:5", _NULL)),
}
# fmt: on


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTable:
    """The table `t`.

    Attributes:
        names: Its columns'.
        types: Their types in Flink's SQL, all nullable.
        rows: Plain Python values in the order of the columns: a TIMESTAMP is a datetime without a zone, a TIMESTAMP_LTZ
            one in UTC, a ROW and a MAP a dict.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def input_table() -> InputTable:
    """Return the table `t`; its first column `k` counts the rows from 1, `g` is a nullable key of groups."""
    return InputTable(
        names=tuple(_COLUMNS),
        types=tuple(name for name, _ in _COLUMNS.values()),
        rows=tuple(zip(*(values for _, values in _COLUMNS.values()), strict=True)),
    )


def json_lines(table: InputTable) -> str:
    """Return the rows as Flink's format json reads them with ISO-8601 timestamps, a row a line."""
    lines = []
    for row in table.rows:
        fields = {name: _json(value) for name, value in zip(table.names, row, strict=True)}
        lines.append(json.dumps(fields))
    return "".join(f"{line}\n" for line in lines)


def _json(value: Any) -> Any:
    """Return a value that json.dumps writes as Flink reads it: numbers that JSON has not are texts."""
    if isinstance(value, dict):
        return {name: _json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_json(inner) for inner in value]
    if isinstance(value, dt.datetime):
        zone = "" if value.tzinfo is None else "Z"
        return value.replace(tzinfo=None).isoformat() + zone
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, float):
        return {_INF: "Infinity", -_INF: "-Infinity"}.get(value, "NaN" if math.isnan(value) else value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return f"{value:f}" if isinstance(value, Decimal) else value


def plain_rows(table: InputTable) -> list[list[Any]]:
    """Return the rows in the form that answers have, as `java_values` describes it."""
    return [[_plain(value, kind) for value, kind in zip(row, table.types, strict=True)] for row in table.rows]


def _plain(value: Any, kind: str) -> Any:
    if isinstance(value, list):
        return [_plain(inner, "") for inner in value]
    if isinstance(value, dict):
        fields = {name: _plain(inner, "") for name, inner in value.items()}
        return sorted(map(list, fields.items())) if kind.startswith("MAP") else fields
    if isinstance(value, dt.datetime):
        day, _, clock = value.replace(tzinfo=None).isoformat().partition("T")
        seconds, dot, fraction = clock.partition(".")
        return f"{day}T{seconds}{(dot + fraction).rstrip('0')}{'' if value.tzinfo is None else 'Z'}"
    return _plain_scalar(value, kind)


def _plain_scalar(value: Any, kind: str) -> Any:
    if isinstance(value, float):
        return repr(float(str(np.float32(value)))) if kind == "FLOAT" else repr(value)
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else _scalar(value)
