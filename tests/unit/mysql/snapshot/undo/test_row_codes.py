"""Rows have equal numbers if their values are equal."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.snapshot.undo.row_codes import RowCodes

ROW = st.tuples(
    st.one_of(st.none(), st.integers(-2, 2)),
    st.one_of(st.none(), st.sampled_from(["", "a", "A", "é", "a\0"])),
    st.sampled_from([0.0, -0.0, 0.5]),
    st.one_of(st.none(), st.sampled_from([Decimal("1.10"), Decimal("-0.01")])),
    st.booleans(),
)
TYPES = (pa.int64(), pa.string(), pa.float64(), pa.decimal128(9, 2), pa.bool_())


def columns(rows: list[tuple[object, ...]]) -> list[pa.Array]:
    return [pa.array([row[at] for row in rows], type_) for at, type_ in enumerate(TYPES)]


@given(st.lists(ROW, min_size=1, max_size=30), st.lists(ROW, max_size=30))
def test_equal_rows_have_equal_numbers_and_others_are_not_found(
    rows: list[tuple[object, ...]], others: list[tuple[object, ...]]
):
    names = [repr(row) for row in rows]  # repr distinguishes 0.0 and -0.0, as bits do
    codes = RowCodes(columns(rows))
    assert codes.count == len(set(names)) == len(set(codes.codes.tolist()))
    by_name = dict(zip(names, codes.codes.tolist(), strict=True))
    assert [by_name[name] for name in names] == codes.codes.tolist()
    assert codes.find(columns(others)).tolist() == [by_name.get(repr(row), -1) for row in others]
    assert codes.first().tolist() == sorted({name: names.index(name) for name in names}.values())


def test_no_rows_have_no_numbers():
    codes = RowCodes(columns([]))
    assert codes.count == 0
    assert codes.find(columns([(1, "a", 0.5, None, True)])).tolist() == [-1]


def test_many_columns_of_many_values_do_not_overflow():
    count = 5_000
    wide = [pa.array([(n * (at + 3)) % count for n in range(count)], pa.int64()) for at in range(9)]
    codes = RowCodes(wide)
    assert codes.count == count
    assert codes.find([column.slice(7, 3) for column in wide]).tolist() == codes.codes[7:10].tolist()
