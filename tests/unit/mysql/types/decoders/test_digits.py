"""Digits read eight at a time are the numbers that Python reads."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.types.decoders.cells import Bytes, Int64s
from datasources.mysql.types.decoders.digits import (
    LONGEST_FRACTION,
    decimal_number,
    fixed_number,
    signed_number,
    unsigned_number,
)


def laid_out(texts: list[str]) -> tuple[Bytes, Int64s, Int64s]:
    """Texts one after the other in a buffer, with other digits around; begins and ends."""
    lengths = np.array([len(text) for text in texts], np.int64)
    data = np.frombuffer(("9" * 8 + "".join(texts) + "9" * 8).encode(), np.uint8)
    ends = 8 + np.cumsum(lengths)
    return data, ends - lengths, ends


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_unsigned_numbers_of_any_length(numbers: list[int]):
    data, at, ends = laid_out([str(number) for number in numbers])
    assert unsigned_number(data, ends, ends - at).tolist() == numbers


@given(st.lists(st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.none()), min_size=1))
def test_signed_numbers_and_nothing(numbers: list[int | None]):
    data, at, ends = laid_out(["" if number is None else str(number) for number in numbers])
    sizes, is_negative = signed_number(data, at, ends)
    assert sizes.tolist() == [abs(number or 0) for number in numbers]
    assert is_negative.tolist() == [(number or 0) < 0 for number in numbers]


@given(
    st.integers(1, LONGEST_FRACTION),
    st.lists(st.one_of(st.integers(-(10**18) + 1, 10**18 - 1), st.none()), min_size=1),
)
def test_decimals_and_nothing(scale: int, numbers: list[int | None]):
    texts = ["" if number is None else f"{Decimal(number).scaleb(-scale):.{scale}f}" for number in numbers]
    data, at, ends = laid_out(texts)
    sizes, is_negative = decimal_number(data, at, ends, scale)
    assert sizes.tolist() == [abs(number or 0) for number in numbers]
    assert is_negative.tolist() == [(number or 0) < 0 for number in numbers]


@pytest.mark.parametrize("text", ["12", "1.2", "1.234", "12345678.9", "1x.00", "123456789a12345.00", "1.2.3", "--1.00"])
def test_a_decimal_of_another_scale_is_refused(text: str):
    data, at, ends = laid_out([text])
    with pytest.raises(ValueError, match="digit"):
        decimal_number(data, at, ends, 2)


def test_patterns_take_what_they_name_and_refuse_other_signs():
    data, at, _ = laid_out(["12:34:56", "98:76:54"])
    assert fixed_number(data, at, "99:99:99").tolist() == [12034056, 98076054]
    assert fixed_number(data, at, "00000099").tolist() == [56, 54]
    with pytest.raises(ValueError, match="99-99"):
        fixed_number(data, at, "99-99")


@pytest.mark.parametrize("text", ["1x", " 1", "1.", "--1", "1" * 25])
def test_an_invalid_number_is_refused(text: str):
    data, at, ends = laid_out([text])
    with pytest.raises(ValueError, match="digit|length"):
        signed_number(data, at, ends)
