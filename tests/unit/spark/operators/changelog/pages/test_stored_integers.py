"""Integers of a state in as few bytes as they need: what was stored is read, whatever it was stored beside."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.pages.stored_integers import narrowed, widened

LIMITS = [
    0,
    1,
    -1,
    *(sign * (1 << bits) + step for bits in (7, 8, 15, 16, 31, 32, 63) for sign in (1, -1) for step in (-1, 0)),
]


def rows(values, kind=None):
    kind = kind or pa.int64()
    return pa.table(
        {"value": pa.array(values, type=kind), "text": pa.array([str(each) for each in values], type=pa.string())}
    )


@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.int16(), pa.int8()])
def test_every_range_of_integers_is_read_as_it_was(kind):
    limits = np.iinfo(kind.to_pandas_dtype())
    possible = [each for each in LIMITS if limits.min <= each <= limits.max]
    for low, high in product(possible, possible):
        given = rows([low, None, high], kind)
        found = widened([narrowed(given)])
        assert found.equals(given)
        assert found.schema.equals(given.schema, check_metadata=True)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], pa.int8()),
        ([None], pa.int8()),
        ([127, -128], pa.int8()),
        ([128], pa.int16()),
        ([-129], pa.int16()),
        ([1 << 15], pa.int32()),
        ([1 << 31], pa.int64()),
        ([-(1 << 63), (1 << 63) - 1], pa.int64()),
    ],
)
def test_a_column_has_the_smallest_type_that_has_its_values(values, kind):
    assert narrowed(rows(values)).schema.field("value").type == kind


def test_other_types_stay():
    given = pa.table({"d": [Decimal("1.5")], "t": pa.array([5], type=pa.timestamp("us")), "b": [True], "f": [1.0]})
    assert narrowed(given).schema.equals(given.schema)
    assert widened([narrowed(given)]).equals(given)


def test_pages_of_different_widths_are_read_together_with_those_of_earlier_versions():
    parts = [rows([1, 2]), rows([1 << 40, None]), rows([1 << 20]), rows([])]
    stored = [narrowed(parts[0]), parts[1], narrowed(parts[2]), narrowed(parts[3])]
    assert widened(stored).equals(pa.concat_tables(parts))
    assert widened(stored[:1]).equals(parts[0])
    assert widened([parts[1]]).equals(parts[1])
