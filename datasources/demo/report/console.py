"""The demo on a terminal: live where there is one, line by line where there is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from datasources.demo.report.tables import comparison, partition_rows
from datasources.demo.report.watermark_chart import clock_text
from datasources.demo.results.join_outcome import JoinOutcome, join_rows
from datasources.demo.results.mysql_outcome import TableOutcome, TableProgress, table_rows
from datasources.demo.results.outcome import DemoSnapshot, Outcome
from datasources.demo.results.timeline import Moment
from datasources.demo.story.mysql_shop import ROWS
from datasources.demo.story.orders import ROLES, Story
from datasources.demo.story.producer import Produced
from watermark import Clock, SystemClock

_SPARK: Final = "bright_red"
_TIDEMARK: Final = "cyan"
_PLAIN_EVERY_NS: Final = 5_000_000_000
_REFRESH_PER_S: Final = 8
_BAR_WIDTH: Final = 44


class PlainDisplay:
    """Writes lines: for files, pipes and CI."""

    def __init__(self, console: Console, story: Story, *, clock: Clock | None = None) -> None:
        self._console = console
        self._story = story
        self._clock = clock or SystemClock()
        self._next_ns = self._clock.monotonic_ns()

    def phase(self, text: str) -> None:
        """Show that something else begins."""
        self._console.print(f"... {text}", highlight=False)

    def note(self, text: str) -> None:
        """Show one line of news."""
        self._console.print(f"    {text}", highlight=False)

    def snapshot(self, snapshot: DemoSnapshot) -> None:
        """Show how far the queries are, every five seconds."""
        if self._clock.monotonic_ns() < self._next_ns:
            return
        self._next_ns = self._clock.monotonic_ns() + _PLAIN_EVERY_NS
        spark, tidemark = _watermark(snapshot.spark), _watermark(snapshot.tidemark)
        self._console.print(
            f"    {snapshot.produced.rows:,} of {self._story.order_count:,} orders written; "
            f"watermark of Spark {spark}, of Tidemark {tidemark}",
            highlight=False,
        )

    def copying(self, progress: TableProgress) -> None:
        """Show how far the copy of the MySQL table is, every five seconds."""
        if self._clock.monotonic_ns() < self._next_ns:
            return
        self._next_ns = self._clock.monotonic_ns() + _PLAIN_EVERY_NS
        self._console.print(f"    {_copying(progress)}", highlight=False)


class LiveDisplay:
    """Redraws one picture: for people at a terminal."""

    def __init__(self, live: Live, story: Story) -> None:
        self._live = live
        self._story = story
        self._spinner = Spinner("dots", text="")
        self._snapshot: DemoSnapshot | None = None
        self._progress_of_table: TableProgress | None = None

    def phase(self, text: str) -> None:
        """Show that something else begins."""
        self._spinner.update(text=text)
        self._live.update(self._picture())

    def note(self, text: str) -> None:
        """Show one line of news above the picture."""
        self._live.console.print(text, style="dim", highlight=False)

    def snapshot(self, snapshot: DemoSnapshot) -> None:
        """Show how far the queries are."""
        self._snapshot = snapshot
        self._live.update(self._picture())

    def copying(self, progress: TableProgress) -> None:
        """Show how far the copy of the MySQL table is."""
        self._progress_of_table = progress
        self._live.update(self._picture())

    def _picture(self) -> RenderableType:
        if self._progress_of_table is not None:
            return Group(self._spinner, "", _copying(self._progress_of_table))
        if self._snapshot is None:
            return self._spinner
        return Group(self._spinner, "", self._progress(self._snapshot.produced), "", _now(self._snapshot))

    def _progress(self, produced: Produced) -> RenderableType:
        total = self._story.order_count
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=total, completed=produced.rows, width=_BAR_WIDTH, complete_style=_TIDEMARK)
        line.add_row(bar, Text(f"{produced.rows:,} of {total:,} orders written"))
        return line


@contextmanager
def demo_display(console: Console, story: Story) -> Iterator[LiveDisplay | PlainDisplay]:
    """Give the display that suits the console."""
    if not console.is_terminal:
        yield PlainDisplay(console, story)
        return
    with Live(console=console, refresh_per_second=_REFRESH_PER_S, transient=True) as live:
        yield LiveDisplay(live, story)


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Print the results, the partitions and how they were obtained."""
    console.print()
    console.print(_comparison_table(outcome))
    console.print()
    console.print(_partition_table(outcome))
    console.print(
        f"\nCounted: windows that end by {clock_text(outcome.story.complete_until_ms)}, which every watermark has "
        f"passed; the truth comes from the producer and its seed {outcome.story.seed}. Spark's side read with "
        f'{outcome.surroundings.source} and withWatermark("ts", "10 seconds"). numRowsDroppedByWatermark is '
        "Spark's own metric; it counts groups that were added up before the drop, so it is below the orders lost.",
        style="dim",
        highlight=False,
    )
    console.print()
    if outcome.join is not None:
        _show_join(console, outcome.join)
        console.print()
    _show_table(console, outcome.table)


def _show_join(console: Console, outcome: JoinOutcome) -> None:
    console.print(_info_table("The same orders, each joined with its customer in a table of MySQL", join_rows(outcome)))


def _show_table(console: Console, outcome: TableOutcome | str) -> None:
    if isinstance(outcome, str):
        console.print(f"The part with MySQL has no result: {outcome}", highlight=False)
        return
    console.print(
        _info_table("A table of MySQL that changes all the time, and Spark's copy of it", table_rows(outcome))
    )
    if outcome.difference is not None:
        console.print(outcome.difference, style="dim", highlight=False)


def _info_table(title: str, rows: Sequence[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    table.add_column("")
    table.add_column("", style=_TIDEMARK)
    for number, (name, text) in enumerate(rows):
        table.add_row(name, text, style="bold" if number == 0 else None)
    return table


def _copying(progress: TableProgress) -> str:
    copied = progress.copied
    return (
        f"{copied.snapshot_rows:,} of about {ROWS:,} rows read, {copied.changes:,} images of changes followed; "
        f"{progress.written.statements:,} rows changed"
    )


def _comparison_table(outcome: Outcome) -> Table:
    table = Table(title="The same count of the same orders", title_justify="left", title_style="bold")
    table.add_column("")
    table.add_column(outcome.spark.title, justify="right", style=_SPARK)
    table.add_column(outcome.tidemark.title, justify="right", style=_TIDEMARK)
    for number, row in enumerate(comparison(outcome)):
        table.add_row(row.name, row.spark, row.tidemark, style="bold" if number == 0 else None)
    return table


def _partition_table(outcome: Outcome) -> Table:
    table = Table(title="Partitions at the end, as Tidemark sees them", title_justify="left", title_style="bold")
    for name in ("partition", "behaviour", "orders", "watermark", "status"):
        table.add_column(name, justify="left" if name in {"behaviour", "status"} else "right")
    for row in partition_rows(outcome):
        table.add_row(row.number, row.role, row.position, row.watermark, row.status)
    return table


def _now(snapshot: DemoSnapshot) -> Table:
    table = Table.grid(padding=(0, 3))
    splits = snapshot.tidemark.splits if snapshot.tidemark else {}
    for number, role in enumerate(ROLES):
        split = splits.get(number)
        watermark = "no watermark yet" if split is None or not split.watermark_ms else clock_text(split.watermark_ms)
        table.add_row(f"partition {number}", Text(role.value, style="dim"), watermark, split.status if split else "")
    table.add_row()
    for name, moment, style in (("Spark", snapshot.spark, _SPARK), ("Tidemark", snapshot.tidemark, _TIDEMARK)):
        words = Text("watermark of the query", style="dim")
        table.add_row(Text(name, style=f"bold {style}"), words, Text(_watermark(moment), style=style), _read(moment))
    return table


def _watermark(moment: Moment | None) -> str:
    return "none yet" if moment is None or moment.watermark_ms is None else clock_text(moment.watermark_ms)


def _read(moment: Moment | None) -> str:
    return "" if moment is None else f"{moment.read_rows:,} orders read"
