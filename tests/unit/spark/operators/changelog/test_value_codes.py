"""Values as codes, ranks and hashes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.spark.operators.changelog.value_codes import (
    canonical_values,
    value_codes,
    value_hashes,
    value_ranks,
)

NAN = float("nan")
PAIR = pa.struct([("x", pa.float64()), ("y", pa.string())])
HASHES = [
    (pa.int64(), [None, 0, -1], [11400714819323198485, 7078937557936117117, 7065158565042825738]),
    (pa.string(), ["", "a", "ab"], [10341476012372722006, 424432572942787396, 8352653841743871187]),
    (pa.float64(), [0.0, 1.5, NAN], [7078937557936117117, 8445920354708800796, 8126915203821715199]),
    (pa.decimal128(10, 2), [Decimal("1.25")], [15535230812970645013]),
    (pa.list_(pa.int64()), [[1, 2], [2, 1], []], [9545077288468140580, 18235090799378900176, 10341476012372722006]),
]


@pytest.mark.parametrize(
    ("kind", "ascending"),
    [
        (pa.int64(), [-5, 0, 7]),
        (pa.float64(), [-float("inf"), -1.5, 0.0, 1e-320, float("inf"), NAN]),
        (pa.string(), ["", "a", "aa", "b", "\uffff", "\U0001f600"]),
        (pa.binary(), [b"", b"\x00", b"\x7f", b"\xff"]),
        (pa.decimal128(38, 2), [Decimal("-9e35"), Decimal("-0.01"), Decimal("0.00"), Decimal("9e35")]),
        (pa.date32(), [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31)]),
        (pa.bool_(), [False, True]),
        (PAIR, [{"x": None, "y": "b"}, {"x": 1.0, "y": None}, {"x": 1.0, "y": "a"}, {"x": NAN, "y": ""}]),
        (pa.list_(pa.float64()), [[], [None], [1.0], [1.0, None], [NAN]]),
    ],
)
def test_ranks_are_ordered_as_values_are(kind, ascending):
    ranks, count = value_ranks(pa.array(ascending[::-1], type=kind))
    assert sorted(set(ranks)) == ranks.tolist()[::-1]
    assert max(ranks) < count


@pytest.mark.parametrize("is_ascending", [True, False])
@pytest.mark.parametrize("is_nulls_first", [True, False])
def test_nulls_are_first_or_last_in_both_directions(is_ascending, is_nulls_first):
    values = [2, None, 1]
    ranks, _ = value_ranks(pa.array(values), is_ascending=is_ascending, is_nulls_first=is_nulls_first)
    found = [value for _, value in sorted(zip(ranks, values, strict=True), key=lambda pair: pair[0])]
    numbers = [1, 2] if is_ascending else [2, 1]
    assert found == ([None, *numbers] if is_nulls_first else [*numbers, None])


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (pa.float64(), 0.0, -0.0),
        (pa.float32(), 0.0, -0.0),
        (PAIR, {"x": -0.0, "y": "a"}, {"x": 0.0, "y": "a"}),
        (pa.list_(pa.float64()), [0.0, NAN], [-0.0, NAN]),
    ],
)
def test_equal_values_have_equal_codes_and_hashes(kind, one, other):
    values = canonical_values(pa.array([one, other, None, None], type=kind))
    codes, hashes = value_codes(values)[0], value_hashes(values)
    assert codes[0] == codes[1] != codes[2] == codes[3]
    assert hashes[0] == hashes[1] != hashes[2] == hashes[3]


@pytest.mark.parametrize(("kind", "values", "hashes"), HASHES, ids=lambda each: str(each)[:20])
def test_hashes_are_those_of_stored_states(kind, values, hashes):
    assert value_hashes(pa.array(values, type=kind)).tolist() == hashes


@pytest.mark.parametrize(("kind", "values", "hashes"), HASHES, ids=lambda each: str(each)[:20])
def test_hashes_of_slices_are_those_of_their_values(kind, values, hashes):
    array = pa.array([*values, *values], type=kind)[len(values) :]
    assert value_hashes(array).tolist() == hashes


@given(values=st.lists(st.none() | st.text(max_size=40)), first=st.integers(0, 5))
def test_hashes_do_not_depend_on_the_library(values, first):
    array = pa.array(values, type=pa.string()).slice(first)
    hashes = value_hashes(array).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_NATIVE", "off")
        assert value_hashes(array).tolist() == hashes
