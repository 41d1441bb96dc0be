"""What a side is asked to run, and the names of the sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

from benchmarks.nexmark.sides.delivery import Watch
from benchmarks.sides import FLINK, PEER, TIDEMARK

__all__ = ["FLINK_ROCKSDB", "SIDES", "SideRun"]

FLINK_ROCKSDB: Final = "flink-rocksdb"
SIDES: Final = (TIDEMARK, FLINK, FLINK_ROCKSDB, PEER)
"""Tidemark, Flink with its state on the heap, Flink with RocksDB and checkpoints, plain Spark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRun:
    """One run of a query over all events of the topic.

    Attributes:
        query: its name.
        bootstrap: the broker.
        events: how many there are.
        batch_events: how many of them a batch of Spark's reads.
        directory: of the benchmark: the side input is there, and files may be written.
        output: receives the result, a directory or the name of a topic; "" = the run is measured, and the result goes
            to a sink that does nothing.
        watch: how long the run is and which rows' latencies are its result; None = it ends with the topic.
        side: whose run it is, in a process of two sides.
    """

    query: str
    bootstrap: str
    events: int
    batch_events: int
    directory: str
    output: str = ""
    watch: Watch | None = None
    side: str = ""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the run that `dataclasses.asdict` made these values of."""
        watch = values.get("watch")
        return cls(**{**values, "watch": None if watch is None else Watch(**watch)})
