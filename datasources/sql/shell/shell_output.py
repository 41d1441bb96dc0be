"""The output of `tidemark sql`: results as tables, streams batch by batch, errors without a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from rich.console import Console
from rich.table import Table
from rich.text import Text

from datasources.errors import TidemarkError
from datasources.spark.boundary.connect import is_connect
from datasources.sql.execute.result import StatementResult
from datasources.sql.shell.interrupts import Interrupts, interruptible, noted_interrupts
from datasources.sql.shell.stream_rows import MAX_ROWS, StreamRows, first_rows, start_stream, stream_rows, watermark_of
from datasources.terminal_text import plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_S: Final = 0.5
_LINES: Final = "\n\t"
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
        show = stream_rows(frame, partial(_print_batch, console))
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


def _start(console: Console, show: StreamRows, trigger: str | None) -> StreamingQuery:
    """Start a query that prints its batches: rows that stay if the stream has them, else rows that change."""
    query, changes = start_stream(show, trigger)
    if changes:
        console.print(Text("hint: rows of this query change: a row replaces an earlier one of the same group"))
    return query


def _collected(frame: DataFrame) -> list[Row]:
    """Return the first rows; Ctrl-C cancels the jobs of this statement, and not those of queries in the background."""
    spark, tag = frame.sparkSession, f"tidemark-sql-{uuid4()}"
    if is_connect(spark):
        add, cancel = spark.addTag, spark.interruptTag
    else:  # in the driver's process a session's tags do not reach the job
        add, cancel = spark.sparkContext.addJobTag, spark.sparkContext.cancelJobsWithTag

    def collect() -> list[Row]:
        add(tag)  # a tag is its thread's own, and this thread ends with the statement
        return first_rows(frame)

    return interruptible(collect, lambda: cancel(tag))


def _print_batch(console: Console, number: int | None, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    if number is not None:
        cut = f", the first {MAX_ROWS} rows" if len(rows) > MAX_ROWS else ""
        console.print(Text(f"batch {number}{cut}"))
    _print_table(console, columns, rows[:MAX_ROWS])


def _follow(console: Console, query: StreamingQuery, show: StreamRows, interrupts: Interrupts) -> None:
    shown: str | None = None
    while not query.awaitTermination(_LOOK_S):
        show.take_new()
        shown = _print_watermark(console, query, shown)
        if interrupts.is_pressed:
            raise KeyboardInterrupt
    show.take_new()
    _print_watermark(console, query, shown)


def _print_watermark(console: Console, query: StreamingQuery, shown: str | None) -> str | None:
    watermark = watermark_of(query)
    if watermark in (None, shown):
        return shown
    console.print(Text(f"watermark {watermark}"))
    return watermark


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
