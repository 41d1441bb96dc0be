"""A query over a side, and what became of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.streaming.query import StreamingQuery

from examples.spark_watermarks.sides import DAY

__all__ = ["Job", "minute_counts"]

_NEVER = "1970-01-01T00:00:00.000Z"
_PAUSE_S = 0.03
_DEADLINE_S = 30.0


class Job:
    """A streaming query of a proof, and everything that it gave."""

    def __init__(self, query: StreamingQuery, rows: list[tuple[int, Row]]) -> None:
        self._query = query
        self._rows = rows
        self._seen: dict[int, Any] = {}

    @classmethod
    @contextmanager
    def running(cls, df: DataFrame, checkpoint: Path, *, available_now: bool = False) -> Iterator[Job]:
        """Run a query in append mode while in the block; with `Trigger.AvailableNow` wait for its end first."""
        rows: list[tuple[int, Row]] = []

        def collect(batch: DataFrame, number: int) -> None:
            rows.extend((number, row) for row in batch.collect())

        writer = df.writeStream.outputMode("append").option("checkpointLocation", str(checkpoint)).foreachBatch(collect)
        query = (writer.trigger(availableNow=True) if available_now else writer).start()
        job = cls(query, rows)
        try:
            if available_now:
                query.awaitTermination(int(_DEADLINE_S))
                job._note()
            yield job
        finally:
            query.stop()

    def drain(self) -> None:
        """Wait until everything that arrived has been processed.

        Spark's call may return after a look at the source that began before it, so it is asked again.
        """
        self._query.processAllAvailable()
        threading.Event().wait(_PAUSE_S)
        self._query.processAllAvailable()
        self._note()

    def wait_for_watermark(self, text: str) -> None:
        """Wait for a watermark that moves by time alone, and for what Spark does with it."""
        pause = threading.Event()
        for _ in range(int(_DEADLINE_S / _PAUSE_S)):
            self._note()
            if self.watermark == text:
                break
            pause.wait(_PAUSE_S)
        self.drain()

    @property
    def batches(self) -> list[Any]:
        """Spark's progress of every batch so far."""
        return [self._seen[number] for number in sorted(self._seen)]

    @property
    def watermark(self) -> str:
        """Spark's watermark in the newest batch, as `12:00:50`; `none` before there is one."""
        texts = [batch.eventTime["watermark"] for batch in self.batches if "watermark" in batch.eventTime]
        return "none" if not texts or texts[-1] == _NEVER else clock_time(texts[-1])

    @property
    def windows(self) -> dict[str, int]:
        """Rows per minute, of the minutes that were emitted so far."""
        return {row["minute"]: row["count"] for _, row in self._rows}

    @property
    def values(self) -> list[str]:
        """The values of the rows that were emitted, in order."""
        return [row["v"] for _, row in self._rows]

    @property
    def emitted(self) -> int:
        """How many rows were emitted."""
        return len(self._rows)

    @property
    def dropped(self) -> int:
        """What `numRowsDroppedByWatermark` adds up to over all batches and operators."""
        return sum(operator.numRowsDroppedByWatermark for batch in self.batches for operator in batch.stateOperators)

    def emitted_in(self, minute: str) -> int:
        """Return the number of the batch that emitted a window."""
        return next(number for number, row in self._rows if row["minute"] == minute)

    def source(self) -> dict[str, Any]:
        """Return the metrics of Tidemark's source in the newest progress."""
        return dict(json.loads(self.batches[-1].sources[0].latestOffset))

    def _note(self) -> None:
        for progress in self._query.recentProgress:
            self._seen[progress.batchId] = progress


def minute_counts(df: DataFrame) -> DataFrame:
    """Count rows per minute of event time."""
    counts = df.groupBy(F.window("ts", "1 minute")).count()
    return counts.select(F.date_format("window.start", "HH:mm").alias("minute"), "count")


def clock_time(text: str) -> str:
    """Return a time in Spark's progress without the part that is the same in all of them."""
    return text.removeprefix(f"{DAY}T").removesuffix("Z").removesuffix(".000")
