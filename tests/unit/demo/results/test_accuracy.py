"""The accuracy of answers in the demo."""

from __future__ import annotations

import dataclasses

from datasources.demo import run
from datasources.demo.report.page import Snippets, render_page
from datasources.demo.results.accuracy import accuracy_of, per_minute
from datasources.demo.story.orders import Story
from datasources.errors import QueryError
from tests.support.demo_outcome import demo_outcome

STORY = Story(
    seed=1,
    steps=(),
    complete_until_ms=120_000,
    truth={(0, "tea"): 5, (0, "soap"): 2, (60_000, "tea"): 3},
)


def test_the_truth_itself_is_perfect():
    accuracy = accuracy_of(STORY, STORY.truth)
    assert accuracy.is_perfect
    assert (accuracy.expected_rows, accuracy.lost_rows, accuracy.correct_results) == (10, 0, 3)


def test_lost_orders_wrong_and_missing_results_are_counted_apart():
    accuracy = accuracy_of(STORY, {(0, "tea"): 4, (60_000, "tea"): 3})
    assert (accuracy.lost_rows, accuracy.extra_rows) == (3, 0)
    assert (accuracy.correct_results, accuracy.wrong_results, accuracy.missing_results) == (1, 1, 1)
    assert not accuracy.is_perfect


def test_orders_that_do_not_exist_do_not_make_up_for_lost_ones():
    accuracy = accuracy_of(STORY, {(0, "tea"): 7, (0, "soap"): 0, (60_000, "tea"): 3, (0, "lamp"): 1})
    assert (accuracy.lost_rows, accuracy.extra_rows) == (2, 3)
    assert accuracy.wrong_results == 3
    assert not accuracy.is_perfect


def test_incomplete_windows_are_not_counted():
    assert accuracy_of(STORY, {**STORY.truth, (120_000, "tea"): 9}).is_perfect


def test_minutes_add_up_their_items():
    minutes = per_minute(STORY, {(0, "tea"): 4, (60_000, "tea"): 3})
    assert [(m.start_ms, m.expected_rows, m.counted_rows) for m in minutes] == [(0, 7, 4), (60_000, 3, 3)]


def test_the_demo_succeeds_if_spark_lost_orders_and_tidemark_none():
    assert demo_outcome().failure is None


def test_the_demo_fails_if_tidemark_lost_an_order():
    assert "Tidemark lost 10 orders" in (demo_outcome(tidemark_loses=1).failure or "")


def test_the_demo_fails_if_spark_lost_nothing():
    assert "nothing to compare" in (demo_outcome(spark_loses=0).failure or "")


def test_the_demo_fails_if_tidemark_counted_an_order_twice():
    outcome = demo_outcome()
    key = next(iter(outcome.story.truth))
    answer = {**outcome.story.truth, key: outcome.story.truth[key] + 1}
    side = dataclasses.replace(outcome.tidemark, answer=answer, accuracy=accuracy_of(outcome.story, answer))
    assert dataclasses.replace(outcome, tidemark=side).failure is not None


def test_a_failure_of_the_part_with_mysql_keeps_the_first_parts_result(monkeypatch):
    def fail(*_):
        raise QueryError("it took too long")

    monkeypatch.setattr(run, "_tables", fail)
    tables = run._tables_or_failure()
    outcome = dataclasses.replace(demo_outcome(), table=tables.table, join=tables.join, mysql_failure=tables.failure)
    assert outcome.failure == "it took too long"
    page = render_page(outcome, Snippets(count="", join="", table=""))
    assert f"{outcome.spark.accuracy.lost_rows:,} orders" in page
    assert "This part has no result: it took too long" in page
