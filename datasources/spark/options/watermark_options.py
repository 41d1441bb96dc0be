"""The options of the watermark strategy."""

from __future__ import annotations

import enum

from pydantic import Field, model_validator

from datasources.options import DurationMs, OptionGroup
from datasources.source.api.abilities import Alignment, LateRows, NullRowtime, ProcessingTime, WatermarkParams
from watermark import EmitStrategy

GLOBAL_OPTIONS = (
    "table.exec.source.idle-timeout",
    "pipeline.auto-watermark-interval",
    "pipeline.watermark-alignment.allow-unaligned-source-splits",
)
"""Options that the session may set for all sources that set none."""


class AllIdle(enum.Enum):
    """What the watermark does while all splits of a source are idle."""

    HOLD = "hold"
    PROCESSING_TIME = "processing-time"


class OnChange(enum.Enum):
    """What a changed strategy, schema or subscription means on restart."""

    FAIL = "fail"
    CONTINUE = "continue"


class WatermarkOptions(OptionGroup):
    """The watermark strategy. Without `watermark.for` a source has no hidden columns and no watermark."""

    rowtime: str | None = Field(
        None,
        alias="watermark.for",
        description="The time attribute: a TIMESTAMP or TIMESTAMP_NTZ column, nested ones with dots; with "
        "`watermark.rowtime` the name of a column that is computed above the scan. Further attributes are "
        "`watermark.1.for`, `watermark.1.as`, `watermark.1.rowtime`, `watermark.2.for` and so on: the watermark is "
        "then the minimum over the watermarks of all, and a row is late if it is late for one.",
    )
    rowtime_expression: str | None = Field(
        None,
        alias="watermark.rowtime",
        description="The rowtime as a Spark SQL expression over the scan's columns, for an attribute that is computed "
        "above the scan, for example `ts + INTERVAL '5' SECOND`. Late and null rowtimes are determined by it.",
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
        description="`on-periodic`: row watermarks advance from batch to batch. `on-event`: at every row.",
    )
    interval_ms: DurationMs = Field(
        200,
        alias="pipeline.auto-watermark-interval",
        description="Lower bound of the heartbeat interval; 0 means on-event.",
    )
    idle_timeout_ms: DurationMs | None = Field(
        None,
        alias="scan.watermark.idle-timeout",
        description="A split that has been caught up for this long no longer holds back the watermark; 0 = never idle, "
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
    alignment_group: str | None = Field(
        None,
        alias="scan.watermark.alignment.group",
        description="Sources of the application that name the same group do not run ahead of each other by more than "
        "their max-drift, nor do the splits of one source. Needs max-drift.",
    )
    max_drift_ms: DurationMs | None = Field(
        None,
        alias="scan.watermark.alignment.max-drift",
        description="No record is read whose candidate is more than this beyond the next unread record of the "
        "group's slowest split that is not idle. 0 is allowed: no split is ahead.",
    )
    update_interval_ms: DurationMs | None = Field(
        None,
        alias="scan.watermark.alignment.update-interval",
        description="At least how often a source renews its lease in the group, also during a long batch; every "
        "planning asks for the group's bound anyway. Default 1 s; 0 is an error.",
    )
    allows_unaligned_splits: bool = Field(
        False,
        alias="pipeline.watermark-alignment.allow-unaligned-source-splits",
        description="With an alignment group: only the source as a whole waits, its splits are not aligned.",
    )
    late_rows: LateRows = Field(
        LateRows.KEEP,
        alias="watermark.late-rows",
        description="A row at or before its row watermark is always counted; `keep` leaves it to Spark's operators, "
        "`drop` leaves it out, `mark` sets a column `_late`, `dead-letter` leaves it out and writes its record to "
        "`format.dead-letter.topic` (Kafka only). `drop` and `dead-letter` are exact, so they need on-event emission, "
        "which is then the default.",
    )
    all_idle: AllIdle = Field(
        AllIdle.HOLD,
        alias="watermark.all-idle",
        description="While all splits are idle the watermark stays (`hold`) or advances at the clock's pace "
        "(`processing-time`), which needs an idle timeout.",
    )
    processing_time: ProcessingTime = Field(
        ProcessingTime.NEVER,
        alias="watermark.processing-time",
        description="From where the source is in processing time, where its watermark follows the driver's clock, or "
        "the query's event-time sources while one is active: `never`, `after-backlog` (the rows available at the start "
        "of the query are read in event time first), `always`. There is no way back. Needs a TIMESTAMP attribute. With "
        "`always` and without `watermark.as` the attribute is a column that is computed above the scan, and no row has "
        "an event time.",
    )
    max_ahead_ms: DurationMs = Field(
        86_400_000,
        alias="watermark.max-ahead",
        description="A candidate more than this ahead of the driver's clock does not move the watermark; 0 = no bound.",
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
        if self.is_clock_only:
            self._require_clock_only()
        elif (self.rowtime is None) != (self.expression is None):
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

    @model_validator(mode="after")
    def _alignment(self) -> WatermarkOptions:
        given = [name for name in _ALIGNMENT if name in self.model_fields_set]
        missing = [name for name in _ALIGNMENT[:2] if getattr(self, name) is None]
        if given and missing:
            alias = {name: type(self).model_fields[name].alias for name in (*given, *missing)}
            needs = " and ".join(f"'{alias[name]}'" for name in missing)
            raise ValueError(f"option '{alias[given[0]]}' needs {needs} beside it.")
        group = self.alignment_group
        if group is not None and not group.strip():
            raise ValueError("option 'scan.watermark.alignment.group' is blank: name the group, or leave it out.")
        if group is not None and group != group.strip():
            raise ValueError(
                f"option 'scan.watermark.alignment.group' = '{group}' begins or ends with a blank: another source "
                f"would not find this group. Leave the blank out."
            )
        if self.update_interval_ms == 0:
            raise ValueError("option 'scan.watermark.alignment.update-interval' must be longer than 0.")
        return self

    @model_validator(mode="after")
    def _combinations(self) -> WatermarkOptions:
        if self.late_rows.are_dropped and self._requests_on_periodic:
            raise ValueError(
                f"option 'watermark.late-rows' = '{self.late_rows.value}' is exact and so needs "
                f"'scan.watermark.emit.strategy' = 'on-event', which is the default with it: leave the strategy out, "
                f"or use 'mark'."
            )
        if self.all_idle is AllIdle.PROCESSING_TIME and self.rowtime is not None and not self.effective_idle_timeout_ms:
            raise ValueError(
                "option 'watermark.all-idle' = 'processing-time' has no effect without an idle timeout: set "
                "'scan.watermark.idle-timeout'."
            )
        return self

    @property
    def is_clock_only(self) -> bool:
        """Whether the attribute is processing time and nothing else: no record has an event time."""
        is_always = self.processing_time is ProcessingTime.ALWAYS
        return is_always and self.rowtime is not None and self.expression is None

    def _require_clock_only(self) -> None:
        given = sorted(name for name in _EVENT_TIME if name in self.model_fields_set)
        if given:
            alias = type(self).model_fields[given[0]].alias
            raise ValueError(f"option '{alias}' needs 'watermark.as' beside it: without it no row has an event time.")

    @property
    def _requests_on_periodic(self) -> bool:
        return "emit" in self.model_fields_set and self.emit_strategy_given is EmitStrategy.ON_PERIODIC

    @property
    def emit_strategy_given(self) -> EmitStrategy:
        """The emit strategy that follows from strategy and interval: an interval of 0 means on-event (FLIP-66)."""
        return EmitStrategy.ON_EVENT if self.interval_ms == 0 else self.emit

    @property
    def emit_strategy(self) -> EmitStrategy:
        """The effective strategy: on-event where late rows are dropped, unless it is set."""
        return EmitStrategy.ON_EVENT if self.late_rows.are_dropped else self.emit_strategy_given

    @property
    def params(self) -> WatermarkParams:
        """The options as planner and tasks use them."""
        return WatermarkParams(
            emit=self.emit_strategy,
            idle_timeout_ms=self.effective_idle_timeout_ms,
            null_rowtime=self.null_rowtime,
            max_ahead_ms=self.max_ahead_ms,
            heartbeat_interval_ms=self.effective_heartbeat_interval_ms,
            late_rows=self.late_rows,
            alignment=self.alignment,
            advances_when_idle=self.all_idle is AllIdle.PROCESSING_TIME,
            processing_time=self.processing_time,
        )

    @property
    def alignment(self) -> Alignment | None:
        """The source's part in an alignment group; None = it is not aligned."""
        if self.alignment_group is None or self.max_drift_ms is None:
            return None
        return Alignment(
            group=self.alignment_group,
            max_drift_ms=self.max_drift_ms,
            update_interval_ms=self.update_interval_ms or 1_000,
            aligns_splits=not self.allows_unaligned_splits,
        )

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
_HARMLESS_WITHOUT_WATERMARK = {"interval_ms", "global_idle_timeout_ms", "allows_unaligned_splits", "on_change"}
_EVENT_TIME = ("rowtime_expression", "null_rowtime", "late_rows", "alignment_group", "dedup_horizon_ms")
_ALIGNMENT = ("alignment_group", "max_drift_ms", "update_interval_ms")
