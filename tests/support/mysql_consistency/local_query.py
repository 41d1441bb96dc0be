"""A query without Spark: plans and reads batches in this process, and leaves what Spark would."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import pyarrow as pa
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

from datasources.mysql.data_source import MySqlDataSource
from tests.support.mysql_consistency.recording import Recording
from tests.support.spark.recording import store_attempt

__all__ = ["LocalQuery", "read_again", "read_batch", "read_parts"]


class LocalQuery:
    """Runs batches one after the other.

    Args:
        options: of the source.
        recording: where offsets and batches go.
        between: called when a batch was planned, before it is read.

    Attributes:
        reader: of the stream.
    """

    def __init__(
        self, options: Mapping[str, str], recording: Recording, between: Callable[[int], None] = lambda _: None
    ) -> None:
        self._between = between
        source = MySqlDataSource(dict(options))
        self.reader = source.streamReader(source.schema())
        self._recording = recording
        for name in ("offsets", "commits"):
            (recording.checkpoint / name).mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.stop()

    def step(self) -> bool:
        """Plan and read one batch, if there is something to read."""
        batch = self._recording.planned()
        start = self._recording.offset(batch - 1) if batch else self.reader.initialOffset()
        end = self.reader.latestOffset(start, self._limit())
        if end == start:
            return False
        text = f"v1\n{{}}\n{json.dumps(end)}"
        (self._recording.checkpoint / "offsets" / str(batch)).write_text(text)
        self._between(batch)
        store_attempt(self._recording.batches, batch, read_batch(self.reader, start, end))
        (self._recording.checkpoint / "commits" / str(batch)).write_text("v1\n{}")
        return True

    def run(self, stop: threading.Event) -> None:
        """Run batches until there are none for a while after the event was set."""
        while self.step() or not stop.wait(0.05):
            continue

    def _limit(self) -> ReadLimit:
        limit = self.reader.getDefaultReadLimit()
        assert isinstance(limit, (ReadAllAvailable, ReadMaxRows))
        return limit


def read_batch(reader: Any, start: dict[str, Any], end: dict[str, Any]) -> pa.Table:
    """Return the rows of a batch, read as executors would."""
    return read_parts(reader, reader.partitions(start, end))


def read_parts(reader: Any, parts: Sequence[Any]) -> pa.Table:
    """Return the rows of a batch's partitions, read as executors would."""
    rows = [batch for part in parts for batch in pickle.loads(pickle.dumps(reader)).read(part)]
    return pa.Table.from_batches(rows, schema=reader._output)


def read_again(
    options: Mapping[str, str], recording: Recording, batches: list[int], into: Recording, *, name: str
) -> None:
    """Read recorded batches once more, as readers of this name: those of one name end each other at the server."""
    source = MySqlDataSource(dict(options))
    reader = source.streamReader(source.schema())
    try:
        for batch in batches:
            offset = recording.offset(batch)
            offset["state"]["reader"] += name
            store_attempt(into.batches, batch, read_batch(reader, {}, offset))
    finally:
        reader.stop()
