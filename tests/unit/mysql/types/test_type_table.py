"""One row per type: no kind, code or name without one, and none with two."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from datasources.mysql.types import ColumnType, Kind
from datasources.mysql.types.column import ColumnCode
from datasources.mysql.types.type_table import ROWS, TYPES

YEARS = pa.array([0, 1901, 2155], pa.int32())


def test_every_kind_and_every_code_has_one_row():
    assert Counter(row.kind for row in ROWS) == Counter(Kind)
    assert Counter(code for row in ROWS for code in row.codes) == Counter(ColumnCode)


@pytest.mark.parametrize("names", ["declared", "families"])
def test_no_name_belongs_to_two_types(names):
    assert max(Counter(name for row in ROWS for name in getattr(row, names)).values()) == 1


def test_keys_of_a_year_have_four_digits_and_those_of_integers_as_many_as_needed():
    assert TYPES[Kind.YEAR].key_text(YEARS, ColumnType(kind=Kind.YEAR)) == ["0000", "1901", "2155"]
    assert TYPES[Kind.INTEGER].key_text(YEARS, ColumnType(kind=Kind.INTEGER, width=4)) == ["0", "1901", "2155"]
