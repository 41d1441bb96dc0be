"""The options that every source shares: batch limits, pushed-down operations, session settings."""

from __future__ import annotations

from pydantic import Field, model_validator

from datasources.options import OptionGroup
from datasources.spark.options.aggregation_options import AGGREGATION
from datasources.spark.options.load_gate_options import LoadGateOptions
from datasources.spark.options.packing_options import PACKING
from datasources.spark.options.watermark_options import AllIdle, OnChange, WatermarkOptions

__all__ = [
    "AGGREGATION",
    "ATTACHED",
    "PACKING",
    "SHARED_GROUPS",
    "STATEMENT",
    "AllIdle",
    "LoadGateOptions",
    "OnChange",
    "ScanOptions",
    "SessionOptions",
    "WatermarkOptions",
]

ATTACHED = "scan.attached"
"""Whether the stream is attached; see `ScanOptions.attached`."""

STATEMENT = "scan.statement"
"""Which statement over tables that change reads the source; see `ScanOptions.statement`."""


class ScanOptions(OptionGroup):
    """What a scan delivers, and how much a batch reads."""

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

    columns: str | None = Field(
        None,
        alias="scan.columns",
        description="The columns to deliver, with commas between them, unusual names in backticks; `bid.price` is of "
        "the STRUCT `bid` that field only. A source that can skips decoding the others. Default: all. Not part of the "
        "checkpoint's identity: it may change on restart.",
    )
    filter: str | None = Field(
        None,
        alias="scan.filter",
        description="A Spark SQL condition over the scan's columns; rows where it is not true are not delivered. It is "
        "evaluated after the watermark: event time, late rows, positions and counts are those of all rows. It may "
        "change on restart.",
    )
    metadata: str | None = Field(
        None,
        alias="scan.metadata",
        description="Metadata columns of a record, behind the columns of the schema: `name FROM key`, or "
        "`name` where the key is the same, with commas between them. An unknown key is an error that lists those of "
        "the source.",
    )
    attached: bool = Field(
        False,
        alias="scan.attached",
        description="Internal: that Spark follows the watermark and no operator sees a heartbeat. read_stream, "
        "with_source_watermark and SQL set it; a stream with a watermark is refused without it. A stream that "
        "sets it has the hidden columns and the heartbeat rows. It may change on restart.",
    )

    aggregation: str | None = Field(
        None,
        alias="scan.aggregation",
        description="Internal: partial aggregates to deliver in place of rows. SQL and `windowed` set it. It may "
        "change on restart.",
    )

    packing: str | None = Field(
        None,
        alias="scan.packing",
        description="Internal: packed rows for an operator to deliver in place of rows. SQL sets it. It may change on "
        "restart.",
    )

    statement: str = Field(
        "",
        alias="scan.statement",
        description="Internal: which statement over tables that change reads the source. SQL sets it. What a statement "
        "removes from its result must have been added by the same statement, so it is part of the checkpoint's "
        "identity.",
    )

    @model_validator(mode="after")
    def _one_name(self) -> ScanOptions:
        if self.max_rows is not None and self.max_offsets is not None:
            raise ValueError("options 'scan.max-rows-per-batch' and 'maxOffsetsPerTrigger' mean the same: set one.")
        return self

    @property
    def max_rows_per_batch(self) -> int | None:
        """The bound under either name; None = all available rows."""
        return self.max_offsets if self.max_rows is None else self.max_rows


class SessionOptions(OptionGroup):
    """Settings of the session; filled in by register() and read_stream()."""

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


SHARED_GROUPS: tuple[type[OptionGroup], ...] = (WatermarkOptions, ScanOptions, LoadGateOptions, SessionOptions)
"""The groups that every source reads, in the order of the reference."""
