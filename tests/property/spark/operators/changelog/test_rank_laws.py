"""Laws of ranked rows: at every batch boundary the result is that of the query on the table."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.changelog.rank.rank_operator import RankOperator
from datasources.spark.operators.changelog.rank.ranked_rows import RankFunction
from datasources.spark.operators.changelog.rank.value_order import OrderKey
from tests.support.spark.change_bucket_run import BucketRun, bag, duckdb_bag
from tests.support.spark.change_values import TYPES, batches, shuffled_parts, values


@st.composite
def ranks(draw):
    types = [draw(st.sampled_from(TYPES)) for _ in range(3)]
    rows = st.tuples(*(values(pool) for _, pool in types))
    schema = pa.schema([(f"c{n}", kind) for n, (kind, _) in enumerate(types)])
    ordered = draw(st.lists(st.sampled_from(["c1", "c2"]), unique=True))
    is_insert_only = draw(st.booleans())
    operator = RankOperator(
        schema=schema,
        partition_keys=draw(st.sampled_from([(), ("c0",)])),
        order=[OrderKey(column, draw(st.booleans()), draw(st.booleans())) for column in ordered],
        function=draw(st.sampled_from(RankFunction)),
        limit=draw(st.none() | st.integers(0, 4)),
        offset=draw(st.sampled_from([0, 0, 1, 2])),
        rank_column=draw(st.sampled_from([None, "place"])),
        rank_type=draw(st.sampled_from([pa.int32(), pa.int64()])),
        is_insert_only=is_insert_only,
    )
    return operator, draw(batches(rows, min_weight=1 if is_insert_only else -2))


def order_by(keys):
    parts = [
        f"{k.column} {'ASC' if k.ascending else 'DESC'} NULLS {'FIRST' if k.nulls_first else 'LAST'}" for k in keys
    ]
    return f"ORDER BY {', '.join(parts)}" if parts else ""


def wanted(operator, changes):
    names = operator.schema.names
    keys = [*operator.order]
    if operator.function is RankFunction.ROW_NUMBER:
        keys += [OrderKey(name) for name in names]
    partition = f"PARTITION BY {', '.join(operator.partition_keys)}" if operator.partition_keys else ""
    ranked = f"SELECT *, {operator.function}() OVER ({partition} {order_by(keys)}) AS n FROM t"
    shown = "* EXCLUDE n" if operator.rank_column is None else "*"
    last = "" if operator.limit is None else f" AND n <= {operator.limit}"
    table = bag(change for batch in changes for change in batch[0])
    return duckdb_bag(
        f"SELECT {shown} FROM ({ranked}) WHERE n > {operator.offset}{last}", {"t": (operator.schema, table)}
    )


def run_of(operator):
    return BucketRun(operator, [(operator.schema, operator.partition_keys)])


@settings(max_examples=200)
@given(ranks())
def test_ranked_rows_are_those_of_the_query_at_every_batch_boundary(drawn):
    operator, changes = drawn
    run = run_of(operator)
    for number, batch in enumerate(changes):
        run.advance(*batch)
        assert run.result == wanted(operator, changes[: number + 1])


@settings(max_examples=60)
@given(ranks(), st.randoms(use_true_random=False))
def test_ranked_rows_do_not_depend_on_order_and_batches(drawn, random):
    operator, changes = drawn
    all_changes = [change for batch in changes for change in batch[0]]
    single = run_of(operator)
    single.advance(all_changes)
    shuffled = run_of(operator)
    for part in shuffled_parts(all_changes, random):
        shuffled.advance(part)
    assert shuffled.result == single.result


@settings(max_examples=40)
@given(ranks())
def test_removing_all_rows_leaves_no_rank_and_no_state(drawn):
    operator, changes = drawn
    if operator.is_insert_only:
        return
    run = run_of(operator)
    for batch in changes:
        run.advance(*batch)
    for batch in changes:
        run.advance([(row, -weight) for row, weight in batch[0]])
    assert run.result == Counter()
    assert run.state.rows("rows") == 0
