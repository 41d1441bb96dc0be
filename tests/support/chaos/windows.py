"""The windows that a recorded query emitted."""

from __future__ import annotations

from typing import Any

from tests.support.spark.recording import QueryDirectory

__all__ = ["emitted_windows"]

Window = tuple[int, int]


def emitted_windows(recording: QueryDirectory) -> dict[int, Window]:
    """Return count and sum of every emitted window by its start, epoch ms.

    Raises:
        AssertionError: two attempts at one batch differ, or a window was emitted in two batches.
    """
    found: dict[int, Window] = {}
    for batch, attempts in sorted(recording.stored().items()):
        first, *others = [_windows(rows) for rows in attempts]
        for other in others:
            assert other == first, f"batch {batch} was read again and differs: {first} became {other}"
        twice = found.keys() & first.keys()
        assert not twice, f"batch {batch} emits windows {sorted(twice)} a second time"
        found |= first
    return found


def _windows(rows: list[dict[str, Any]]) -> dict[int, Window]:
    return {row["start"]: (row["n"], row["total"]) for row in rows}
