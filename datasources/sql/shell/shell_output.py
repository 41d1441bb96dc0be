"""The output of `tidemark sql`: results as tables, streams batch by batch, errors without a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from rich.console import Console
from rich.table import Table
from rich.text import Text

from datasources.durations import parse_duration_ms
from datasources.errors import TidemarkError
from datasources.spark.boundary.connect import is_connect
from datasources.sql.execute.result import StatementResult
from datasources.sql.shell.interrupts import Interrupts, interruptible, noted_interrupts
from datasources.terminal_text import plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery

MAX_ROWS: Final = 1000
"""Rows of a result, or of one batch, that are shown."""

_LOOK_S: Final = 0.5
_LINES: Final = "\n\t"
_NO_WATERMARK: Final = "1970-01-01T00:00:00.000Z"
"""What Spark reports while there is no watermark."""
_AFTER_MESSAGE: Final = re.compile(
    r"\n\nJVM stacktrace|\n=== Streaming Query ===|(?<= pos \d);\n|(?<= pos \d\d);\n|(?<= pos \d\d\d);\n"
)
"""What follows a message of Spark's: a stack trace, the state of a query, or the plan that was analysed."""
_SINK_FAILED: Final = "FOREACH_BATCH_USER_FUNCTION_ERROR"
_OF_A_SINK: Final = re.compile(r"\[TIDEMARK_[A-Z_]{1,40}\] [^\n]*")


def print_result(console: Console, result: StatementResult) -> None:
    """Print the result of a statement that is no query, and its hints."""
    if len(result.columns) == 1 and result.kind.startswith(("EXPLAIN", "SHOW CREATE")):
        console.print(Text(plain(result, keep=_LINES)), soft_wrap=True)
    elif result.columns:
        _print_table(console, result.columns, result.rows)
    else:
        console.print(Text(f"{result.kind}: ok"))
    for hint in result.hints:
        console.print(Text(plain(f"hint: {hint}", keep=_LINES)), soft_wrap=True)


def print_rows(console: Console, frame: DataFrame) -> None:
    """Print the rows of a bounded query, the first `MAX_ROWS` of them."""
    if not frame.columns:
        frame.collect()
        console.print(Text("ok"))
        return
    rows = _collected(frame)
    _print_table(console, frame.columns, rows[:MAX_ROWS])
    is_cut = len(rows) > MAX_ROWS
    console.print(Text(f"the first {MAX_ROWS} rows" if is_cut else _counted(len(rows))))


def print_stream(console: Console, frame: DataFrame, *, trigger: str | None) -> None:
    """Print the rows of a stream as they come, and its watermark when it moves, until the query ends.

    The trigger is `available-now`, which ends when everything that is there was read, or the time between batches; None
    = as soon as possible.

    Raises:
        KeyboardInterrupt: the user pressed Ctrl-C; the query was stopped.
        StreamingQueryException: the query failed.
    """
    with noted_interrupts() as interrupts:
        show = _ServerRows(console, frame) if is_connect(frame.sparkSession) else _BatchRows(console, frame)
        query = _start(console, show, trigger)
        try:
            _follow(console, query, show, interrupts)
        finally:
            query.stop()


def error_text(error: BaseException) -> str | None:
    """Return the message of an error for a user; None = it is a bug, and its traceback is needed."""
    if isinstance(error, TidemarkError):
        return plain(error, keep=_LINES)
    from pyspark.errors import PySparkException

    if isinstance(error, PySparkException):
        # A sink of ours fails in a function that Spark calls: our sentence stands behind the traceback.
        own = _OF_A_SINK.search(str(error)) if _SINK_FAILED in str(error) else None
        if own is not None:
            return plain(own[0], keep=_LINES)
        return plain(_AFTER_MESSAGE.split(str(error).strip(), maxsplit=1)[0].strip(), keep=_LINES)
    return None


class _BatchRows:
    """The rows of a stream of this process, printed batch by batch."""

    def __init__(self, console: Console, frame: DataFrame) -> None:
        self._console = console
        self.writer = frame.writeStream.foreachBatch(self._print)

    def print_new(self) -> None:
        """Print nothing: Spark calls for each batch."""

    def _print(self, batch: DataFrame, number: int) -> None:
        rows = _first_rows(batch)
        if rows:
            title = f"batch {number}" + (f", the first {MAX_ROWS} rows" if len(rows) > MAX_ROWS else "")
            self._console.print(Text(title))
            _print_table(self._console, batch.columns, rows[:MAX_ROWS])


class _ServerRows:
    """The rows of a stream of a server, where a function for batches would print: a table in the server's memory."""

    def __init__(self, console: Console, frame: DataFrame) -> None:
        self._console = console
        self._spark = frame.sparkSession
        self._table = f"tidemark_sql_{uuid4().hex}"
        self._printed = 0
        self.writer = frame.writeStream.format("memory").queryName(self._table)

    def print_new(self) -> None:
        """Print the rows that came since the last call."""
        rows = self._spark.table(self._table).offset(self._printed)
        while found := _first_rows(rows)[:MAX_ROWS]:
            _print_table(self._console, rows.columns, found)
            self._printed += len(found)
            rows = self._spark.table(self._table).offset(self._printed)


def _start(console: Console, show: _BatchRows | _ServerRows, trigger: str | None) -> StreamingQuery:
    """Start a query that prints its batches: rows that stay if the stream has them, else rows that change."""
    from pyspark.errors import AnalysisException

    writer = show.writer
    if trigger is not None and trigger.lower() == "available-now":
        writer = writer.trigger(availableNow=True)
    elif trigger is not None:
        writer = writer.trigger(processingTime=f"{parse_duration_ms(trigger, key='execution.trigger')} milliseconds")
    try:
        return writer.outputMode("append").start()
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith("STREAMING_OUTPUT_MODE"):
            raise
    console.print(Text("hint: rows of this query change: a row replaces an earlier one of the same group"))
    return writer.outputMode("update").start()


def _collected(frame: DataFrame) -> list[Row]:
    """Return the first rows; Ctrl-C cancels the jobs of this statement, and not those of queries in the background."""
    spark, tag = frame.sparkSession, f"tidemark-sql-{uuid4()}"
    if is_connect(spark):
        add, cancel = spark.addTag, spark.interruptTag
    else:  # in the driver's process a session's tags do not reach the job
        add, cancel = spark.sparkContext.addJobTag, spark.sparkContext.cancelJobsWithTag

    def collect() -> list[Row]:
        add(tag)  # a tag is its thread's own, and this thread ends with the statement
        return _first_rows(frame)

    return interruptible(collect, lambda: cancel(tag))


def _first_rows(frame: DataFrame) -> list[Row]:
    """Return one row more than is shown, as texts: PySpark's own values of times are in the machine's zone."""
    names = [f"c{index}" for index in range(len(frame.columns))]
    texts = (
        f"hex({name})" if kind == "binary" else f"CAST({name} AS STRING)"
        for name, (_, kind) in zip(names, frame.dtypes, strict=True)
    )
    rows: list[Row] = frame.limit(MAX_ROWS + 1).toDF(*names).selectExpr(*texts).collect()
    return rows


def _follow(console: Console, query: StreamingQuery, show: _BatchRows | _ServerRows, interrupts: Interrupts) -> None:
    shown: str | None = None
    while not query.awaitTermination(_LOOK_S):
        show.print_new()
        shown = _print_watermark(console, query, shown)
        if interrupts.is_pressed:
            raise KeyboardInterrupt
    show.print_new()
    _print_watermark(console, query, shown)


def _print_watermark(console: Console, query: StreamingQuery, shown: str | None) -> str | None:
    progress = query.lastProgress
    watermark = None if progress is None else progress["eventTime"].get("watermark")
    if watermark is None or watermark in (shown, _NO_WATERMARK):
        return shown
    console.print(Text(f"watermark {watermark}"))
    return str(watermark)


def _print_table(console: Console, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    table = Table()
    for column in columns:
        table.add_column(Text(plain(column)), overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    console.print(table)


def _cell(value: Any) -> Text:
    return Text("NULL", style="dim") if value is None else Text(plain(value, keep=_LINES))


def _counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"
