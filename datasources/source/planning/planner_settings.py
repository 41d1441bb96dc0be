"""The options of a scan that concern planning."""

from __future__ import annotations

from dataclasses import dataclass, field

from datasources.source.api.abilities import DelaySettings, WatermarkParams
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.source.checkpoint.offset import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerSettings:
    """The options of a scan that concern planning.

    Attributes:
        identity: what the checkpoint must belong to.
        has_watermark: False for a plain source: no idleness, no heartbeats, no reports.
        watermark: the watermark options.
        time_type: "instant" or "local": what kind of time the candidates are.
        poll_interval_ms: at most how often the source is asked for its bounds.
        fail_on_data_loss: whether vanished splits and truncated logs stop the query.
        continue_on_change: whether a changed identity is accepted on restart.
        gate: which builds the source waits for before it is read; None = it is not a probe.
        batch_delay: for how many rows a batch waits, and how long; None = it does not.
        load: the build's name and when it is loaded; None = it is not a build.
        writes_dead_letters: whether tasks write dead letters, for which the offset needs an id.
    """

    identity: Identity
    has_watermark: bool
    watermark: WatermarkParams = field(default_factory=WatermarkParams)
    time_type: str = "instant"
    poll_interval_ms: int = 20
    fail_on_data_loss: bool = True
    continue_on_change: bool = False
    gate: LoadGateSettings | None = None
    load: LoadSettings | None = None
    batch_delay: DelaySettings | None = None
    writes_dead_letters: bool = False
