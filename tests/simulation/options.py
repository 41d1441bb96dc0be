"""What one simulated source is set to."""

from __future__ import annotations

from dataclasses import dataclass, fields

from datasources.source.api.abilities import (
    Alignment,
    LateRows,
    NullRowtime,
    ProcessingTime,
    ScanStrategy,
    WatermarkParams,
)
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.source.checkpoint.offset import Identity
from datasources.source.planning.planner import PlannerSettings
from tests.simulation.splits import TimeColumn
from watermark import EmitStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of one source; durations in ms."""

    emit: EmitStrategy = EmitStrategy.ON_EVENT
    idle_timeout_ms: int = 0
    late_rows: LateRows = LateRows.KEEP
    null_rowtime: NullRowtime = NullRowtime.KEEP
    alignment: Alignment | None = None
    advances_when_idle: bool = False
    processing_time: ProcessingTime = ProcessingTime.NEVER
    max_ahead_ms: int = 0
    delay_ms: int = 0
    chunk_rows: int = 4
    max_tasks: int | None = None
    is_bounded: bool = False
    is_compacted: bool = False
    gate: LoadGateSettings | None = None
    load: LoadSettings | None = None

    def __str__(self) -> str:
        usual = SourceOptions()
        changed = {
            f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != getattr(usual, f.name)
        }
        return ", ".join(f"{name}={getattr(value, 'value', value)}" for name, value in changed.items())

    @property
    def params(self) -> WatermarkParams:
        return WatermarkParams(
            emit=self.emit,
            idle_timeout_ms=self.idle_timeout_ms,
            null_rowtime=self.null_rowtime,
            max_ahead_ms=self.max_ahead_ms,
            late_rows=self.late_rows,
            alignment=self.alignment,
            advances_when_idle=self.advances_when_idle,
            processing_time=self.processing_time,
        )

    def strategy(self) -> ScanStrategy:
        return ScanStrategy(rowtime=TimeColumn("rowtime"), watermark=TimeColumn("candidate"), params=self.params)

    def settings(self, name: str) -> PlannerSettings:
        return PlannerSettings(
            identity=Identity(strategy="s", schema="x", subscription=name),
            has_watermark=True,
            watermark=self.params,
            poll_interval_ms=0,
            fail_on_data_loss=False,
            gate=self.gate,
            load=self.load,
        )
