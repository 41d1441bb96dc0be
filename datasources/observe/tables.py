"""The tables that are shown, their required fields, and the order of their splits by urgency.

A table is a dict of JSON primitives per live source run; times are ms since the epoch, None = none or not known. It was
made in another process: one that lacks something is left out whole, and does not end what shows the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from datasources.task_counters import TASK_COUNTERS

Table = dict[str, Any]
Tables = Callable[[], list[Table]]

STATUSES: Final = ("active", "paused", "idle", "finished")
END_OF_TIME_MS: Final = 253_402_300_799_999
"""The watermark of a finished source: 9999-12-31T23:59:59.999Z."""

_ORDER: Final = {"active": 0, "paused": 0, "idle": 1, "finished": 2}
_OTHER: Final = 1
_MISSING: Final = object()
_COUNTERS: Final = tuple(each.key for each in TASK_COUNTERS)
_LATE: Final = ("late_rows", "max_lateness_ms")
_TABLE_FIELDS: Final = {
    **dict.fromkeys(("source", "name", "status"), str),
    **dict.fromkeys(("query", "group"), str | None),
    **dict.fromkeys(("time", "batch", "split_count", "unanswered_splits", *_LATE, *_COUNTERS), int),
    **dict.fromkeys(("watermark", "max_allowed"), int | None),
    **dict.fromkeys(("minOffsetsBehindLatest", "maxOffsetsBehindLatest"), int | None),
    "avgOffsetsBehindLatest": float | None,
    "splits": list,
}
_SNAPSHOT_FIELDS: Final = {
    "status": str,
    "table": str | None,
    **dict.fromkeys(("chunks", "chunks_estimated", "rows", "rows_estimated", "rows_per_second"), int),
    "seconds_left": int | None,
}
_LOG_FIELDS: Final = dict.fromkeys(("unread_age_ms", "retention_ms"), int | None)
_COMMIT_FIELDS: Final = dict.fromkeys(("commitsSucceeded", "commitsFailed"), int)
_LOAD_GATE_FIELDS: Final = {"status": str, "since": int, "released": int | None, "builds": list}
_BUILD_FIELDS: Final = {
    **dict.fromkeys(("name", "status"), str),
    **dict.fromkeys(("since", "unread"), int | None),
    "snapshot": dict | None,
}
_LOAD_FIELDS: Final = {**dict.fromkeys(("name", "status"), str), "since": int, "unread": int | None}
_SPLIT_FIELDS: Final = {
    **dict.fromkeys(("split", "status"), str),
    **dict.fromkeys((*_LATE, "dead_letters"), int),
    **dict.fromkeys(("position", "lag", "watermark", "watermark_lag"), int | None),
    **dict.fromkeys(("idle_since", "paused_since", "unanswered_since", "drift"), int | None),
    "unanswered_reason": str | None,
}


def is_well_formed(table: Table) -> bool:
    """Return whether a table, its splits, and what else it may have, have every field, of the right type."""
    return (
        _has(table, _TABLE_FIELDS)
        and ("snapshot" not in table or _has(table["snapshot"], _SNAPSHOT_FIELDS))
        and ("log" not in table or _has(table["log"], _LOG_FIELDS))
        and ("commitsSucceeded" not in table or _has(table, _COMMIT_FIELDS))
        and ("load" not in table or _has(table["load"], _LOAD_FIELDS))
        and ("hold" not in table or _is_load_gate(table["hold"]))
        and all(_has(split, _SPLIT_FIELDS) for split in table["splits"])
    )


def is_counted(split: Table) -> bool:
    """Return whether a split takes part in the combined watermark: it is neither idle nor finished."""
    return _ORDER.get(split["status"], _OTHER) == 0


def is_purge_near(table: Table) -> bool:
    """Return whether the oldest unread transaction is older than half of the time that the server keeps its log."""
    log = table.get("log")
    return log is not None and 0 < (log["retention_ms"] or 0) < 2 * (log["unread_age_ms"] or 0)


def worst_first(splits: Iterable[Table]) -> list[Table]:
    """Return the splits in the order in which they hold the source back.

    Splits that count come first, the one without a watermark or with the lowest one leading; of equal ones that with
    more unread rows. Idle splits follow, then finished ones.
    """
    return sorted(splits, key=_badness)


def counts_by_status(splits: Iterable[Table]) -> dict[str, int]:
    """Return how many splits have each status, in the order of `STATUSES`; a status without splits is left out."""
    counts = Counter(split["status"] for split in splits)
    known = {status: counts.pop(status) for status in STATUSES if status in counts}
    return known | dict(sorted(counts.items()))


def _has(row: object, fields: Mapping[str, Any]) -> bool:
    return isinstance(row, dict) and all(isinstance(row.get(key, _MISSING), kind) for key, kind in fields.items())


def _is_load_gate(found: object) -> bool:
    return _has(found, _LOAD_GATE_FIELDS) and isinstance(found, dict) and all(map(_is_build, found["builds"]))


def _is_build(found: object) -> bool:
    if not _has(found, _BUILD_FIELDS) or not isinstance(found, dict):
        return False
    return found["snapshot"] is None or _has(found["snapshot"], _SNAPSHOT_FIELDS)


def _badness(split: Table) -> tuple[int, bool, int, int, str]:
    watermark = split["watermark"]
    order = _ORDER.get(split["status"], _OTHER)
    return order, watermark is not None, watermark or 0, -(split["lag"] or 0), split["split"]
