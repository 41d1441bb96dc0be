"""Streams made of scripts: what tests of the Spark adapter read, and how they run a query and look at it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from datasources import read_stream

__all__ = [
    "DEADLINE_S",
    "FORMAT",
    "PROVIDER",
    "ROCKSDB",
    "TINY_QUERIES",
    "DyingSink",
    "Running",
    "Scripts",
    "drain",
    "first_line",
    "instant",
    "process_all",
    "running",
    "seconds",
    "settings",
]

FORMAT = "tidemark-scripted"
SCHEMA = "ts TIMESTAMP, k STRING, v STRING"
TINY_QUERIES = {
    "spark.sql.shuffle.partitions": "1",
    # For a handful of rows compiling costs more than running.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = {
    PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OF_SPARK = "__python_accumulator__"  # Spark Connect observes counters of its own
_POLL_S = 0.03
DEADLINE_S = 120.0  # for a machine that has much else to do: none of these waits is for something that takes so long
_names = count()


def instant(second: float) -> str:
    """The text of an instant, seconds since the epoch, as records hold it."""
    return (_EPOCH + timedelta(seconds=second)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def seconds(value: Any) -> Any:
    """An instant as PySpark returns it, in seconds since the epoch; other values unchanged."""
    if not isinstance(value, datetime):
        return value
    return (value.astimezone(UTC) - _EPOCH).total_seconds()  # PySpark returns TIMESTAMP as naive local time


@dataclass
class Scripts:
    """A directory of scripts; `append` is what a producer does."""

    directory: Path
    schema: str = SCHEMA

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)

    def append(self, split: str, *rows: tuple[Any, ...] | Mapping[str, Any] | str) -> None:
        """Append records: (second, k, v), a mapping of columns, or a line as it is."""
        lines = "".join(_line(row) + "\n" for row in rows)
        with (self.directory / f"{split}.jsonl").open("a", encoding="utf-8") as script:
            script.write(lines)

    def options(self, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Options of a scan whose watermark is one second behind; a change to None leaves an option out."""
        options = {
            "path": str(self.directory),
            "schema": self.schema,
            "watermark.for": "ts",
            "watermark.as": "ts - INTERVAL '1' SECOND",
            "scan.watermark.heartbeat-interval": "300 ms",
            **(changes or {}),
        }
        return {key: value for key, value in options.items() if value is not None}

    def stream(self, spark: Any, changes: Mapping[str, Any] | None = None, *time_attributes: str) -> Any:
        """An attached stream."""
        return read_stream(spark, FORMAT, self.options(changes), time_attributes=time_attributes)

    def loaded(self, spark: Any, changes: Mapping[str, Any] | None = None) -> Any:
        """A stream with its hidden columns; the session must be registered."""
        return spark.readStream.format(FORMAT).options(**self.options(changes)).load()


def _line(row: tuple[Any, ...] | Mapping[str, Any] | str) -> str:
    if isinstance(row, str):
        return row
    if isinstance(row, tuple):
        second, k, v = row
        row = {"ts": None if second is None else instant(second), "k": k, "v": v}
    return json.dumps(row)


def process_all(query: Any) -> None:
    """Call processAllAvailable; fail when no batch ends for `DEADLINE_S` seconds.

    In a thread: a call to the JVM that is cut short spoils the connection for later tests. A busy machine may take longer
    for hundreds of batches; the time limit of the test bounds them.
    """
    ended: Future[None] = Future()

    def process() -> None:
        try:
            ended.set_result(query.processAllAvailable())
        except Exception as error:  # noqa: BLE001 - whatever it is, the test's thread raises it
            ended.set_exception(error)

    threading.Thread(target=process, daemon=True).start()
    newest = None
    while True:
        try:
            return ended.result(DEADLINE_S)
        except TimeoutError:
            if ended.done():
                raise
        before, newest = newest, _newest_batch(query)
        if newest == before:
            raise AssertionError(f"no batch of the query ended for {DEADLINE_S} s: {query.status}")


def _newest_batch(query: Any) -> int | None:
    return None if query.lastProgress is None else query.lastProgress.batchId


@dataclass
class Running:
    """A streaming query under test."""

    query: Any
    name: str
    spark: Any
    _seen: dict[int, Any] = field(default_factory=dict)

    def drain(self) -> None:
        """Wait until everything that is there has been processed.

        Spark's own call returns after a look at the source that may have begun before the call. So it is asked again
        after the source has looked afresh. It never returns while heartbeats come faster than batches end (a source in
        processing time, on a slow machine): there, use `wait_for`.
        """
        process_all(self.query)
        threading.Event().wait(_POLL_S)
        process_all(self.query)
        self._note()

    def wait_for(self, condition: Callable[[Running], bool], *, deadline_s: float = DEADLINE_S) -> None:
        """Wait until something that takes time, such as an idle timeout, has had its effect."""
        pause, ends_at = threading.Event(), time.monotonic() + deadline_s
        while time.monotonic() < ends_at:  # a look may take seconds: Spark's progress comes item by item
            self._note()
            if condition(self):
                return
            if not self.query.isActive:
                raise AssertionError(f"the query ended: {self.query.exception()}")
            pause.wait(_POLL_S)
        rows = self.rows() if self.spark.catalog.tableExists(self.name) else "not in memory"
        raise AssertionError(f"not within {deadline_s} s; watermarks: {self.watermarks}, rows: {rows}")

    def rows(self) -> list[tuple[Any, ...]]:
        """What reached the memory sink so far, instants in seconds since the epoch."""
        return [tuple(map(seconds, row)) for row in self.spark.table(self.name).collect()]

    @property
    def progress(self) -> list[Any]:
        """Progress of every batch so far."""
        self._note()
        return [self._seen[batch] for batch in sorted(self._seen)]

    @property
    def watermarks(self) -> list[float]:
        """The values that Spark's watermark took, in order, without repeats."""
        texts = [progress.eventTime.get("watermark") for progress in self.progress]
        values = [seconds(datetime.fromisoformat(text)) for text in texts if text is not None]
        return [value for index, value in enumerate(values) if index == 0 or values[index - 1] != value]

    def source(self, index: int = 0) -> dict[str, Any]:
        """What a source said about itself in the newest progress."""
        return dict(json.loads(self.progress[-1].sources[index].latestOffset))

    def counted(self, what: str) -> int:
        """What the operators of a query counted under this name in all batches."""
        observed = (each.observedMetrics for each in self.progress)
        return sum(_metrics(row)[what] for rows in observed for name, row in rows.items() if _OF_SPARK not in name)

    def _note(self) -> None:
        for progress in self.query.recentProgress:
            self._seen[progress.batchId] = progress


def _metrics(row: Any) -> dict[str, Any]:
    """A row of observed metrics; a client of Spark Connect gets its values and its schema as two columns."""
    found = row.asDict()
    if set(found) != {"values", "schema"}:
        return dict(found)
    return dict(zip((each["name"] for each in found["schema"]["fields"]), found["values"], strict=True))


@contextmanager
def running(
    df: Any,
    mode: str = "append",
    *,
    checkpoint: Path | None = None,
    for_each: Callable[[Any, int], None] | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> Iterator[Running]:
    """Run a query while in the block, into a memory sink or into `for_each`."""
    name = f"scripted_{next(_names)}"
    writer = df.writeStream.outputMode(mode).queryName(name)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    if trigger is not None:
        writer = writer.trigger(**trigger)
    writer = writer.format("memory") if for_each is None else writer.foreachBatch(for_each)
    query = writer.start()
    try:
        yield Running(query, name, df.sparkSession)
    finally:
        query.stop()


class DyingSink:
    """A sink that keeps the rows of each batch, the last attempt's, and fails behind one of them.

    Args:
        batches: what it keeps, by number; several runs of a query share it.
        dies_in: behind which batch; None = behind none.
    """

    def __init__(self, batches: dict[int, list[tuple[Any, ...]]], dies_in: int | None) -> None:
        self._batches, self._dies_in = batches, dies_in

    def __call__(self, df: Any, number: int) -> None:
        self._batches[number] = [tuple(row) for row in df.collect()]
        if number == self._dies_in:
            raise RuntimeError("died")


def drain(df: Any, mode: str = "append", **how: Any) -> tuple[list[tuple[Any, ...]], Running]:
    """Run a query until everything is processed; return the memory sink's rows and the stopped query."""
    with running(df, mode, **how) as query:
        query.drain()
        return [] if how.get("for_each") else query.rows(), query


@contextmanager
def settings(spark: Any, values: Mapping[str, str]) -> Iterator[None]:
    """Change settings of the shared session while in the block."""
    before = {key: spark.conf.get(key, None) for key in values}
    for key, value in values.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def first_line(error: BaseException) -> str:
    """The first line of an error, as a user sees it."""
    return str(error).splitlines()[0]
