"""What was pushed into a scan, as JSON: the abilities of Flink's compiled plan, under its names."""

from __future__ import annotations

from typing import Any

from datasources.sql.planner.scan_options import watermark_options
from datasources.sql.planner.tree import Attribute, TableScan


def abilities_of(scan: TableScan) -> list[dict[str, Any]]:
    """Return what was pushed into a scan, as JSON primitives: watermarks of its reader, and aggregates."""
    watermarks = [
        {"type": "SourceWatermark", "sourceWatermarkEnabled": True, "producedType": _produced_type(scan)}
        if attribute.is_source_watermark
        else _push_down(scan, attribute)
        for attribute in scan.attributes
    ]
    pushed = scan.aggregation
    if pushed is None or pushed.reason:
        return watermarks
    aggregates = {
        "type": "AggregatePushDown",
        "grouping": list(pushed.groups),
        "aggregateCalls": list(pushed.aggregates),
    }
    return [*watermarks, aggregates]


def _push_down(scan: TableScan, attribute: Attribute) -> dict[str, Any]:
    """Return a pushed watermark with FLIP-296's options; an idle timeout of -1: the session or the table sets none."""
    options = watermark_options(scan)
    align = options.alignment
    return {
        "type": "WatermarkPushDown",
        "watermarkExpr": attribute.expression,
        "rowtimeExpr": attribute.rowtime,
        "idleTimeoutMillis": options.global_idle_timeout_ms or -1,
        "producedType": _produced_type(scan),
        "watermarkParams": {
            "emitStrategy": options.emit_strategy.name,
            "alignGroupName": None if align is None else align.group,
            "alignMaxDrift": _iso(0 if align is None else align.max_drift_ms),
            "alignUpdateInterval": _iso(1_000 if align is None else align.update_interval_ms),
            "sourceIdleTimeout": -1 if options.idle_timeout_ms is None else options.idle_timeout_ms,
        },
    }


def _produced_type(scan: TableScan) -> str:
    return ", ".join(f"{column.name} {column.spark_type}" for column in scan.columns)


def _iso(ms: int) -> str:
    seconds, rest = divmod(ms, 1_000)
    return f"PT{seconds}.{rest:03d}S".replace(".000S", "S")
