"""What a set of aggregates stores."""

from __future__ import annotations

import pyarrow as pa

from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.layout import AggregateLayout

DATA = pa.schema([("v", pa.int64()), ("b", pa.bool_())])


def layout(*calls, is_insert_only=False):
    built = [
        AggregateCall(name=str(n), function=function, argument="v", type=pa.int64(), **options)
        for n, (function, options) in enumerate(calls)
    ]
    return AggregateLayout.of(built, DATA, is_insert_only=is_insert_only)


def test_sum_avg_and_count_of_a_column_share_count_and_sum():
    shared = layout(("sum", {}), ("avg", {}), ("count", {}))
    assert [each.partials for each in shared.calls] == [(1, 2), (1, 2), (1,)]
    assert len(shared.partials) == 3


def test_a_filter_has_partials_of_its_own():
    assert len(layout(("count", {}), ("count", {"filter": "b"})).partials) == 3


def test_functions_of_the_values_share_a_multiset():
    assert len(layout(("min", {}), ("max", {}), ("collect", {}), ("any_value", {})).multisets) == 1


def test_distinct_sums_store_values_by_their_own_hash():
    assert [each.is_by_value for each in layout(("sum", {"is_distinct": True}), ("min", {})).multisets] == [True, False]


def test_insert_only_extremes_store_no_values():
    found = layout(("min", {}), ("max", {}), ("last", {}), is_insert_only=True)
    assert found.multisets == ()
    assert [each.extreme for each in found.calls] == [0, 1, 1]
