"""Laws of normalized events: the result is the table of the last rows at every batch boundary, in any order within."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.changelog.normalize.normalize_operator import NormalizeOperator
from tests.support.spark.change_bucket_run import BucketRun, duckdb_bag
from tests.support.spark.change_values import TYPES, values

LAST = """
    SELECT k, v FROM events
    QUALIFY row_number() OVER (PARTITION BY k ORDER BY part DESC, "offset" DESC) = 1 AND NOT is_delete
"""


@st.composite
def logs(draw):
    """Batches of events whose positions ascend from batch to batch; each batch is shuffled."""
    (key_type, keys), (value_type, pool) = (draw(st.sampled_from(TYPES)) for _ in range(2))
    event = st.tuples(values(keys), values(pool), st.sampled_from([False, False, True]))
    numbered = [
        (key, value, number // 3, number % 3, is_delete)
        for number, (key, value, is_delete) in enumerate(draw(st.lists(event, max_size=25)))
    ]
    batches = []
    while numbered:
        size = draw(st.integers(1, len(numbered)))
        batches.append(draw(st.permutations(numbered[:size])))
        numbered = numbered[size:]
    schema = pa.schema([("k", key_type), ("v", value_type)])
    operator = NormalizeOperator(schema=schema, keys=["k"], order_columns=["part", "offset"], kind_column="is_delete")
    return operator, batches


@settings(max_examples=150)
@given(logs())
def test_the_result_is_the_table_of_the_last_rows(drawn):
    operator, batches = drawn
    run = BucketRun(operator, [(operator.input, ["k"])])
    for number, batch in enumerate(batches):
        run.advance([(event, 1) for event in batch])
        events = Counter(event for each in batches[: number + 1] for event in each)
        assert run.result == duckdb_bag(LAST, {"events": (operator.input, events)})
        assert run.state.rows("rows") == sum(run.result.values())


@settings(max_examples=50)
@given(logs())
def test_the_table_does_not_depend_on_the_batches(drawn):
    operator, batches = drawn
    results = []
    for parts in (batches, [[event for batch in batches for event in batch]]):
        run = BucketRun(operator, [(operator.input, ["k"])])
        for batch in parts:
            run.advance([(event, 1) for event in batch])
        results.append(run.result)
    assert results[0] == results[1]
