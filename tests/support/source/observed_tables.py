"""Tables of sources as the coordinator hands them out, written by hand: what the page and the metrics show."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["NOW_MS", "ScriptedTables", "hold", "load", "log", "snapshot", "split", "table"]

NOW_MS: Final = 1_760_000_000_000
"""2025-10-09T08:53:20.000Z"""


def split(name: str, **changes: Any) -> dict[str, Any]:
    """Return the row of one split; `watermark_lag` follows from the watermark."""
    row = {
        "split": name,
        "position": 1_234,
        "lag": 0,
        "watermark": NOW_MS - 5_000,
        "status": "active",
        "idle_since": None,
        "paused_since": None,
        "unanswered_since": None,
        "unanswered_reason": None,
        "drift": None,
        "late_rows": 0,
        "max_lateness_ms": 0,
        "dead_letters": 0,
        **changes,
    }
    row.setdefault("watermark_lag", None if row["watermark"] is None else NOW_MS - row["watermark"])
    return row


def table(*splits: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the table of one source with these splits."""
    return {
        "source": "run-1",
        "name": "topic orders",
        "query": "6c1f2a",
        "group": None,
        "time": NOW_MS,
        "batch": 17,
        "watermark": NOW_MS - 5_000,
        "status": "active",
        "max_allowed": None,
        "late_rows": 0,
        "max_lateness_ms": 0,
        "null_rowtime_rows": 0,
        "ahead_rows": 0,
        "bad_records": 0,
        "dead_letters": 0,
        "null_values": 0,
        "lost_positions": 0,
        "split_count": len(splits),
        "unanswered_splits": 0,
        "minOffsetsBehindLatest": 0,
        "maxOffsetsBehindLatest": 0,
        "avgOffsetsBehindLatest": 0.0,
        "splits": list(splits),
        **changes,
    }


def snapshot(**changes: Any) -> dict[str, Any]:
    """Return how far a source came that reads tables."""
    return {
        "status": "running",
        "table": "shop.orders",
        "chunks": 12,
        "chunks_estimated": 40,
        "rows": 600_000,
        "rows_estimated": 2_000_000,
        "rows_per_second": 55_000,
        "seconds_left": 25,
        **changes,
    }


def log(**changes: Any) -> dict[str, Any]:
    """Return how far a source is from where its server purges."""
    return {"unread_age_ms": 100_000_000, "retention_ms": 172_800_000, **changes}


def hold(*builds: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return for whom a source waits; a build that is not given is being loaded."""
    build = {"name": "rates", "status": "loading", "since": NOW_MS - 9_000, "unread": 0, "snapshot": snapshot()}
    return {
        "status": "waiting",
        "since": NOW_MS - 9_000,
        "released": None,
        "builds": list(builds) or [build],
        **changes,
    }


def load(**changes: Any) -> dict[str, Any]:
    """Return that others wait for a source."""
    return {"name": "rates", "status": "loading", "since": NOW_MS - 9_000, "unread": 1_200, **changes}


class ScriptedTables:
    """The callable that an observer asks; a test changes what it answers."""

    def __init__(self, *tables: dict[str, Any]) -> None:
        self.tables = list(tables)
        self.calls = 0

    def __call__(self) -> list[dict[str, Any]]:
        """Return what was set last."""
        self.calls += 1
        return list(self.tables)
