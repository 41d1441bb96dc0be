"""Flink's OVER operators, record by record and timer by timer: what the engine is compared with. Times in ms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverRule, Unit

__all__ = ["MS", "OverRecord", "OverResult", "over_model"]

MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRecord:
    """A row: its number, key, time, the watermark before it (None = none yet) and its values by column."""

    id: int
    key: Any
    ts: int
    watermark: int | None
    values: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class OverResult:
    """Rows as they left, (id, results...), and the ids of late rows."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    late: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Key:
    """A key's state: rows that wait by time, rows that fired, timers, when it last fired, its last clean-up timer."""

    waiting: dict[int, list[OverRecord]] = field(default_factory=dict)
    fired: list[OverRecord] = field(default_factory=list)
    timers: set[int] = field(default_factory=set)
    last: int | None = None
    cleanup: int | None = None


def over_model(rule: OverRule, records: Iterable[OverRecord], final: int | None) -> OverResult:
    """Return what leaves up to the watermark `final`; every row is judged by its own row watermark."""
    model = _Model(rule)
    for record in records:
        model.advance_to(record.watermark)
        model.take(record)
    model.advance_to(final)
    return model.result


class _Model:
    def __init__(self, rule: OverRule) -> None:
        self.result = OverResult()
        self._rule = rule
        self._ttl = None if rule.ttl_us is None else rule.ttl_us // MS
        self._preceding = rule.frame.preceding
        if rule.frame.unit is Unit.RANGE and self._preceding is not None:
            self._preceding //= MS
        self._has_cleanup = rule.frame.unit is Unit.RANGE and rule.frame.is_bounded
        self._keys: dict[Any, _Key] = {}
        self._watermark: int | None = None

    def advance_to(self, watermark: int | None) -> None:
        if watermark is None or (self._watermark is not None and watermark <= self._watermark):
            return
        self._watermark = watermark
        for key in self._keys.values():
            for timer in sorted(at for at in key.timers if at <= watermark):
                key.timers.discard(timer)
                self._fire(key, timer)

    def take(self, record: OverRecord) -> None:
        key = self._keys.setdefault(record.key, _Key())
        if self._rule.is_processing_time:
            key.fired.append(record)
            return self._emit(key, [record])
        if self._is_late(key, record.ts):
            self.result.late.append(record.id)
            return None
        key.waiting.setdefault(record.ts, []).append(record)
        key.timers.add(record.ts)
        if self._has_cleanup and (key.cleanup is None or key.cleanup < record.ts + self._preceding + 1):
            key.cleanup = record.ts + self._preceding * 3 // 2 + 1
            key.timers.add(key.cleanup)
        return None

    def _is_late(self, key: _Key, ts: int) -> bool:
        if not self._rule.frame.is_bounded:
            return self._watermark is not None and ts <= self._watermark
        has_ttl = self._ttl is not None and self._watermark is not None
        if has_ttl and ts <= self._watermark - self._ttl:
            return True
        return key.last is not None and ts <= key.last

    def _fire(self, key: _Key, timer: int) -> None:
        if self._has_cleanup and key.cleanup is not None and key.cleanup <= timer:
            key.fired, key.last, key.cleanup = [], None, None
            assert not key.waiting
            return
        rows = key.waiting.pop(timer, [])
        if self._rule.frame.unit is Unit.RANGE:
            key.fired += rows
            self._emit(key, rows)
        else:
            for row in rows:
                key.fired.append(row)
                self._emit(key, [row])
        key.last = timer

    def _emit(self, key: _Key, rows: Sequence[OverRecord]) -> None:
        for row in rows:
            frame = self._frame(key.fired, row.ts)
            self.result.rows.append((row.id, *(_aggregate(each, frame) for each in self._rule.aggregates)))

    def _frame(self, fired: list[OverRecord], ts: int) -> list[OverRecord]:
        found = list(fired)
        if self._ttl is not None:
            gaps = [at for at in range(1, len(found)) if found[at].ts - found[at - 1].ts > self._ttl]
            found = found[gaps[-1] if gaps else 0 :]
        if self._preceding is None:
            return found
        if self._rule.frame.unit is Unit.ROWS:
            return found[-self._preceding - 1 :]
        return [row for row in found if row.ts >= ts - self._preceding]


def _aggregate(each: OverAggregate, frame: list[OverRecord]) -> Any:
    if each.argument is None:
        return len(frame)
    values = [row.values[each.argument] for row in frame]
    known = [value for value in values if value is not None]
    chosen = known if each.ignores_nulls else values
    found: dict[str, Callable[[], Any]] = {
        "COUNT": lambda: len(known),
        "SUM": lambda: sum(known) if known else None,
        "AVG": lambda: _mean(each, known) if known else None,
        "MIN": lambda: min(known, default=None),
        "MAX": lambda: max(known, default=None),
        "FIRST_VALUE": lambda: chosen[0] if chosen else None,
        "LAST_VALUE": lambda: chosen[-1] if chosen else None,
    }
    return found[each.function]()


def _mean(each: OverAggregate, values: list[Any]) -> Any:
    if not isinstance(values[0], Decimal):
        return sum(values) / len(values)
    exact = Decimal(sum(values)) / len(values)
    return exact.quantize(Decimal(1).scaleb(-each.result_type.scale), rounding=ROUND_HALF_UP)
