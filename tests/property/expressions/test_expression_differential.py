"""Every form on the closed list against Spark, on rows made to break it."""

from __future__ import annotations

import pytest

from tests.support.expressions import expression_samples, expression_texts
from tests.support.expressions.expression_comparison import compiled, differences
from tests.support.expressions.expression_oracle import oracle

pytestmark = pytest.mark.spark
SETTINGS = [("UTC", True), ("UTC", False), ("America/New_York", True), ("America/New_York", False)]
LOCAL_TIME = {
    "ts - i * INTERVAL '1' SECOND", "ts - INTERVAL '1' SECOND * k", "ts - INTERVAL '1' DAY", "ts - INTERVAL '25' HOUR", "ts - INTERVAL '1 02:03:04.5' DAY TO SECOND",
    "ts + INTERVAL '2' WEEK", "ts - ts2", "ts - ts2 < INTERVAL '1' HOUR", "CAST(ts AS TIMESTAMP_NTZ)", "CAST(ntz AS TIMESTAMP)", "CAST(ts AS DATE)", "CAST(day AS TIMESTAMP)",
    "TIMESTAMP '2026-03-08 02:30:00'", "hour(ts)", "minute(ts)", "second(ts)",
    *(f"date_trunc('{unit}', ts)" for unit in ("MINUTE", "HOUR", "DAY", "dd", "WEEK", "MONTH", "QUARTER", "YEAR")),
}  # fmt: skip
LIMITED_IN_UTC = (
    "upper(",
    "lower(",
    "get_json_object(",
    "CAST(s",
    "to_timestamp(",
    "TRY_CAST(s",
    "timestamp(s",
    "try_to_timestamp(",
    "timestamp_seconds(TRY_CAST(get",
    "CAST(get",
    "TRY_CAST(get",
    "CAST(moment",
    "TRY_CAST(moment",
    "to_timestamp_ntz(",
)


@pytest.fixture(scope="module")
def samples(spark, tmp_path_factory):
    with oracle(spark, expression_samples.batch(), tmp_path_factory.mktemp("samples")) as opened:
        yield opened


@pytest.fixture(scope="module")
def texts(spark, tmp_path_factory):
    with oracle(spark, expression_texts.batch(), tmp_path_factory.mktemp("texts")) as opened:
        yield opened


@pytest.mark.parametrize(("time_zone", "ansi"), SETTINGS)
def test_every_form_has_the_type_the_value_and_the_errors_of_spark(samples, time_zone, ansi):
    samples.settings(time_zone, ansi=ansi)
    accepted = compiled(expression_samples.EXPRESSIONS, expression_samples.SCHEMA, time_zone, ansi=ansi)
    refused = set(expression_samples.EXPRESSIONS) - set(accepted)
    found, limited = differences(samples, accepted, expression_samples.batch())
    assert found == []
    assert refused == (set() if time_zone == "UTC" else LOCAL_TIME)
    if time_zone == "UTC" and ansi:
        assert {text for text in limited if not text.startswith(LIMITED_IN_UTC)} == set()


@pytest.mark.parametrize(("time_zone", "ansi"), SETTINGS)
def test_texts_that_are_hard_to_read_are_read_as_spark_reads_them(texts, time_zone, ansi):
    texts.settings(time_zone, ansi=ansi)
    accepted = compiled(expression_texts.EXPRESSIONS, expression_texts.SCHEMA, time_zone, ansi=ansi)
    assert set(accepted) == set(expression_texts.EXPRESSIONS)
    found, limited = differences(texts, accepted, expression_texts.batch())
    assert found == []
    assert {text for text in limited if not text.startswith(LIMITED_IN_UTC)} == set()
