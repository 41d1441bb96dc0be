"""What the demo shows on a terminal and in a pipe."""

from __future__ import annotations

import io

from rich.console import Console

from datasources.demo.console import LiveDisplay, PlainDisplay, demo_display, show_outcome
from datasources.demo.outcome import Snapshot
from datasources.demo.producer import Produced
from tests.support.demo_outcome import demo_outcome
from watermark import ManualClock

OUTCOME = demo_outcome()
SNAPSHOT = Snapshot(
    produced=Produced(steps=4, rows=800),
    spark=OUTCOME.spark.timeline.moments[2],
    tidemark=OUTCOME.tidemark.timeline.moments[2],
)


def _console(*, is_terminal):
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=110, color_system=None)


def test_a_pipe_gets_one_line_every_five_seconds():
    console, clock = _console(is_terminal=False), ManualClock()
    display = PlainDisplay(console, OUTCOME.story, clock=clock)
    display.phase("beginning")
    for _ in range(12):
        display.snapshot(SNAPSHOT)
        clock.advance_us(1_000_000)
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "... beginning"
    assert len(lines) == 1 + 3
    assert "800 of 14,800 orders written" in lines[1]


def test_a_pipe_gets_no_escape_sequences():
    console = _console(is_terminal=False)
    with demo_display(console, OUTCOME.story) as display:
        assert isinstance(display, PlainDisplay)
        display.note("fetching")
        display.snapshot(Snapshot(produced=Produced()))
    show_outcome(console, OUTCOME)
    assert "\x1b" not in console.file.getvalue()
    assert "of Spark none yet" in console.file.getvalue()


def test_a_terminal_shows_every_partition_while_the_queries_run():
    console = _console(is_terminal=True)
    with demo_display(console, OUTCOME.story) as display:
        assert isinstance(display, LiveDisplay)
        display.phase("counting")
        display.note("one line of news")
        display.snapshot(SNAPSHOT)
        display.snapshot(Snapshot(produced=Produced()))
        picture = display._picture()
        plain = _console(is_terminal=False)
        display.snapshot(SNAPSHOT)
        plain.print(display._picture())
    assert picture is not None
    shown = plain.file.getvalue()
    assert all(f"partition {number}" in shown for number in range(4))
    assert "800 of 14,800 orders written" in shown
    assert "one line of news" in console.file.getvalue()


def test_the_results_name_the_loss_the_metric_and_how_it_was_counted():
    console = _console(is_terminal=False)
    show_outcome(console, OUTCOME)
    shown = console.file.getvalue()
    assert f"{OUTCOME.spark.verdict.lost_rows} of 14,238" in shown
    assert "0 of 14,238" in shown
    assert "numRowsDroppedByWatermark" in shown
    assert "seed 7" in shown
    assert "a plain source" in shown
