"""Compositions from the closed list that nobody thought of, against Spark."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.expressions import expression_samples
from tests.support.expressions.expression_comparison import compiled, differences
from tests.support.expressions.expression_grammar import expressions
from tests.support.expressions.expression_oracle import oracle

pytestmark = pytest.mark.spark
# These rules of the optimiser drop or regroup subexpressions, and errors come and go with them; the reader
# evaluates what the user wrote.
REWRITING_RULES = (
    "ReorderAssociativeOperator",
    "SimplifyConditionals",
    "BooleanSimplification",
    "SimplifyBinaryComparison",
    "NullPropagation",
    "PushFoldableIntoBranches",
    "OptimizeIn",
    "UnwrapCastInBinaryComparison",
)


@pytest.fixture(scope="module")
def samples(spark, tmp_path_factory):
    with oracle(spark, expression_samples.batch(), tmp_path_factory.mktemp("samples")) as opened:
        yield opened


def compare(samples, texts, time_zone, *, ansi):
    samples.settings(time_zone, ansi=ansi, excluded_rules=REWRITING_RULES)
    accepted = compiled(list(dict.fromkeys(texts)), expression_samples.SCHEMA, time_zone, ansi=ansi)
    assert len(accepted) > len(set(texts)) * 0.9
    found, _ = differences(samples, accepted, expression_samples.batch())
    assert found == []


def drawn(size):
    return st.lists(expressions(), min_size=size, max_size=size)


@pytest.mark.long
@settings(
    max_examples=2, derandomize=True, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(drawn(150))
def test_compositions_have_the_types_values_and_errors_of_spark(samples, texts):
    compare(samples, texts, "America/New_York", ansi=True)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(
    ("time_zone", "ansi"), [("UTC", True), ("UTC", False), ("America/New_York", True), ("America/New_York", False)]
)
@settings(
    max_examples=8, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(data=st.data())
def test_many_compositions_agree_with_spark_in_every_setting(samples, time_zone, ansi, data):
    compare(samples, data.draw(drawn(150)), time_zone, ansi=ansi)
