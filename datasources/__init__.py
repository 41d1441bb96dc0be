"""Sources for Spark whose readers make the watermark, split by split.

    from datasources import register, read_stream, with_source_watermark, keep_time_attribute

The way of a row: `spark.scan` turns options into a scan, one read of a source with its columns and its watermark. In
the planner process (Python; Spark starts one on the driver for each source of a query) `source.planning` decides what a
batch reads, and asks the connector (`kafka`, `mysql`) about it. In Python workers on executors `source.reading` calls
the connector's reader, which may decode with `formats`, and adds row watermarks, whose candidates `expressions`
computes. `spark.adapter` passes the rows to the JVM, and `spark.attach` lets Spark's operators follow the watermark.
`sql` builds scans from statements, `changelog` runs queries over tables that change, `sinks` write their results,
`sync` keeps copies of a database.

Names are loaded when first used: executors import only parts of this package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasources.kafka.data_source import KafkaDataSource
    from datasources.mysql.data_source import MySqlDataSource
    from datasources.scripted.data_source import ScriptedDataSource
    from datasources.session import read_stream, register
    from datasources.spark.attach.attach import with_source_watermark
    from datasources.spark.operators.over.frames.frame_spec import OverFrame
    from datasources.spark.operators.over.operator import over
    from datasources.spark.operators.temporal.temporal_join import temporal_join
    from datasources.spark.plans.keep_time_attribute import keep_time_attribute
    from datasources.spark.pushdown.aggregates.time_window import TimeWindow
    from datasources.spark.pushdown.aggregates.windowed import windowed
    from datasources.sql.shell.notebook import show_stream

__all__ = [
    "KafkaDataSource",
    "MySqlDataSource",
    "OverFrame",
    "ScriptedDataSource",
    "TimeWindow",
    "keep_time_attribute",
    "over",
    "read_stream",
    "register",
    "show_stream",
    "temporal_join",
    "windowed",
    "with_source_watermark",
]

_HOMES = {
    "KafkaDataSource": "datasources.kafka.data_source",
    "MySqlDataSource": "datasources.mysql.data_source",
    "ScriptedDataSource": "datasources.scripted.data_source",
    "OverFrame": "datasources.spark.operators.over.frames.frame_spec",
    "TimeWindow": "datasources.spark.pushdown.aggregates.time_window",
    "keep_time_attribute": "datasources.spark.plans.keep_time_attribute",
    "over": "datasources.spark.operators.over.operator",
    "read_stream": "datasources.session",
    "register": "datasources.session",
    "show_stream": "datasources.sql.shell.notebook",
    "temporal_join": "datasources.spark.operators.temporal.temporal_join",
    "windowed": "datasources.spark.pushdown.aggregates.windowed",
    "with_source_watermark": "datasources.spark.attach.attach",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'datasources' has no attribute '{name}'")
    _require_own_watermark_package()
    return getattr(importlib.import_module(home), name)


def _require_own_watermark_package() -> None:
    import watermark

    if not hasattr(watermark, "combine_arrays"):
        from datasources.distribution import DISTRIBUTION
        from datasources.errors import EnvironmentProblem

        origin = getattr(watermark, "__file__", None) or "unknown place"
        raise EnvironmentProblem(
            f"the import name 'watermark' is taken by another distribution ({origin}). Uninstall that one, or install "
            f"{DISTRIBUTION} into an environment of its own; `tidemark doctor` shows both."
        )
