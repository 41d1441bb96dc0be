"""A stream in a notebook's output, with a stand-in for the notebook; test_new_user.py executes a real one."""

from __future__ import annotations

import html
import re
import sys
import types
from typing import Any

import pytest

from datasources import show_stream
from datasources.errors import EnvironmentProblem, OptionError
from datasources.spark.attach.register import ApplicationPage
from datasources.sql.shell import notebook
from tests.support.source.loopback import wait_until
from tests.support.spark.scripted_stream import Scripts

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]


class Output:
    """What a cell shows: the HTML of each display, and of its newest update."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, found: str, *, display_id: bool = False) -> Any:
        at = len(self.shown)
        self.shown.append(found)

        def update(found: str) -> None:
            self.shown[at] = found

        return types.SimpleNamespace(update=update) if display_id else None

    def cells(self) -> list[list[str]]:
        rows = re.findall(r"<tr>(.*?)</tr>", self.shown[0])[1:]
        return [[html.unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", row)] for row in rows]


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    """The output of the cell that runs the test."""
    found = Output()
    module = types.ModuleType("IPython.display")
    module.HTML, module.display = str, found.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return found


@pytest.fixture
def scripts(tmp_path) -> Scripts:
    found = Scripts(tmp_path / "scripts")
    found.append("s-0", *((n, "<a>", None if n == 11 else f"v{n}") for n in range(12)))
    return found


def test_the_newest_rows_are_shown_with_the_watermark_until_the_query_ends(spark, scripts, output):
    query = show_stream(scripts.stream(spark).select("k", "v"), rows=3)
    query.processAllAvailable()
    wait_until(lambda: output.cells() == [["<a>", "<em>NULL</em>"], ["<a>", "v10"], ["<a>", "v9"]])
    assert "<em>NULL</em>" in output.shown[0]
    assert "running · 12 rows, the newest first · watermark " in output.shown[0]
    scripts.append("s-0", (30, "b", "w"))
    query.processAllAvailable()
    wait_until(lambda: output.cells()[0] == ["b", "w"])
    wait_until(lambda: "watermark 1970-01-01T00:00:10" in output.shown[0])
    query.stop()
    wait_until(lambda: "ended · 13 rows" in output.shown[0])
    assert len(output.shown) == 1  # no page is served


def test_rows_that_change_are_called_so(spark, scripts, output):
    query = show_stream(scripts.stream(spark).groupBy("k").count(), trigger="available-now")
    assert query.awaitTermination(60)
    wait_until(lambda: "ended · 1 changed rows" in output.shown[0])
    assert output.cells() == [["<a>", "12"]]


def test_of_a_large_batch_the_first_rows_are_shown_and_that_there_are_more(spark, tmp_path, output):
    scripts = Scripts(tmp_path / "many")
    scripts.append("s-0", *((n % 60, "k", f"v{n}") for n in range(1_500)))
    show_stream(scripts.stream(spark).select("v"), rows=2, trigger="available-now").awaitTermination()
    wait_until(lambda: "ended · more than 1,000 rows, the newest first" in output.shown[0])
    assert len(output.cells()) == 2


def test_a_query_that_fails_shows_its_reason(spark, scripts, output):
    scripts.append("s-0", "this is no JSON")
    query = show_stream(scripts.stream(spark).select("k"))
    wait_until(lambda: "failed: " in output.shown[0])
    assert "this is no JSON" in html.unescape(output.shown[0]) or "s-0" in output.shown[0]
    assert query.exception() is not None


@pytest.mark.parametrize("is_framed", [False, True])
def test_the_page_is_linked_and_framed_where_it_may_be(spark, scripts, output, monkeypatch, is_framed):
    page = ApplicationPage(url="http://127.0.0.1:4055/", is_framed=is_framed)
    monkeypatch.setattr(notebook, "application_page", lambda _: page)
    show_stream(scripts.stream(spark), trigger="available-now").awaitTermination()
    assert '<a href="http://127.0.0.1:4055/"' in output.shown[1]
    assert ("<iframe" in output.shown[1]) is is_framed
    assert ("spark.tidemark.ui.frames" in output.shown[1]) is not is_framed


@pytest.mark.parametrize("rows", [0, -1, 1_001])
def test_a_number_of_rows_that_cannot_be_shown_is_refused(spark, scripts, output, rows):
    with pytest.raises(OptionError, match="show 1 to 1000 rows"):
        show_stream(scripts.stream(spark), rows=rows)


def test_without_a_notebook_the_error_names_what_to_use(spark, scripts, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(EnvironmentProblem, match="tidemark sql"):
        show_stream(scripts.stream(spark))
    assert not spark.streams.active
