"""Laws of the joins of changes: at every batch boundary the result is that of the query on the tables."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.changelog.join.join_operator import JoinKind, JoinOperator
from tests.support.spark.change_bucket_run import BucketRun, bag, duckdb_bag
from tests.support.spark.change_values import TYPES, batches, shuffled_parts, values

KEYS = [("l0", "r0"), ("l1", "r1")]
FORMS = {
    JoinKind.INNER: "SELECT * FROM l JOIN r ON {}",
    JoinKind.LEFT: "SELECT * FROM l LEFT JOIN r ON {}",
    JoinKind.RIGHT: "SELECT * FROM l RIGHT JOIN r ON {}",
    JoinKind.FULL: "SELECT * FROM l FULL JOIN r ON {}",
    JoinKind.SEMI: "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM r WHERE {})",
    JoinKind.ANTI: "SELECT * FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE {})",
    JoinKind.EXISTENCE: "SELECT *, EXISTS (SELECT 1 FROM r WHERE {}) FROM l",
}


@st.composite
def joins(draw):
    types = [draw(st.sampled_from(TYPES)) for _ in range(3)]
    rows = st.tuples(*(values(pool) for _, pool in types))
    left, right = (pa.schema([(f"{side}{n}", kind) for n, (kind, _) in enumerate(types)]) for side in "lr")
    keys = KEYS[: draw(st.integers(0, 2))]
    operator = JoinOperator(
        kind=draw(st.sampled_from(JoinKind)),
        left=left,
        right=right,
        left_keys=[one for one, _ in keys],
        right_keys=[other for _, other in keys],
        null_safe=[draw(st.booleans()) for _ in keys],
    )
    return operator, draw(batches(rows, tables=2))


def condition(operator):
    pairs = zip(operator.left_keys, operator.right_keys, operator.null_safe, strict=True)
    parts = [f"{one} {'IS NOT DISTINCT FROM' if safe else '='} {other}" for one, other, safe in pairs]
    return " AND ".join(parts) or "true"


def run_of(operator):
    return BucketRun(operator, [(operator.left, operator.left_keys), (operator.right, operator.right_keys)])


def wanted(operator, changes):
    left, right = (bag(change for batch in changes for change in batch[side]) for side in (0, 1))
    query = FORMS[operator.kind].format(condition(operator))
    return duckdb_bag(query, {"l": (operator.left, left), "r": (operator.right, right)})


@settings(max_examples=150)
@given(joins())
def test_the_result_is_that_of_the_query_at_every_batch_boundary(drawn):
    operator, changes = drawn
    run = run_of(operator)
    for number, batch in enumerate(changes):
        run.advance(*batch)
        assert run.result == wanted(operator, changes[: number + 1])


@settings(max_examples=60)
@given(joins(), st.randoms(use_true_random=False))
def test_order_and_distribution_over_batches_do_not_matter(drawn, random):
    operator, changes = drawn
    single = run_of(operator)
    single.advance(*([change for batch in changes for change in batch[side]] for side in (0, 1)))
    shuffled = run_of(operator)
    marked = [(side, change) for batch in changes for side in (0, 1) for change in batch[side]]
    for part in shuffled_parts(marked, random):
        shuffled.advance(*([change for side, change in part if side == number] for number in (0, 1)))
    assert shuffled.result == single.result


@settings(max_examples=40)
@given(joins())
def test_tables_that_end_empty_leave_no_result_and_no_state(drawn):
    operator, changes = drawn
    run = run_of(operator)
    for batch in changes:
        run.advance(*batch)
    for batch in changes:
        run.advance(*([(row, -weight) for row, weight in side] for side in batch))
    assert run.result == Counter()
    assert run.state.rows("left") == run.state.rows("right") == 0
