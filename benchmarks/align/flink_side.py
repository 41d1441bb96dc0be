"""Flink's side of `make bench-align`: the order in which an aligned source of Flink's emits the backlog's records.

A source with one reader for all partitions, whose records go into a topic of one partition: the order there is that in
which the source emitted them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.align.overshoot import emitted_overshoot_ms
from benchmarks.flink import FLINK_VERSION, KAFKA_AND_JSON, Flink, fetch_jars, listed_options, open_flink
from benchmarks.nexmark.dataset import topic_messages
from benchmarks.orders.json_orders import make_topic
from datasources.errors import EnvironmentProblem
from examples.skew_day.story import SkewStory
from examples.skew_day.topic import Backlog

__all__ = ["flink_overshoot"]

_SETTINGS: Final = {
    "parallelism.default": "1",
    "pipeline.object-reuse": "true",
    "restart-strategy.type": "none",
    "table.local-time-zone": "UTC",
}
_ORDER: Final = "emission-order"
_UPDATE_MS: Final = 1_000
"""`scan.watermark.alignment.update-interval`, Flink's default."""


def flink_overshoot(story: SkewStory, backlog: Backlog, max_drift_ms: int) -> dict[str, Any]:
    """Return by how much Flink's aligned source runs ahead, and without alignment; `why` if Flink cannot be had.

    Args:
        story: the records.
        backlog: the topic that holds them.
        max_drift_ms: of the alignment.

    Returns:
        `overshoot_ms` and `unaligned_overshoot_ms`: the newest event time that was emitted, less that of the slowest
        partition's next record and the drift, at most; and the version.
    """
    try:
        jars = fetch_jars(lambda _: None, instead="Without it Flink's figures are left out.", connectors=KAFKA_AND_JSON)
    except EnvironmentProblem as problem:
        return {"why": problem.message.splitlines()[0]}
    aligned = {
        "scan.watermark.alignment.group": "payments",
        "scan.watermark.alignment.max-drift": f"{max_drift_ms} ms",
        "scan.watermark.alignment.update-interval": f"{_UPDATE_MS} ms",
    }
    found: dict[str, Any] = {"flink": FLINK_VERSION, "update_interval_ms": _UPDATE_MS}
    with tempfile.TemporaryDirectory() as directory, open_flink(jars, _SETTINGS, Path(directory) / "log") as flink:
        for name, options in (("overshoot_ms", aligned), ("unaligned_overshoot_ms", {})):
            order = _emitted(flink, backlog, f"{_ORDER}-{name.replace('_', '-')}", options)
            found[name] = emitted_overshoot_ms(story, order, max_drift_ms)
    return found


def _emitted(flink: Flink, backlog: Backlog, topic: str, options: dict[str, str]) -> NDArray[np.int64]:
    """Return the partition of each record, in the order in which they were emitted."""
    make_topic(backlog.servers, topic, 1)
    tables = flink.tables()
    source = {
        "connector": "kafka",
        "topic": backlog.topic,
        "properties.bootstrap.servers": backlog.servers,
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        "format": "json",
        "json.timestamp-format.standard": "ISO-8601",
        **options,
    }
    sink = {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": backlog.servers,
        "format": "json",
    }
    tables.executeSql(
        "CREATE TABLE payments (ts TIMESTAMP_LTZ(3), split INT METADATA FROM 'partition' VIRTUAL, "
        f"WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ({listed_options(source)})"
    )
    tables.executeSql(f"CREATE TABLE emitted (split INT) WITH ({listed_options(sink)})")
    flink.run(tables, "INSERT INTO emitted SELECT split FROM payments")
    splits = [
        json.loads(each.value())["split"] for messages in topic_messages(backlog.servers, topic) for each in messages
    ]
    return np.array(splits, np.int64)
