"""Laws of joins with a further condition: inner join, filter and match operator together answer the query."""

from __future__ import annotations

import math

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.spark.operators.changelog.join.join_operator import JoinKind, JoinOperator
from datasources.spark.operators.changelog.join.match_operator import Emits, MatchOperator
from tests.support.spark.change_bucket_run import BucketRun, bag, duckdb_bag
from tests.support.spark.change_values import TYPES, batches, values

CONDITION = "l0 = r0 AND l1 < r1"
QUERIES = {
    Emits.MATCHED: f"SELECT * FROM l WHERE EXISTS (SELECT 1 FROM r WHERE {CONDITION})",
    Emits.UNMATCHED: f"SELECT * FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE {CONDITION})",
    Emits.FLAG: f"SELECT *, EXISTS (SELECT 1 FROM r WHERE {CONDITION}) FROM l",
}


@st.composite
def joins(draw):
    kind, pool = draw(st.sampled_from(TYPES))
    changes = draw(batches(st.tuples(values(pool), st.none() | st.integers(0, 2)), tables=2))
    left, right = (pa.schema([(f"{side}0", kind), (f"{side}1", pa.int64())]) for side in "lr")
    return left, right, draw(st.sampled_from(Emits)), changes


def comparable(value):
    return math.nan if value == "NaN" else value


def passing(pairs, width):
    """The changes of the left rows whose pairs pass the condition."""
    for row, weight in pairs.items():
        if row[1] is not None and row[3] is not None and row[1] < row[3]:
            yield tuple(map(comparable, row[:width])), weight


@settings(max_examples=150)
@given(joins())
def test_matches_are_those_of_the_query_at_every_batch_boundary(drawn):
    left, right, emits, changes = drawn
    inner = JoinOperator(
        kind=JoinKind.INNER, left=left, right=right, left_keys=["l0"], right_keys=["r0"], null_safe=[False]
    )
    joined = BucketRun(inner, [(left, ["l0"]), (right, ["r0"])])
    run = BucketRun(MatchOperator(schema=left, emits=emits), [(left, left.names)] * 2)
    for number, (of_left, of_right) in enumerate(changes):
        pairs = joined.advance(of_left, of_right)
        run.advance(of_left, list(passing(pairs, len(left))))
        tables = [bag(change for batch in changes[: number + 1] for change in batch[side]) for side in (0, 1)]
        assert run.result == duckdb_bag(QUERIES[emits], {"l": (left, tables[0]), "r": (right, tables[1])})
