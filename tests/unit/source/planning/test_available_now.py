"""The limit of an AvailableNow run: when it is fixed, and what may be planned under it."""

from __future__ import annotations

import pytest

from datasources.source.api.split import SplitBounds, SplitProgress
from datasources.source.planning.available_now import AvailableNowLimit
from datasources.source.watermarks.planning_time import PlanningTime

NOW = PlanningTime(wall_ms=1_000, monotonic_ns=0)
FIXED = AvailableNowLimit(is_wanted=True, at_ms=900, ends={"a-0": 5})


def bounds(**ends):
    return {name.replace("_", "-"): SplitBounds(start_inclusive=0, end_exclusive=end) for name, end in ends.items()}


@pytest.mark.parametrize(
    ("limit", "fixed"),
    [
        pytest.param(AvailableNowLimit(), AvailableNowLimit(), id="no end is wanted"),
        pytest.param(
            AvailableNowLimit(is_wanted=True), AvailableNowLimit(is_wanted=True, at_ms=1_000, ends={"a-0": 7}), id="now"
        ),
        pytest.param(FIXED, FIXED, id="once fixed it stays"),
    ],
)
def test_when_the_end_of_a_run_is_fixed(limit, fixed):
    assert limit.fixed(bounds(a_0=7), NOW) == fixed


@pytest.mark.parametrize(
    ("limit", "expected_rows", "reached", "planned"),
    [
        pytest.param(AvailableNowLimit(is_wanted=True), {"a_0": 7}, 3, {"a-0": 7}, id="not fixed yet"),
        pytest.param(FIXED, {"a_0": 7}, 3, {"a-0": 5}, id="what came later is left"),
        pytest.param(FIXED, {"a_0": 4}, 3, {"a-0": 4}, id="a log that was cut"),
        pytest.param(FIXED, {"a_0": 7}, 6, {"a-0": 6}, id="a connector that went beyond stays there"),
        pytest.param(FIXED, {"a_0": 7, "a_1": 2}, 3, {"a-0": 5}, id="a split that appeared later is left"),
        pytest.param(FIXED, {}, 3, {}, id="a split that is gone"),
    ],
)
def test_what_may_be_planned(limit, expected_rows, reached, planned):
    split = SplitProgress(split="a-0", start=reached, end=reached, known_at=reached)
    found = limit.applied_to(bounds(**expected_rows), [split])
    assert {name: each.end_exclusive for name, each in found.items()} == planned
