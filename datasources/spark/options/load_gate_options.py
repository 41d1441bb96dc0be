"""The options of the load gate: a probe waits until its builds are loaded."""

from __future__ import annotations

from pydantic import Field, model_validator

from datasources.options import DurationMs, OptionGroup
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings


class LoadGateOptions(OptionGroup):
    """Which source waits for which, as the probe of a join waits for its table. They concern streams only."""

    until: str | None = Field(
        None,
        alias="scan.hold.until",
        description="The source is not read before these sources of the same query are loaded: the names that they "
        "have in `scan.hold.name`, with commas between them. A row of a join that is read then misses nothing that "
        "the table held when the query started. Needs `register(spark)`, and a name that a source of the query has.",
    )
    name: str | None = Field(
        None,
        alias="scan.hold.name",
        description="The name by which other sources of the query wait for this one to be loaded. MySQL is loaded when "
        "its snapshot was read, any other source when the rows that it had at the start of the query were read; only "
        "completed batches count.",
    )
    time_ms: int | None = Field(
        None,
        alias="scan.load-completed.timestamp-millis",
        description="Loaded when the source's watermark has reached this time, epoch ms, instead of when the rows "
        "that it had at the start of the query were read (Flink's load_completed_time). A snapshot must be read in any "
        "case. Needs `scan.hold.name` and a watermark.",
    )
    idle_timeout_ms: DurationMs | None = Field(
        None,
        alias="scan.load-completed.idle-timeout",
        description="Loaded also when no row arrived and none was unread for this long (Flink's "
        "load_completed_idle_timeout). It does not end a snapshot. Needs `scan.hold.name`.",
    )

    @model_validator(mode="after")
    def _fitting(self) -> LoadGateOptions:
        if self.name is not None and (not self.name.strip() or "," in self.name or self.name != self.name.strip()):
            raise ValueError(
                f"option 'scan.hold.name' = '{self.name}' is no name: it has neither commas nor blanks around it."
            )
        for field in ("time_ms", "idle_timeout_ms"):
            if getattr(self, field) is not None and self.name is None:
                alias = type(self).model_fields[field].alias
                raise ValueError(f"option '{alias}' needs 'scan.hold.name' beside it: no source waits for this one.")
        if self.until is not None and not all(self.names):
            raise ValueError(f"option 'scan.hold.until' = '{self.until}': write names with commas between them.")
        if self.name in self.names:
            raise ValueError(f"option 'scan.hold.until' names the source itself, '{self.name}': it would wait forever.")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The builds that the source waits for, each once."""
        return () if self.until is None else tuple(dict.fromkeys(name.strip() for name in self.until.split(",")))

    @property
    def gate(self) -> LoadGateSettings | None:
        """The planner's settings of a probe."""
        return LoadGateSettings(until=self.names) if self.names else None

    @property
    def load(self) -> LoadSettings | None:
        """The planner's settings of a build."""
        if self.name is None:
            return None
        return LoadSettings(name=self.name, time_ms=self.time_ms, idle_timeout_ms=self.idle_timeout_ms)
