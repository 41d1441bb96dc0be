"""The rows of a running stream, batch by batch in this process, on Spark Connect from the server's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import uuid4

from datasources.durations import parse_duration_ms
from datasources.spark.boundary.connect import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery

MAX_ROWS: Final = 1000
"""Rows of a result, or of one batch, that are shown."""

_NO_WATERMARK: Final = "1970-01-01T00:00:00.000Z"
"""What Spark reports while there is no watermark."""

OnRows = Callable[[int | None, Sequence[str], list["Row"]], None]
"""Called with the number of a batch (None = rows of several), the columns, and rows: texts, one more than are shown."""


class StreamRows(Protocol):
    """Gives the rows of a query that its writer starts."""

    writer: Any

    def take_new(self) -> None:
        """Give the rows that came since the last call, unless Spark gives them by itself."""
        ...


def stream_rows(frame: DataFrame, on_rows: OnRows) -> StreamRows:
    """Return what gives the rows of a stream to a function.

    Args:
        frame: a stream.
        on_rows: called for rows; in the driver's process from a thread of Spark's, which waits for it.
    """
    return _ServerRows(frame, on_rows) if is_connect(frame.sparkSession) else _BatchRows(frame, on_rows)


def start_stream(rows: StreamRows, trigger: str | None) -> tuple[StreamingQuery, bool]:
    """Start a query whose rows are given; return it, and whether its rows replace earlier ones of the same group.

    Args:
        rows: of a stream.
        trigger: `available-now`, which ends when everything that is there was read, or the time between batches; None =
            as soon as possible.
    """
    from pyspark.errors import AnalysisException

    writer = rows.writer
    if trigger is not None and trigger.lower() == "available-now":
        writer = writer.trigger(availableNow=True)
    elif trigger is not None:
        writer = writer.trigger(processingTime=f"{parse_duration_ms(trigger, key='execution.trigger')} milliseconds")
    try:
        return writer.outputMode("append").start(), False
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith("STREAMING_OUTPUT_MODE"):
            raise
    return writer.outputMode("update").start(), True


def first_rows(frame: DataFrame) -> list[Row]:
    """Return one row more than is shown, as texts: PySpark's own values of times are in the machine's zone."""
    names = [f"c{index}" for index in range(len(frame.columns))]
    texts = (
        f"hex({name})" if kind == "binary" else f"CAST({name} AS STRING)"
        for name, (_, kind) in zip(names, frame.dtypes, strict=True)
    )
    rows: list[Row] = frame.limit(MAX_ROWS + 1).toDF(*names).selectExpr(*texts).collect()
    return rows


def watermark_of(query: StreamingQuery) -> str | None:
    """Return the watermark in a query's last progress; None = none yet."""
    progress = query.lastProgress
    watermark = None if progress is None else progress["eventTime"].get("watermark")
    return None if watermark in (None, _NO_WATERMARK) else str(watermark)


class _BatchRows:
    """The rows of a stream of this process, batch by batch."""

    def __init__(self, frame: DataFrame, on_rows: OnRows) -> None:
        self._on_rows = on_rows
        self.writer = frame.writeStream.foreachBatch(self._give)

    def take_new(self) -> None:
        """Do nothing: Spark calls for each batch."""

    def _give(self, batch: DataFrame, number: int) -> None:
        rows = first_rows(batch)
        if rows:
            self._on_rows(number, batch.columns, rows)


class _ServerRows:
    """The rows of a stream of a server, where a function for batches would run there: a table in its memory."""

    def __init__(self, frame: DataFrame, on_rows: OnRows) -> None:
        self._spark = frame.sparkSession
        self._on_rows = on_rows
        self._table = f"tidemark_sql_{uuid4().hex}"
        self._given = 0
        self.writer = frame.writeStream.format("memory").queryName(self._table)

    def take_new(self) -> None:
        """Give the rows that came since the last call."""
        rows = self._spark.table(self._table).offset(self._given)
        while found := first_rows(rows)[:MAX_ROWS]:
            self._on_rows(None, rows.columns, found)
            self._given += len(found)
            rows = self._spark.table(self._table).offset(self._given)
