"""The settings of SET: each declares its key, type, default, documentation and error."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from pydantic import Field

from datasources.options import DurationMs, OptionGroup, lower_keys, parse_group, reject_unknown
from datasources.spark.options.watermark_options import GLOBAL_OPTIONS


class RuntimeMode(enum.Enum):
    """How tables are read."""

    STREAMING = "streaming"
    BATCH = "batch"


class LateRowsMode(enum.Enum):
    """What decides that a row is too late for a window."""

    SPARK = "spark"
    EXACT = "exact"


class SqlDialect(enum.Enum):
    """What expressions mean."""

    SPARK = "spark"
    FLINK = "flink"


class SqlOptions(OptionGroup):
    """Settings of a `TableEnvironment`."""

    runtime_mode: RuntimeMode = Field(
        RuntimeMode.STREAMING,
        alias="execution.runtime-mode",
        description="`streaming`, or `batch`: tables are read once, up to their current end, and without watermarks.",
    )
    dialect: SqlDialect = Field(
        SqlDialect.SPARK,
        alias="table.sql-dialect",
        description="What the expressions of queries and of new tables and views mean: `spark`, or `flink`: types, "
        "functions, casts, NULLs and names are those of Flink SQL. A table or view keeps the dialect that it was "
        "created in.",
    )
    late_rows: LateRowsMode = Field(
        LateRowsMode.SPARK,
        alias="table.exec.late-rows",
        description="`spark`: Spark's operators drop a row that is late by the watermark of the batch before. `exact`: "
        "each row is compared with the watermark at that row, so results do not depend on how rows fall into batches; "
        "on-event emission is then the default.",
    )
    idle_timeout_ms: DurationMs | None = Field(
        None, alias="table.exec.source.idle-timeout", description="The idle timeout of tables that set none; 0 = off."
    )
    state_ttl_ms: DurationMs | None = Field(
        None,
        alias="table.exec.state.ttl",
        description="Where the rows of a key are more than this apart in event time, the key begins anew, so that its "
        "state can be dropped: in queries over tables that change, and in OVER with ROWS or UNBOUNDED PRECEDING. 0 = "
        "never, the default. The hint STATE_TTL sets it for tables of a statement.",
    )
    aggregate_pushdown: bool = Field(
        True,
        alias="table.exec.source.aggregate-pushdown",
        description="Whether readers compute aggregates over TUMBLE, HOP and CUMULATE windows in part, so that Spark "
        "combines groups in place of rows. The results are the same. EXPLAIN shows what is pushed down, or why not.",
    )
    projection_pushdown: bool = Field(
        True,
        alias="table.exec.source.projection-pushdown",
        description="Whether readers deliver only the columns, the fields of ROWs and the rows that the whole query "
        "needs, views included. The results are the same. EXPLAIN shows what is delivered.",
    )
    cdc_events_duplicate: bool = Field(
        False,
        alias="table.exec.source.cdc-events-duplicate",
        description="Queries over tables that change keep each row of a CDC table by its PRIMARY KEY, so repeated "
        "changes and truncations of the table have the right effect; costs state for every row.",
    )
    interval_ms: DurationMs | None = Field(
        None, alias="pipeline.auto-watermark-interval", description="As the table option of that name."
    )
    allows_unaligned_splits: bool | None = Field(
        None,
        alias="pipeline.watermark-alignment.allow-unaligned-source-splits",
        description="As the table option of that name.",
    )
    time_zone: str | None = Field(
        None, alias="table.local-time-zone", description="Sets the session's `spark.sql.session.timeZone`."
    )
    checkpoint_directory: str | None = Field(
        None,
        alias="execution.checkpointing.dir",
        description="Where INSERT statements keep their checkpoints: one directory each, named after the target table.",
    )
    trigger: str | None = Field(
        None,
        alias="execution.trigger",
        description="When INSERT statements make batches: `available-now` reads the available rows, a duration "
        "such as `5 s` waits between batches; default: as soon as possible.",
    )
    query_name: str | None = Field(None, alias="pipeline.name", description="The name of the next query.")


class Settings:
    """The settings of a session, as texts and typed."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        for key, value in (values or {}).items():
            self.set(key, value)

    @property
    def typed(self) -> SqlOptions:
        """The settings with their defaults."""
        return parse_group(SqlOptions, self._values)

    def texts(self) -> dict[str, str]:
        """Return the settings, by key."""
        return dict(self._values)

    def set(self, key: str, value: str) -> None:
        """Set a value.

        Raises:
            OptionError: the key is unknown (near matches are named) or the value is none of its.
        """
        changed = {**self._values, **lower_keys({key: value})}
        reject_unknown(changed, [SqlOptions], what="SET")
        parse_group(SqlOptions, changed)
        self._values = changed

    def reset(self, key: str | None = None) -> None:
        """Forget a value, or all of them."""
        if key is None:
            self._values.clear()
        else:
            reject_unknown(lower_keys({key: ""}), [SqlOptions], what="RESET")
            self._values.pop(key.lower(), None)

    def scan_options(self) -> dict[str, str]:
        """Return the settings of the session for all scans."""
        return {key: self._values[key] for key in GLOBAL_OPTIONS if key in self._values}
