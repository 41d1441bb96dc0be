"""The example of a partition that is hours behind, small: what alignment bounds, and that it changes no result."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks.align.overshoot import reported_overshoot_ms, true_overshoot_ms, unaligned_overshoot_ms
from examples.skew_day.outcome import SkewOutcome, assess, largest_spread_ms, spread_ms, state_bound
from examples.skew_day.page import render_page
from examples.skew_day.progress import Batch, Drain
from examples.skew_day.story import LAGGING, PARTITIONS, SkewSettings, make_skew
from examples.skew_day.topic import open_backlog
from examples.skew_day.variants import DrainSettings, Result, Variant, drain

_MINUTE_MS = 60_000
# The lag is long for its batches: even the slow partition's windows alone, kept for as long, would break the bound.
_SIZE = SkewSettings(minutes=900, lag_minutes=720, users=4, rows_per_user_minute=5)
_SETTINGS = DrainSettings(rows_per_batch=_SIZE.rows // 18, max_drift_ms=10 * _MINUTE_MS)

# Arrivals are random, so half of a log is not exactly half of its time: three standard deviations.
_BY_CHANCE_MS = 15 * _MINUTE_MS


@pytest.fixture(scope="module")
def outcome(spark, kafka, tmp_path_factory) -> SkewOutcome:
    """Both of Tidemark's variants over one small backlog; Spark's connector would have to be fetched."""
    story = make_skew(_SIZE)
    directory = tmp_path_factory.mktemp("skew")
    with open_backlog(kafka.bootstrap_servers, story) as backlog:
        results = {
            variant: drain(spark, variant, _SETTINGS, backlog, directory / variant.name)
            for variant in (Variant.UNALIGNED, Variant.ALIGNED)
        }
    return SkewOutcome(story=story, settings=_SETTINGS, results=results, surroundings="a test")


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
class TestOnABroker:
    def test_every_result_is_right_with_and_without_alignment(self, outcome):
        for variant, accuracy in outcome.accuracies.items():
            assert accuracy.is_perfect, (variant, accuracy)
            assert accuracy.expected_results > 3_000

    def test_the_aligned_state_is_bounded_by_the_drift_and_the_unaligned_is_not(self, outcome):
        peaks = {variant: result.drain.peak_state_rows for variant, result in outcome.results.items()}
        assert peaks[Variant.ALIGNED] <= state_bound(_SIZE, _SETTINGS) < peaks[Variant.UNALIGNED]
        assert outcome.failure is None

    def test_no_partition_runs_further_ahead_than_the_drift(self, outcome):
        aligned = outcome.results[Variant.ALIGNED].drain
        assert reported_overshoot_ms(aligned) == 0
        assert true_overshoot_ms(outcome.story, aligned, _SETTINGS.max_drift_ms) == 0

    def test_without_alignment_the_reports_show_the_lag(self, outcome):
        unaligned = outcome.results[Variant.UNALIGNED].drain
        lag_ms = _SIZE.lag_minutes * _MINUTE_MS
        assert unaligned_overshoot_ms(unaligned, _SETTINGS.max_drift_ms) > lag_ms // 2
        assert largest_spread_ms(outcome.story, unaligned) == pytest.approx(lag_ms, abs=_BY_CHANCE_MS)

    def test_both_read_the_whole_backlog(self, outcome):
        for result in outcome.results.values():
            assert sum(result.drain.batches[-1].positions.values()) == _SIZE.rows

    def test_the_page_stands_alone_and_shows_both(self, outcome):
        page = render_page(outcome)
        assert page.count('class="chart"') == 4
        assert "http" not in page.replace("http://www.w3.org", "")
        for variant in outcome.results:
            assert variant.value in page

    def test_the_figures_are_json(self, outcome):
        figures = json.loads(json.dumps(outcome.to_json()))
        assert figures["ok"] is True
        assert set(figures["variants"]) == {"aligned", "unaligned"}


def _drain(*state_rows: int) -> Drain:
    ends = dict.fromkeys(range(PARTITIONS), _SIZE.rows_per_partition)
    return Drain(
        batches=tuple(
            Batch(
                number=number,
                committed_ms=1_000 * number,
                state_rows=rows,
                dropped_rows=0,
                table={},
                offset=None,
                positions=ends,
            )
            for number, rows in enumerate(state_rows)
        )
    )


@pytest.fixture(scope="module")
def made() -> SkewOutcome:
    """An outcome as it should be, made without Spark and Kafka."""
    story = make_skew(_SIZE)
    results = {
        Variant.SPARK: Result(answer={}, drain=_drain(10)),
        Variant.UNALIGNED: Result(answer=story.truth, drain=_drain(10, 100_000)),
        Variant.ALIGNED: Result(answer=story.truth, drain=_drain(10, 20)),
    }
    return SkewOutcome(story=story, settings=_SETTINGS, results=results, surroundings="a test")


def _with(outcome: SkewOutcome, variant: Variant, **changes) -> SkewOutcome:
    return replace(outcome, results={**outcome.results, variant: replace(outcome.results[variant], **changes)})


def test_an_outcome_as_it_should_be_is_no_failure(made):
    assert made.failure is None


def test_one_wrong_count_of_tidemark_is_a_failure(made):
    answer = dict(made.story.truth)
    answer[next(iter(answer))] -= 1
    assert "lost 1 records" in str(_with(made, Variant.ALIGNED, answer=answer).failure)
    assert "lost 1 records" in str(_with(made, Variant.UNALIGNED, answer=answer).failure)


def test_one_result_too_many_is_a_failure(made):
    answer = {**made.story.truth, (0, 1): 1}
    assert assess(made.story, answer).extra_rows == 1
    assert _with(made, Variant.ALIGNED, answer=answer).failure is not None


def test_aligned_state_above_its_bound_is_a_failure(made):
    assert "may hold" in str(_with(made, Variant.ALIGNED, drain=_drain(made.bound_rows + 1)).failure)


def test_an_unaligned_run_without_skew_is_a_failure(made):
    assert "no skew" in str(_with(made, Variant.UNALIGNED, drain=_drain(5)).failure)


def test_the_small_story_separates_bounded_from_unbounded_state():
    assert _SIZE.users * _SIZE.lag_minutes > state_bound(_SIZE, _SETTINGS)


def test_the_bound_does_not_know_the_lag():
    longer = replace(_SIZE, lag_minutes=10 * _SIZE.lag_minutes)
    assert state_bound(longer, _SETTINGS) == state_bound(_SIZE, _SETTINGS)
    assert state_bound(_SIZE, replace(_SETTINGS, max_drift_ms=20 * _MINUTE_MS)) > state_bound(_SIZE, _SETTINGS)


def test_the_slow_partition_is_behind_by_the_lag_at_the_same_share_of_the_log(made):
    half = dict.fromkeys(range(PARTITIONS), _SIZE.rows_per_partition // 2)
    batch = replace(_drain(0).batches[0], positions=half)
    assert spread_ms(made.story, batch) == pytest.approx(_SIZE.lag_minutes * _MINUTE_MS, abs=_BY_CHANCE_MS)
    ended = replace(batch, positions={**half, LAGGING: _SIZE.rows_per_partition})
    assert spread_ms(made.story, ended) < _BY_CHANCE_MS


def test_the_truth_holds_every_record_but_those_of_the_last_minute(made):
    counted = sum(made.story.truth.values())
    last_minute = PARTITIONS * _SIZE.users * _SIZE.rows_per_user_minute
    assert _SIZE.rows - 2 * last_minute < counted < _SIZE.rows


def test_overshoot_is_taken_from_what_the_batch_before_was_allowed():
    def batch(number, watermark, allowed):
        split = {"split": "t-0", "watermark": watermark, "status": "active"}
        slow = {"split": "t-1", "watermark": 1_000, "status": "active"}
        idle = {"split": "t-2", "watermark": 10, "status": "idle"}
        table = {"batch": number, "max_allowed": allowed, "splits": [split, slow, idle]}
        return replace(_drain(0).batches[0], number=number, table=table)

    kept = Drain(batches=(batch(1, None, 5_000), batch(2, 5_000, 9_000), batch(3, 8_000, 9_000)))
    assert reported_overshoot_ms(kept) == 0
    broken = Drain(batches=(batch(1, None, 5_000), batch(2, 5_007, 9_000)))
    assert reported_overshoot_ms(broken) == 7
    assert unaligned_overshoot_ms(kept, 2_000) == 5_000
