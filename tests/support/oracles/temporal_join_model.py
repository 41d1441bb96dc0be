"""Temporal joins row by row, as the rule is written: what the operator is compared with.

Event time, per batch: all changes of the build side are noted, late probe rows (ts at or below their own row watermark) are
dropped, the watermark of the join is the smaller one of both sides, and a probe row with a time at or below it leaves
with the newest version of its key at or before its own time, as far as versions are known by then.

Processing time, per batch: the changes first, then each probe row with the latest version of its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Batch", "Change", "JoinEmitted", "Probe", "event_time_model", "processing_time_model", "whole_history"]

Pair = tuple[int, Any]
"""The id of a probe row and the value of the version that it met; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A row of the build side's changelog: times in ms, row watermark None before the first watermark."""

    kind: str
    key: Any
    ts: int | None
    value: Any = None
    watermark: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A row of the probe side."""

    id: int
    key: Any
    ts: int | None
    watermark: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a batch holds: rows in the order of arrival, and each side's watermark after it; None for none."""

    changes: Sequence[Change] = ()
    probes: Sequence[Probe] = ()
    build_watermark: int | None = None
    probe_watermark: int | None = None


@dataclass
class JoinEmitted:
    """What the batches gave, in order, and what was left out or came too late."""

    rows: list[list[Pair]] = field(default_factory=list)
    late_probe_rows: int = 0
    late_build_rows: int = 0
    null_rowtime_rows: int = 0
    null_key_build_rows: int = 0

    @property
    def pairs(self) -> list[Pair]:
        """All rows of all batches."""
        return [pair for rows in self.rows for pair in rows]


@dataclass(frozen=True, slots=True)
class _Version:
    ts: int
    value: Any
    is_there: bool


Condition = Callable[[Probe, Any], bool]


class _History:
    """All versions that are known, by key, each key's sorted by time; of one time the last one counts."""

    def __init__(self) -> None:
        self._versions: dict[Any, list[_Version]] = {}

    def note(self, changes: Iterable[Change], *, timeless: bool = False) -> None:
        for change in changes:
            if change.kind == "T":
                self.note([Change(kind="-D", key=key, ts=change.ts) for key in list(self._versions)], timeless=timeless)
                continue
            ts = 0 if timeless else change.ts
            assert ts is not None
            version = _Version(ts, change.value, change.kind in {"+I", "+U"})
            known = self._versions.setdefault(change.key, [])
            position = sum(1 for other in known if other.ts <= ts)
            known.insert(position, version)

    def at(self, key: Any, ts: int) -> _Version | None:
        before = [version for version in self._versions.get(key, []) if version.ts <= ts]
        return before[-1] if before and before[-1].is_there else None


def _without_replaced(changes: Iterable[Change]) -> list[Change]:
    """Leave out each -U that is directly followed by a +U of its key: the +U says it all, and a -U may carry its time."""
    listed = list(changes)
    kept = []
    for position, change in enumerate(listed):
        following = listed[position + 1 : position + 2]
        is_replaced = any(after.kind == "+U" and after.key == change.key is not None for after in following)
        if change.kind != "-U" or not is_replaced:
            kept.append(change)
    return kept


def _joined(history: _History, probe: Probe, ts: int, *, left: bool, condition: Condition) -> list[Pair]:
    version = None if probe.key is None else history.at(probe.key, ts)
    if version is not None and condition(probe, version.value):
        return [(probe.id, version.value)]
    return [(probe.id, None)] if left else []


def _always(_: Probe, __: Any) -> bool:
    return True


def event_time_model(batches: Iterable[Batch], *, left: bool, condition: Condition = _always) -> JoinEmitted:
    """Return what each batch gives."""
    history, joined = _History(), JoinEmitted()
    pending: list[Probe] = []
    build_watermark: int | None = None
    probe_watermark: int | None = None
    for batch in batches:
        changes = _without_replaced(batch.changes)
        timed = [change for change in changes if change.ts is not None]
        keyed = [change for change in timed if _has_key(change)]
        joined.null_rowtime_rows += len(changes) - len(timed)
        joined.null_key_build_rows += len(timed) - len(keyed)
        joined.late_build_rows += sum(1 for change in keyed if change.kind != "T" and _is_late(change))
        history.note(keyed)
        for probe in batch.probes:
            if probe.ts is None:
                joined.null_rowtime_rows += 1
            elif _is_late(probe):
                joined.late_probe_rows += 1
            else:
                pending.append(probe)
        build_watermark = _later(build_watermark, batch.build_watermark)
        probe_watermark = _later(probe_watermark, batch.probe_watermark)
        rows: list[Pair] = []
        if build_watermark is not None and probe_watermark is not None:
            clock = min(build_watermark, probe_watermark)
            for probe in [probe for probe in pending if probe.ts is not None and probe.ts <= clock]:
                assert probe.ts is not None
                rows += _joined(history, probe, probe.ts, left=left, condition=condition)
                pending.remove(probe)
        joined.rows.append(rows)
    return joined


def whole_history(
    changes: Iterable[Change], probes: Iterable[Probe], clock: int, *, left: bool, condition: Condition = _always
) -> list[Pair]:
    """Return what every cut into batches gives if no change is late: all versions known, each row at its own time."""
    history = _History()
    relevant = _without_replaced(changes)
    history.note(change for change in relevant if change.ts is not None and _has_key(change))
    pairs: list[Pair] = []
    for probe in probes:
        if probe.ts is not None and not _is_late(probe) and probe.ts <= clock:
            pairs += _joined(history, probe, probe.ts, left=left, condition=condition)
    return sorted(pairs)


def processing_time_model(batches: Iterable[Batch], *, left: bool, condition: Condition = _always) -> JoinEmitted:
    """Return what each batch gives: its changes are applied first."""
    history, joined = _History(), JoinEmitted()
    for batch in batches:
        changes = _without_replaced(batch.changes)
        keyed = [change for change in changes if _has_key(change)]
        joined.null_key_build_rows += len(changes) - len(keyed)
        history.note(keyed, timeless=True)
        rows: list[Pair] = []
        for probe in batch.probes:
            rows += _joined(history, probe, 0, left=left, condition=condition)
        joined.rows.append(rows)
    return joined


def _has_key(change: Change) -> bool:
    return change.kind == "T" or change.key is not None


def _is_late(row: Change | Probe) -> bool:
    return row.watermark is not None and row.ts is not None and row.ts <= row.watermark


def _later(before: int | None, now: int | None) -> int | None:
    known = [watermark for watermark in (before, now) if watermark is not None]
    return max(known, default=None)
