"""How the columns of an offset become JSON: deltas, ranges, and bytes where digits would take too much room.

Theory of operation. Spark writes the offset of every batch into its checkpoint, with three or more characters per
number. A column is written as integers, which people can read, while it is short; beyond that its deltas become
big-endian integers of one width, in base64. So 1,000 splits stay below 64 KB whatever their values are. Everything
here is a bijection, and decoding is strict: what no encoder wrote is a `ValueError`, `TypeError` or `LookupError`.
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watermark import SplitStatus

_READABLE_CHARS = 8_000
_CHARS_BETWEEN = 2  # json.dumps, and so PySpark, writes ", "
_PACKED_PARTS = 3
_NUMBERED = re.compile(r"(.*)-(0|[1-9][0-9]{0,8})", re.DOTALL)
_STATUS_NAMES = {SplitStatus.IDLE: "idle", SplitStatus.PAUSED: "paused", SplitStatus.FINISHED: "finished"}
_STATUSES = {name: status for status, name in _STATUS_NAMES.items()}


def require_int(value: object) -> int:
    """Return `value`, which must be an integer and no truth value.

    Raises:
        ValueError: it is something else.
    """
    if type(value) is not int:
        raise ValueError(f"{value!r} stands where an integer belongs")
    return value


def require_text(value: object) -> str:
    """Return `value`, which must be text.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} stands where text belongs")
    return value


def encode_column(values: Sequence[int | None]) -> list[Any]:
    """Return [base, delta, ...] or, for a long column, [base, width in bytes, base64].

    The base is the smallest value, so that large neighbours cost few characters. None stays null; in the packed form
    it is 0, and a delta is one more than it is.
    """
    base = min((v for v in values if v is not None), default=0)
    deltas = [None if v is None else v - base for v in values]
    if sum(len(str(delta)) + _CHARS_BETWEEN for delta in deltas) <= _READABLE_CHARS:
        return [base, *deltas]
    codes = [0 if delta is None else delta + 1 for delta in deltas]
    width = max(1, (max(codes).bit_length() + 7) // 8)
    packed = b"".join(code.to_bytes(width, "big") for code in codes)
    return [base, width, base64.b64encode(packed).decode()]


def decode_column(raw: Sequence[Any], count: int) -> list[int | None]:
    """Return the `count` values of a column."""
    base = require_int(raw[0])
    if len(raw) == _PACKED_PARTS and isinstance(raw[2], str):
        deltas = _unpack(raw[2], require_int(raw[1]))
    else:
        deltas = [None if delta is None else require_int(delta) for delta in raw[1:]]
    if len(deltas) != count:
        raise ValueError(f"a column has {len(deltas)} values for {count} splits")
    return [None if delta is None else base + delta for delta in deltas]


def _unpack(text: str, width: int) -> list[int | None]:
    packed = base64.b64decode(text, validate=True)
    if width < 1 or len(packed) % width:
        raise ValueError(f"{len(packed)} bytes are no column of width {width}")
    codes = (int.from_bytes(packed[i : i + width], "big") for i in range(0, len(packed), width))
    return [code - 1 if code else None for code in codes]


def split_sort_key(name: str) -> tuple[str, int]:
    """Order of splits in an offset: by group, then by number."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, -1)


def encode_names(names: Sequence[str]) -> list[list[Any]]:
    """Return names "group-number" as ranges of numbers per group, in the given order."""
    encoded: list[list[Any]] = []
    for group, members in itertools.groupby(map(split_sort_key, names), key=lambda key: (key[0], key[1] < 0)):
        numbers = [number for _, number in members]
        encoded.append([group[0], None if group[1] else _ranges(numbers)])
    return encoded


def decode_names(raw: Sequence[Sequence[Any]], max_count: int) -> list[str]:
    """Return the names; at most `max_count`, so that a damaged range cannot fill the memory."""
    names: list[str] = []
    for group, ranges in raw:
        if ranges is None:
            names.append(require_text(group))
            continue
        names.extend(f"{require_text(group)}-{number}" for number in _numbers(ranges, max_count - len(names)))
    if len(set(names)) != len(names):
        raise ValueError("a split is named twice")
    return names


def encode_statuses(statuses: Sequence[SplitStatus]) -> dict[str, list[list[int]]]:
    """Return the index ranges of every status but active."""
    found = {name: _ranges(i for i, s in enumerate(statuses) if s is status) for status, name in _STATUS_NAMES.items()}
    return {name: ranges for name, ranges in sorted(found.items()) if ranges}


def decode_statuses(raw: Mapping[str, Sequence[Sequence[Any]]], count: int) -> list[SplitStatus]:
    """Return the status of each of `count` splits."""
    statuses = [SplitStatus.ACTIVE] * count
    for name, ranges in raw.items():
        for index in _numbers(ranges, count):
            statuses[index] = _STATUSES[name]
    return statuses


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as inclusive ranges in the given order: 0, 1, 2, 5 -> [[0, 2], [5, 5]]."""
    runs = itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    spans = ([number for _, number in run] for _, run in runs)
    return [[span[0], span[-1]] for span in spans]


def _numbers(ranges: Sequence[Sequence[Any]], max_count: int) -> list[int]:
    numbers: list[int] = []
    for pair in ranges:
        first, last = map(require_int, pair)
        if not 0 <= first <= last or len(numbers) + last - first >= max_count:
            raise ValueError(f"[{first}, {last}] is no range of this offset")
        numbers.extend(range(first, last + 1))
    return numbers
