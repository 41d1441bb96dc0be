"""How often rows are in a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.spark.operators.changelog.changes import HASH_COLUMN, WEIGHT_COLUMN
from datasources.spark.operators.changelog.multiplicities import add_count, conformed, merged_rows


def table(*rows, names=("v", HASH_COLUMN, WEIGHT_COLUMN)):
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    return pa.table([pa.array(each, type=pa.int64()) for each in columns], names=list(names))


@pytest.mark.parametrize(
    ("stored", "change", "before", "after", "missing"),
    [(1, 1, 1, 2, 0), (1, -1, 1, 0, 0), (1, -3, 1, 0, 2), (-2, 1, 0, 0, 0), (-2, 3, 0, 1, 0), (-1, -1, 0, 0, 1)],
)
def test_a_debt_shows_no_row(stored, change, before, after, missing):
    merged = merged_rows(table((5, 1, stored)), table((5, 1, change)))
    assert (merged.before.tolist(), merged.after.tolist(), merged.missing) == ([before], [after], missing)
    assert merged.weight.tolist() == [stored + change]


def test_stored_rows_of_other_hashes_stay_as_they_are():
    merged = merged_rows(table((5, 1, 1), (6, 2, -1)), table((5, 1, 1)))
    found = dict(zip(merged.rows.column("v").to_pylist(), zip(merged.before, merged.after, strict=True), strict=True))
    assert found == {5: (1, 2), 6: (0, 0)}
    assert merged.missing == 0


def test_rows_whose_weight_becomes_zero_are_not_stored():
    merged = merged_rows(table((5, 1, 1), (6, 1, 1)), table((5, 1, -1)))
    assert merged.stored(pa.array([1]).to_numpy()).column("v").to_pylist() == [6]


def test_changes_get_the_order_and_types_of_the_schema():
    rows = table((1, 5, 2), names=(WEIGHT_COLUMN, "v", HASH_COLUMN))
    found = conformed(rows, pa.schema([pa.field("v", pa.int32(), nullable=False)]))
    assert found.schema == pa.schema([("v", pa.int32()), (HASH_COLUMN, pa.int64()), (WEIGHT_COLUMN, pa.int64())])


def test_a_state_without_counters_counts_nothing():
    add_count(object(), "x", 3)
