"""The options that every source shares: admission, the watermark strategy, what the session says."""

from __future__ import annotations

import enum

from pydantic import Field, model_validator

from datasources.options import DurationMs, OptionGroup
from datasources.source.abilities import NullRowtime
from watermark import EmitStrategy

__all__ = ["OnChange", "ScanOptions", "SessionOptions", "WatermarkOptions"]


class OnChange(enum.Enum):
    """What a changed strategy, schema or subscription means on restart."""

    FAIL = "fail"
    CONTINUE = "continue"


class WatermarkOptions(OptionGroup):
    """The watermark strategy. Without `watermark.for` a source has no hidden columns and no watermark."""

    rowtime: str | None = Field(
        None,
        alias="watermark.for",
        description="The time attribute: a TIMESTAMP or TIMESTAMP_NTZ column, nested ones with dots.",
    )
    expression: str | None = Field(
        None,
        alias="watermark.as",
        description="The watermark of a row as a Spark SQL expression over its columns, for example "
        "`ts - INTERVAL '5' SECOND`; BIGINT results are epoch milliseconds, null means none.",
    )
    emit: EmitStrategy = Field(
        EmitStrategy.ON_PERIODIC,
        alias="scan.watermark.emit.strategy",
        description="`on-periodic`: stamps move from batch to batch. `on-event`: at every row.",
    )
    interval_ms: DurationMs = Field(
        200,
        alias="pipeline.auto-watermark-interval",
        description="Lower bound of the heartbeat interval; 0 means on-event.",
    )
    idle_timeout_ms: DurationMs | None = Field(
        None,
        alias="scan.watermark.idle-timeout",
        description="A split that has been caught up for this long no longer holds the watermark; 0 = never idle, "
        "also where the global option is set.",
    )
    global_idle_timeout_ms: DurationMs = Field(
        0,
        alias="table.exec.source.idle-timeout",
        description="The idle timeout of sources that set none; 0 = off.",
    )
    heartbeat_interval_ms: DurationMs | None = Field(
        None,
        alias="scan.watermark.heartbeat-interval",
        description="At most how often a batch without data carries a watermark that moved by time alone. "
        "Default: the larger of 1 s and pipeline.auto-watermark-interval.",
    )
    null_rowtime: NullRowtime = Field(
        NullRowtime.KEEP,
        alias="watermark.null-rowtime",
        description="A row without a rowtime is kept, dropped, or stops the query; it never moves the watermark.",
    )
    max_ahead_ms: DurationMs = Field(
        86_400_000,
        alias="watermark.max-ahead",
        description="A candidate further ahead of the driver's clock does not move the watermark; 0 = no bound.",
    )
    dedup_horizon_ms: DurationMs | None = Field(
        None,
        alias="watermark.dedup-horizon",
        description="How long dropDuplicatesWithinWatermark remembers a key where the expression has no constant "
        "bound. Where it is `col - INTERVAL c` the horizon is c.",
    )
    on_change: OnChange = Field(
        OnChange.FAIL,
        alias="watermark.on-change",
        description="Whether a restart with another strategy, schema or subscription fails or continues.",
    )

    @model_validator(mode="after")
    def _pairs(self) -> WatermarkOptions:
        if (self.rowtime is None) != (self.expression is None):
            given, missing = ("for", "as") if self.rowtime is not None else ("as", "for")
            raise ValueError(f"option 'watermark.{given}' needs 'watermark.{missing}' beside it.")
        if self.rowtime is None:
            needs = sorted(
                str(field.alias)
                for name, field in type(self).model_fields.items()
                if name in self.model_fields_set and name not in _HARMLESS_WITHOUT_WATERMARK
            )
            if needs:
                raise ValueError(
                    f"option '{needs[0]}' has no effect without a watermark: set 'watermark.for' and 'watermark.as'."
                )
        return self

    @property
    def emit_strategy(self) -> EmitStrategy:
        """The effective strategy: an interval of 0 means on-event (FLIP-66)."""
        return EmitStrategy.ON_EVENT if self.interval_ms == 0 else self.emit

    @property
    def effective_idle_timeout_ms(self) -> int:
        """The source's own timeout if set, 0 included, else the global one."""
        return self.global_idle_timeout_ms if self.idle_timeout_ms is None else self.idle_timeout_ms

    @property
    def effective_heartbeat_interval_ms(self) -> int:
        """The heartbeat interval, at least the watermark interval."""
        if self.heartbeat_interval_ms is not None:
            return self.heartbeat_interval_ms
        return max(1_000, self.interval_ms)


# Options that may come from the session for all of its sources, and the one about checkpoints.
_HARMLESS_WITHOUT_WATERMARK = {"interval_ms", "global_idle_timeout_ms", "on_change"}


class ScanOptions(OptionGroup):
    """How much a batch reads."""

    max_rows: int | None = Field(
        None,
        alias="scan.max-rows-per-batch",
        description="The most rows of one batch over all splits. Same as maxOffsetsPerTrigger.",
        gt=0,
    )
    max_offsets: int | None = Field(
        None,
        alias="maxOffsetsPerTrigger",
        description="Spark's name for scan.max-rows-per-batch.",
        gt=0,
    )

    @model_validator(mode="after")
    def _one_name(self) -> ScanOptions:
        if self.max_rows is not None and self.max_offsets is not None:
            raise ValueError("options 'scan.max-rows-per-batch' and 'maxOffsetsPerTrigger' mean the same: set one.")
        return self

    @property
    def max_rows_per_batch(self) -> int | None:
        """The bound under either name; None = everything that is there."""
        return self.max_offsets if self.max_rows is None else self.max_rows


class SessionOptions(OptionGroup):
    """What the session says; filled in by register() and read_stream()."""

    time_zone: str | None = Field(
        None,
        alias="scan.session.time-zone",
        description="The zone of text without one, in records and in expressions. Default: the session's zone.",
    )
    ansi: bool | None = Field(
        None,
        alias="scan.session.ansi",
        description="Whether expressions fail as under spark.sql.ansi.enabled. Default: the session's flag.",
    )
