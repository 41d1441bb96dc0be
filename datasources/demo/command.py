"""The command `tidemark demo`: run, show, write the page, check the outcome."""

from __future__ import annotations

import os
import signal
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final, TextIO

from rich.console import Console

from datasources.demo.report.console import demo_display, show_outcome
from datasources.demo.results.outcome import Outcome
from datasources.demo.run import DemoSettings, run_demo
from datasources.demo.spark.silenced_output import silenced_output
from datasources.demo.story.orders import generate_story
from datasources.errors import EnvironmentProblem, InternalError, TidemarkError

_FALLBACK_COLUMNS: Final = 100
_SIGNAL_EXIT: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRequest:
    """The command line of the demo.

    Attributes:
        seed: The seed of the orders.
        page: The HTML file to write.
        picture: An SVG file to write with the chart of watermarks; None writes none.
        settings: How it is run.
    """

    seed: int
    page: Path
    picture: Path | None = None
    settings: DemoSettings = field(default_factory=DemoSettings)


def demo(request: DemoRequest) -> int:
    """Run the demo and return the exit status: 0, or 1 if its claims do not hold.

    Raises:
        TidemarkError: It could not be run; the message gives the reason.
    """
    _require_writable(request.page, "--page")
    if request.picture is not None:
        _require_writable(request.picture, "--picture")
    with _polite_end(), tempfile.TemporaryDirectory(prefix="tidemark-demo-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        log = directory / "output.log"
        try:
            with silenced_output(log) as terminal:
                outcome = _run(request, directory, _console(terminal))
                return _conclude(request, outcome, _console(terminal))
        except TidemarkError:
            raise
        except Exception as error:  # unexpected: the log explains more than a stack trace on the terminal
            kept = request.page.with_suffix(".log").resolve()
            kept.write_text(log.read_text(errors="replace") + traceback.format_exc())
            first = (str(error).splitlines() or [""])[0]
            raise InternalError(f"the demo broke: {type(error).__name__}: {first}; its log is {kept}") from error


def _run(request: DemoRequest, directory: Path, console: Console) -> Outcome:
    story = generate_story(request.seed)
    with demo_display(console, story) as display:
        return run_demo(story, request.settings, directory, display)


def _conclude(request: DemoRequest, outcome: Outcome, console: Console) -> int:
    from datasources.demo.queries.join_query import SNIPPET as JOIN_SNIPPET
    from datasources.demo.queries.mysql_copy import SNIPPET as TABLE_SNIPPET
    from datasources.demo.queries.window_queries import SNIPPET
    from datasources.demo.report.page import Snippets, render_page
    from datasources.demo.report.picture import render_picture

    show_outcome(console, outcome)
    snippets = Snippets(count=SNIPPET, join=JOIN_SNIPPET, table=TABLE_SNIPPET)
    request.page.write_text(render_page(outcome, snippets), encoding="utf-8")
    if request.picture is not None:
        request.picture.write_text(render_picture(outcome) + "\n", encoding="utf-8")
    console.print(f"\nThe page with the charts: {request.page.resolve()}", soft_wrap=True, highlight=False)
    if outcome.failure is not None:
        console.print(f"\nFAILED: {outcome.failure}", style="bold red", soft_wrap=True, highlight=False)
        return 1
    return 0


def _console(terminal: TextIO) -> Console:
    columns = None
    if not terminal.isatty():
        columns = int(os.environ.get("COLUMNS", "") or _FALLBACK_COLUMNS)
    return Console(file=terminal, width=columns)


def _require_writable(file: Path, option: str) -> None:
    """Raise before a minute of work if its result could not be stored."""
    folder = file.resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or file.is_dir():
        raise EnvironmentProblem(f"{file} cannot be written: name another file with {option}")


@contextmanager
def _polite_end() -> Iterator[None]:
    """Let a termination or a closed terminal end us as Ctrl-C does: with everything cleaned up."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(_SIGNAL_EXIT + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
