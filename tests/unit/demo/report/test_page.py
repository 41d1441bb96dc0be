"""The page of the demo: whole in itself, well-formed, and true to the outcome."""

from __future__ import annotations

import ast
import dataclasses
import re
from html.parser import HTMLParser

import pytest

from datasources.demo.queries.join_query import SNIPPET as JOIN_SNIPPET
from datasources.demo.queries.mysql_copy import SNIPPET as TABLE_SNIPPET
from datasources.demo.queries.mysql_copy import copy_options
from datasources.demo.queries.window_queries import SNIPPET, tidemark_options
from datasources.demo.report.page import Snippets, render_page
from datasources.demo.report.picture import render_picture
from datasources.demo.report.tables import comparison, partition_rows
from datasources.demo.report.watermark_chart import watermark_chart
from datasources.demo.report.window_chart import window_chart
from datasources.demo.results.join_outcome import join_rows
from datasources.demo.results.mysql_outcome import table_rows
from datasources.demo.results.timeline import QueryTimeline
from datasources.embedded import MySqlAddress
from tests.support.demo_outcome import demo_outcome, table_outcome

SNIPPETS = Snippets(count=SNIPPET, join=JOIN_SNIPPET, table=TABLE_SNIPPET)


class Outline(HTMLParser):
    """Checks the nesting and collects elements, attributes and text."""

    def __init__(self, page) -> None:
        super().__init__()
        self.elements, self.words, self._open = [], [], []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def outcome():
    return demo_outcome()


@pytest.fixture(scope="module")
def page(outcome):
    return render_page(outcome, SNIPPETS)


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_the_page_needs_nothing_but_itself(page, outline):
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)
    assert not outline.all("script")
    assert not outline.all("link")
    assert not outline.all("img")


def test_every_chart_has_a_title_and_a_description_for_those_who_do_not_see_it(page, outline):
    charts = [svg for svg in outline.all("svg") if svg.get("class") == "chart"]
    assert len(charts) == 4
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in charts)
    assert page.count("<desc>") == 4
    assert all(svg.get("aria-hidden") for svg in outline.all("svg") if svg.get("class") != "chart")


def test_the_page_has_a_language_a_title_and_one_first_heading(outline):
    assert outline.all("html") == [{"lang": "en"}]
    assert len(outline.all("title")) > 1
    assert len(outline.all("h1")) == 1
    assert all(heading.get("scope") in {"col", "row"} for heading in outline.all("th"))


def test_the_page_is_made_for_light_dark_and_narrow(page, outline):
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 40rem" in page
    assert any(meta.get("name") == "viewport" for meta in outline.all("meta"))


def test_the_page_shows_the_loss_of_each_side(outcome, outline):
    words = " ".join(outline.words)
    assert f"{outcome.spark.accuracy.lost_rows:,} orders" in words
    assert "none" in words
    for row in comparison(outcome):
        assert row.spark in words
        assert row.tidemark in words


def test_the_page_has_the_figures_of_the_table_and_its_copy(outcome, outline):
    words = " ".join(outline.words)
    for name, text in table_rows(outcome.table):
        assert name in words
        assert text in words
    assert "20,100 of 20,100: equal" in words


def test_the_page_has_the_figures_of_the_join_unless_it_was_not_run(outcome, outline):
    words = " ".join(outline.words)
    for name, text in join_rows(outcome.join):
        assert name in words
        assert text in words
    assert "joined with a MySQL table" not in render_page(dataclasses.replace(outcome, join=None), SNIPPETS)


def test_the_page_explains_mariadb_and_parts_not_run(outcome):
    for table, words in ((table_outcome(is_mariadb=True), "MariaDB 11.4.5 ran"), ("no <MySQL>", "no &lt;MySQL&gt;")):
        page = render_page(dataclasses.replace(outcome, table=table), SNIPPETS)
        Outline(page)
        assert words in page


def test_words_from_outside_cannot_become_markup(page):
    assert "MySQL <9.7.4>" not in page
    assert "Kafka <embedded>" not in page
    assert "Kafka &lt;embedded&gt;" in page


def test_a_page_is_written_for_a_failed_demo_too():
    assert "Tidemark&rsquo;s lost" in render_page(demo_outcome(tidemark_loses=2), SNIPPETS)


def test_the_chart_survives_queries_that_never_had_a_watermark(outcome):
    nothing = dataclasses.replace(outcome.spark, timeline=QueryTimeline(moments=()))
    empty = dataclasses.replace(outcome, spark=nothing, tidemark=nothing)
    for width in (400, 960):
        chart = watermark_chart(empty, width=width, height=300)
        Outline(chart)
        assert "never had a watermark" in chart


def test_the_picture_names_both_watermarks_the_lagging_partition_and_the_loss(outcome):
    words = " ".join(Outline(render_picture(outcome)).words)
    lost = outcome.spark.accuracy.lost_rows
    assert f"Spark's watermark lost {lost:,} of" in words
    assert f"too late for Spark: {lost:,} orders lost" in words
    assert "Spark's watermark: the newest order decides" in words
    assert "Tidemark's watermark: the slowest active partition" in words
    assert "partition 2, which lags" in words


def test_the_picture_needs_nothing_but_itself(outcome):
    picture = render_picture(outcome).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|@import|url\(|<script", picture)
    assert "prefers-color-scheme: dark" in picture


def test_a_demo_in_which_spark_lost_nothing_draws_no_loss():
    picture = render_picture(demo_outcome(spark_loses=0))
    assert "Spark&#x27;s watermark lost 0 of" in picture
    assert "too late for Spark:" not in picture


def test_no_mark_of_a_chart_lies_outside_its_view_box(outcome):
    for chart, width in (
        (watermark_chart(outcome, width=400, height=380), 400),
        (window_chart(outcome, width=960), 960),
    ):
        cells = [float(x) for x in re.findall(r' x(?:1|2)?="([-0-9.]+)"', chart)]
        assert min(cells) >= 0
        assert max(cells) <= width


def test_the_bars_show_counted_and_lost_orders(outcome):
    chart = window_chart(outcome, width=960)
    assert chart.count('class="bar lost"') == len({start for start, _ in list(outcome.story.truth)[:10]})
    assert chart.count('class="bar tidemark"') == len({start for start, _ in outcome.story.truth})


def test_the_partitions_are_shown_with_role_and_state(outcome):
    rows = partition_rows(outcome)
    assert [row.number for row in rows] == ["0", "1", "2", "3"]
    assert [row.status for row in rows] == ["active", "active", "active", "idle"]


def test_the_code_to_copy_has_six_lines_and_the_options_that_ran():
    assert len(SNIPPET.splitlines()) == 6
    calls = [node for node in ast.walk(ast.parse(SNIPPET)) if isinstance(node, ast.Call)]
    options = next(ast.literal_eval(call.args[2]) for call in calls if getattr(call.func, "id", "") == "read_stream")
    assert options == tidemark_options("broker:9092", "orders")


def test_the_code_that_copies_a_table_has_the_options_that_ran():
    calls = [node for node in ast.walk(ast.parse(TABLE_SNIPPET)) if isinstance(node, ast.Call)]
    options = next(ast.literal_eval(call.args[2]) for call in calls if getattr(call.func, "id", "") == "read_stream")
    ran = copy_options(MySqlAddress(host="db", port=3306, user="reader", password="..."))
    assert options.items() <= ran.items()
    assert all(key.startswith("scan.") for key in ran.keys() - options.keys())
