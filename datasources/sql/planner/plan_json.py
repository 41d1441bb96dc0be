"""What was pushed into a scan, as JSON: the abilities of Flink's compiled plan, under its names (semantics S2).

Written plans hold everything; a plan without `watermarkParams`, as it was written before FLIP-296, still loads:
on-periodic, no alignment, the global idle timeout. Unknown fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from datasources.durations import parse_duration_ms
from datasources.errors import SqlError
from datasources.sql.planner.scan_options import watermark_options
from datasources.sql.planner.tree import TableScan

__all__ = [
    "SourceWatermarkAbility",
    "WatermarkParams",
    "WatermarkPushDown",
    "abilities_of",
    "load_abilities",
    "to_json",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkParams:
    """FLIP-296's options of a pushed watermark. Durations in ms; `idle_timeout_ms` -1 = the table sets none."""

    emit_strategy: str = "ON_PERIODIC"
    align_group_name: str | None = None
    align_max_drift_ms: int = 0
    align_update_interval_ms: int = 1_000
    source_idle_timeout_ms: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkPushDown:
    """A watermark that the source's reader makes.

    Attributes:
        watermark: the expression over the scan's columns.
        rowtime: the time attribute over the scan's columns.
        idle_timeout_ms: the global idle timeout, ms; -1 = off.
        produced_type: the scan's columns as Spark DDL.
        params: FLIP-296's options.
    """

    watermark: str
    rowtime: str
    idle_timeout_ms: int = -1
    produced_type: str = ""
    params: WatermarkParams = field(default_factory=WatermarkParams)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWatermarkAbility:
    """A watermark that the source brings along."""

    produced_type: str = ""


Ability = WatermarkPushDown | SourceWatermarkAbility


def abilities_of(scan: TableScan) -> tuple[Ability, ...]:
    """Return what was pushed into a scan."""
    produced = ", ".join(f"{c.name} {c.spark_type}" for c in scan.columns)
    options = watermark_options(scan)
    align = options.alignment
    own_idle_ms = options.idle_timeout_ms
    params = WatermarkParams(
        emit_strategy=options.emit_strategy.name,
        align_group_name=None if align is None else align.group,
        align_max_drift_ms=0 if align is None else align.max_drift_ms,
        align_update_interval_ms=1_000 if align is None else align.update_interval_ms,
        source_idle_timeout_ms=-1 if own_idle_ms is None else own_idle_ms,
    )
    return tuple(
        SourceWatermarkAbility(produced_type=produced)
        if a.is_source_watermark
        else WatermarkPushDown(
            watermark=a.expression,
            rowtime=a.rowtime,
            idle_timeout_ms=options.global_idle_timeout_ms or -1,
            produced_type=produced,
            params=params,
        )
        for a in scan.attributes
    )


def to_json(abilities: tuple[Ability, ...]) -> list[dict[str, Any]]:
    """Return JSON primitives."""
    return [_ability_json(ability) for ability in abilities]


def load_abilities(text: str) -> tuple[Ability, ...]:
    """Read abilities back.

    Raises:
        SqlError: the text is no JSON, or no list of abilities.
    """
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise SqlError(f"the plan is no JSON: {error}.") from None
    if not isinstance(raw, list) or not all(isinstance(item, dict) for item in raw):
        raise SqlError("the plan is no list of abilities: each is an object with a 'type'.")
    return tuple(_load(item) for item in raw)


def _ability_json(ability: Ability) -> dict[str, Any]:
    if isinstance(ability, SourceWatermarkAbility):
        return {"type": "SourceWatermark", "sourceWatermarkEnabled": True, "producedType": ability.produced_type}
    params = ability.params
    return {
        "type": "WatermarkPushDown",
        "watermarkExpr": ability.watermark,
        "rowtimeExpr": ability.rowtime,
        "idleTimeoutMillis": ability.idle_timeout_ms,
        "producedType": ability.produced_type,
        "watermarkParams": {
            "emitStrategy": params.emit_strategy,
            "alignGroupName": params.align_group_name,
            "alignMaxDrift": _iso(params.align_max_drift_ms),
            "alignUpdateInterval": _iso(params.align_update_interval_ms),
            "sourceIdleTimeout": params.source_idle_timeout_ms,
        },
    }


def _load(raw: Mapping[str, Any]) -> Ability:
    kind = raw.get("type")
    if kind == "SourceWatermark":
        return SourceWatermarkAbility(produced_type=str(raw.get("producedType", "")))
    if kind != "WatermarkPushDown" or "watermarkExpr" not in raw:
        raise SqlError(f"the plan has an ability of type '{kind}'; known are WatermarkPushDown and SourceWatermark.")
    return WatermarkPushDown(
        watermark=str(raw["watermarkExpr"]),
        rowtime=str(raw.get("rowtimeExpr") or ""),
        idle_timeout_ms=int(raw.get("idleTimeoutMillis", -1)),
        produced_type=str(raw.get("producedType", "")),
        params=_load_params(raw.get("watermarkParams") or {}),
    )


def _load_params(raw: Mapping[str, Any]) -> WatermarkParams:
    return WatermarkParams(
        emit_strategy=str(raw.get("emitStrategy", "ON_PERIODIC")),
        align_group_name=raw.get("alignGroupName"),
        align_max_drift_ms=_ms(str(raw.get("alignMaxDrift", "PT0S"))),
        align_update_interval_ms=_ms(str(raw.get("alignUpdateInterval", "PT1S"))),
        source_idle_timeout_ms=int(raw.get("sourceIdleTimeout", -1)),
    )


def _iso(ms: int) -> str:
    seconds, rest = divmod(ms, 1_000)
    return f"PT{seconds}.{rest:03d}S".replace(".000S", "S")


def _ms(text: str) -> int:
    return parse_duration_ms(text, key="watermarkParams")
