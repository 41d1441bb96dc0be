"""What the dialect answers beside the answers of a real Flink: every expression is equal, or written down as what it is.

`python -m tests.support.flink.compared` writes the list after a change; its diff shows what became equal or different.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.flink.compared import asked_expressions, compared_areas, kinds, not_equal, recorded
from tests.support.flink.inputs import ZONE
from tests.support.flink.spark_side import SparkSide
from tests.support.spark.scripted_stream import settings

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_SAMPLE = 12
"""Every twelfth answer of an area is compared each time."""


@pytest.fixture(scope="module")
def side(spark: Any) -> Iterator[SparkSide]:
    with settings(spark, {"spark.sql.session.timeZone": ZONE}):
        yield SparkSide(spark)


def _compare(side: SparkSide, area: str, step: int) -> None:
    known = {each: kind for each, kind in kinds(recorded(area)).items() if each in asked_expressions(area, step)}
    assert kinds(not_equal(side, area, step=step)) == known


@pytest.mark.parametrize("area", compared_areas())
def test_a_sample_of_answers_is_that_of_flink_or_known_not_to_be(side: SparkSide, area: str) -> None:
    _compare(side, area, _SAMPLE)


@pytest.mark.full
@pytest.mark.parametrize("area", compared_areas())
def test_all_answers_are_those_of_flink_or_known_not_to_be(side: SparkSide, area: str) -> None:
    _compare(side, area, 1)
