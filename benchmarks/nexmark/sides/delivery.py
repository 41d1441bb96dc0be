"""When the rows of a running query are delivered, beside when they were due."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from watermark import SystemClock

__all__ = ["Deliveries", "Watch", "batch_times", "restart_of", "watch_stream"]

_DELAY_MS: Final = 4_000
"""The watermark of Nexmark's table is so far behind."""
_KIND: Final = "row_kind"
_MICROS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """How long a query runs, and which of its rows count. The event time of an event is the time when it is written.

    Attributes:
        seconds: how long it runs.
        column: of the result: the time of the event that a row is of, or a time in its window.
        window_ms: of a query of windows: a row is due when the watermark reaches the window's end; 0 = with its event.
        counted_from_ms: rows that were due before, of the query's start, do not count; milliseconds since 1970.
        restart_seconds: how long it runs once more, from its checkpoint; 0 = it does not.
    """

    seconds: float
    column: str
    window_ms: int = 0
    counted_from_ms: int = 0
    restart_seconds: float = 0.0

    def due_ms(self, times_ms: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return when rows are due, milliseconds since 1970."""
        if not self.window_ms:
            return times_ms
        return times_ms // self.window_ms * self.window_ms + self.window_ms + _DELAY_MS


class Deliveries:
    """Latencies of rows, each with its delivery."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._latencies: list[npt.NDArray[np.int64]] = []

    def add(self, times_ms: npt.NDArray[np.int64], delivered_ms: npt.NDArray[np.int64] | int) -> None:
        """Add rows by the times in their column, and when they were delivered."""
        due = self._watch.due_ms(times_ms)
        counted = due >= self._watch.counted_from_ms
        self._latencies.append((delivered_ms - due)[counted])

    def summary(self) -> dict[str, Any]:
        """Return the number of rows and their latencies, milliseconds."""
        latencies = np.concatenate([*self._latencies, np.empty(0, np.int64)])
        if not len(latencies):
            return {"why": "no row was delivered that was due after the start"}
        p50, p99, longest = (round(float(np.percentile(latencies, share))) for share in (50, 99, 100))
        return {"rows": len(latencies), "p50_ms": p50, "p99_ms": p99, "max_ms": longest}


def watch_stream(result: Any, mode: str, watch: Watch, checkpoint: str) -> dict[str, Any]:
    """Run a streaming DataFrame of Spark's for some seconds; return the latencies of its rows, and of a restart."""
    from pyspark.sql import functions as F  # noqa: N812

    deliveries, clock = Deliveries(watch), SystemClock()
    delivered_ms: list[int] = []
    micros = F.unix_micros(F.col(watch.column).cast("timestamp")).alias("micros")

    def deliver(batch: Any, _number: int) -> None:
        rows = batch.where(F.col(_KIND).isin("+I", "+U")) if _KIND in batch.columns else batch
        times = rows.select(micros).toArrow().column(0).to_numpy()
        delivered_ms.append(clock.now_us() // _MICROS)
        deliveries.add(times // _MICROS, delivered_ms[-1])

    def run(seconds: float) -> list[Any]:
        writer = result.writeStream.outputMode(mode).foreachBatch(deliver).option("checkpointLocation", checkpoint)
        query = writer.start()
        query.awaitTermination(seconds)
        progress = query.recentProgress
        query.stop()
        return progress

    progress = run(watch.seconds)
    found = deliveries.summary() | {"batch_ms": batch_times([each.durationMs for each in progress])}
    if watch.restart_seconds:
        restarted_ms = clock.now_us() // _MICROS
        run(watch.restart_seconds)
        found |= restart_of(restarted_ms, delivered_ms)
    return found


def batch_times(durations: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the median of each phase of a micro-batch, by Spark's names, milliseconds; of batches that had rows."""
    full = [each for each in durations if "addBatch" in each]
    names = dict.fromkeys(name for each in full for name in each)
    return {name: round(statistics.median(each.get(name, 0) for each in full)) for name in names}


def restart_of(restarted_ms: float, delivered_ms: Iterable[int]) -> dict[str, Any]:
    """Return how long a restart took until a row was delivered; nothing if none was."""
    after = [each - restarted_ms for each in delivered_ms if each >= restarted_ms]
    return {"restart_ms": min(after)} if after else {}
