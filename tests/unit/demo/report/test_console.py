"""What the demo shows on a terminal and in a pipe."""

from __future__ import annotations

import dataclasses
import io

from rich.console import Console

from datasources.demo.report.console import LiveDisplay, PlainDisplay, demo_display, show_outcome
from datasources.demo.results.join_outcome import join_rows
from datasources.demo.results.mysql_outcome import TableOutcome, table_rows
from datasources.demo.results.outcome import DemoSnapshot
from datasources.demo.story.producer import Produced
from tests.support.demo_outcome import demo_outcome, join_outcome, table_outcome
from watermark import ManualClock

OUTCOME = demo_outcome()
SNAPSHOT = DemoSnapshot(
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
        display.snapshot(DemoSnapshot(produced=Produced()))
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
        display.snapshot(DemoSnapshot(produced=Produced()))
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
    assert f"{OUTCOME.spark.accuracy.lost_rows} of 14,238" in shown
    assert "0 of 14,238" in shown
    assert "numRowsDroppedByWatermark" in shown
    assert "seed 7" in shown
    assert "a plain source" in shown


def test_the_results_name_the_server_and_whether_the_copy_equals_the_table():
    console = _console(is_terminal=False)
    show_outcome(console, OUTCOME)
    shown = console.file.getvalue()
    for words in ("20,100 of 20,100: equal", "MySQL <9.7.4>", "19,876 in 6 batches", "4,321, 1,234 of them", "MariaDB"):
        assert (words in shown) == (words != "MariaDB"), words
    show_outcome(console, dataclasses.replace(OUTCOME, table=table_outcome(is_mariadb=True)))
    assert "commit times are whole seconds" in " ".join(console.file.getvalue().split())
    show_outcome(console, dataclasses.replace(OUTCOME, table="no server for this machine"))
    assert "The part with MySQL has no result: no server for this machine" in console.file.getvalue()


def test_a_copy_that_differs_fails_the_demo():
    assert OUTCOME.failure is None
    table = table_outcome(lost=3)
    failed = dataclasses.replace(OUTCOME, table=table)
    assert "differs in 3 of 20100 keys (3 missing, 0 too many, 0 with other values)" in str(failed.failure)
    assert dict(table_rows(table))["keys equal"] == "20,097 of 20,100"
    assert dataclasses.replace(OUTCOME, table="not run").failure is None
    assert "differs in 0 of 0" in str(
        TableOutcome.compare({}, {}, server="s", is_mariadb=False, progress=table.progress).failure
    )


def test_how_far_the_copy_is_can_be_seen_on_both_displays():
    progress = table_outcome().progress
    words = "19,876 of about 20,000 rows read, 4,321 images of changes followed; 3,500 rows changed"
    console = _console(is_terminal=False)
    PlainDisplay(console, OUTCOME.story).copying(progress)
    assert words in " ".join(console.file.getvalue().split())
    with demo_display(_console(is_terminal=True), OUTCOME.story) as display:
        display.copying(progress)
        plain = _console(is_terminal=False)
        plain.print(display._picture())
    assert words in " ".join(plain.file.getvalue().split())


def test_an_order_without_its_customer_fails_the_demo_and_both_are_shown():
    console = Console(file=io.StringIO(), width=100)
    show_outcome(console, OUTCOME)
    assert "orders without their customer" in console.file.getvalue()
    failed = dataclasses.replace(OUTCOME, join=join_outcome(OUTCOME.story, unmatched=3))
    assert "3 met no customer" in failed.failure
    assert dict(join_rows(failed.join))["orders without their customer"].startswith("3 of ")
