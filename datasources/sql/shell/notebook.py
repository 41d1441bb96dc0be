"""A running stream in a notebook: its newest rows and its watermark, and below them the page of its splits.

from datasources import show_stream
query = show_stream(t.query("SELECT ..."))
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from datasources.errors import EnvironmentProblem, OptionError
from datasources.spark.attach.register import application_page
from datasources.sql.shell.shell_output import error_text
from datasources.sql.shell.stream_rows import MAX_ROWS, StreamRows, start_stream, stream_rows, watermark_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_S: Final = 0.5
_CHART_HEIGHT: Final = 640


def show_stream(frame: DataFrame, *, rows: int = 20, trigger: str | None = None) -> StreamingQuery:
    """Start a query and show its newest rows in the notebook's output until it ends; return at once.

    Of each batch the first 1,000 rows are looked at. Below the rows is the application's page, with the watermark of
    each split over time, if `spark.tidemark.ui.port` is set and `spark.tidemark.ui.frames` has the notebook's address;
    else a link to it.

    Args:
        frame: a stream.
        rows: how many rows are shown, the newest first; at most 1,000.
        trigger: `available-now`, which ends when everything that is there was read, or the time between batches, such
            as `10 s`; None = as soon as possible.

    Returns:
        The query: `query.stop()` ends it. If it fails, the output has the reason.

    Raises:
        EnvironmentProblem: this is no notebook: IPython is not installed.
        OptionError: the number of rows or the trigger is none.
        AnalysisException: Spark refuses the query.
    """
    if not 1 <= rows <= MAX_ROWS:
        raise OptionError(f"rows = {rows}: show 1 to {MAX_ROWS} rows.")
    try:
        from IPython.display import HTML, display  # notebooks have it; it is no dependency
    except ImportError:
        raise EnvironmentProblem(
            "show_stream shows rows in a notebook, and IPython is not installed. In a terminal use tidemark sql, or "
            "writeStream.format('console')."
        ) from None
    shown = _Shown(tuple(frame.columns), rows)
    stream = stream_rows(frame, shown.add)
    query, shown.has_changes = start_stream(stream, trigger)
    table = display(HTML(shown.to_html()), display_id=True)
    page = application_page(frame.sparkSession)
    if page is not None:
        display(HTML(_page_html(page.url, is_framed=page.is_framed)))

    def show() -> None:
        table.update(HTML(shown.to_html()))

    threading.Thread(target=_follow, args=(query, stream, shown, show), name="tidemark-notebook", daemon=True).start()
    return query


class _Shown:
    """What is shown of a query."""

    def __init__(self, columns: Sequence[str], rows: int) -> None:
        self._columns = columns
        self._rows: deque[tuple[str | None, ...]] = deque(maxlen=rows)
        self._count = 0
        self._has_more = False
        self._lock = threading.Lock()
        self.has_changes = False
        self.watermark: str | None = None
        self.state = "running"

    def add(self, _batch: int | None, _columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows of a batch, one more than `MAX_ROWS` at most."""
        with self._lock:
            self._has_more = self._has_more or len(rows) > MAX_ROWS
            self._count += len(rows[:MAX_ROWS])
            self._rows.extendleft(tuple(row) for row in rows[:MAX_ROWS])

    def to_html(self) -> str:
        """Return the newest rows, and above them how the query is."""
        with self._lock:
            rows, count = list(self._rows), f"{'more than ' if self._has_more else ''}{self._count:,}"
        kind = "changed rows" if self.has_changes else "rows"
        about = f"{self.state} · {count} {kind}, the newest first · watermark {self.watermark or 'none yet'}"
        head = "".join(f"<th>{escape(column)}</th>" for column in self._columns)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
        return f"<p>{escape(about)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: str | None) -> str:
    return "<td><em>NULL</em></td>" if value is None else f"<td>{escape(str(value))}</td>"


def _page_html(url: str, *, is_framed: bool) -> str:
    link = f'<a href="{escape(url)}" target="_blank" rel="noreferrer">{escape(url)}</a>'
    if not is_framed:
        return f"<p>Watermarks of the splits: {link}. To see them here, set spark.tidemark.ui.frames.</p>"
    frame = (
        f'<iframe src="{escape(url)}" title="Watermarks of the splits" width="100%" height="{_CHART_HEIGHT}"></iframe>'
    )
    return f"<p>{link}</p>{frame}"


def _follow(query: StreamingQuery, stream: StreamRows, shown: _Shown, show: Any) -> None:
    """Show what changed, until the query ends."""
    before = ""
    is_running = True
    while is_running:
        is_running = not _has_ended(query, shown)
        stream.take_new()
        shown.watermark = watermark_of(query) or shown.watermark
        now = shown.to_html()
        if now != before:
            show()
        before = now


def _has_ended(query: StreamingQuery, shown: _Shown) -> bool:
    from pyspark.errors import PySparkException

    try:
        has_ended = bool(query.awaitTermination(_LOOK_S))
    except PySparkException as error:
        shown.state = f"failed: {error_text(error)}"
        return True
    if has_ended:
        shown.state = "ended"
    return has_ended
