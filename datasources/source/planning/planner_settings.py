"""The options of a scan that concern planning."""

from __future__ import annotations

from dataclasses import dataclass

from datasources.source.api.abilities import Alignment, DelaySettings, ProcessingTime
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.source.checkpoint.offset import Identity

__all__ = ["PlannerSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerSettings:
    """The options of a scan that concern planning.

    Attributes:
        identity: what the checkpoint must belong to.
        has_watermark: False for a plain source: no idleness, no heartbeats, no reports.
        idle_timeout_ms: 0 = splits are never idle.
        heartbeat_interval_ms: at most how often time alone may cause a batch.
        max_ahead_ms: bound of candidates beyond the clock; 0 = none.
        alignment: None = the source is not aligned.
        advances_when_idle: whether the watermark goes on with the clock while all splits are idle.
        processing_time: from where the source is in processing time.
        time_type: "instant" or "local": what kind of time the candidates are.
        poll_interval_ms: at most how often the source is asked for its bounds.
        fail_on_data_loss: whether vanished splits and truncated logs stop the query.
        continue_on_change: whether a changed identity is accepted on restart.
        gate: which builds the source waits for before it is read; None = it is not a probe.
        batch_delay: for how many rows a batch waits, and how long; None = it does not.
        load: the build's name and when it is loaded; None = it is not a build.
    """

    identity: Identity
    has_watermark: bool
    idle_timeout_ms: int = 0
    heartbeat_interval_ms: int = 1_000
    max_ahead_ms: int = 0
    alignment: Alignment | None = None
    advances_when_idle: bool = False
    processing_time: ProcessingTime = ProcessingTime.NEVER
    time_type: str = "instant"
    poll_interval_ms: int = 20
    fail_on_data_loss: bool = True
    continue_on_change: bool = False
    gate: LoadGateSettings | None = None
    load: LoadSettings | None = None
    batch_delay: DelaySettings | None = None
