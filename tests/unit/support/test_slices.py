"""Slices of the exhaustive tests: each day begins elsewhere, and all are covered."""

from __future__ import annotations

from tests.support.slices import STRIDE, in_order_of

SLICES = [[f"test_{number}"] for number in range(12)]


def test_a_day_goes_through_all_slices_from_its_own_first():
    numbers = [number for number, _ in in_order_of(1, SLICES)]
    assert numbers[:2] == [STRIDE + 1, STRIDE + 2]
    assert sorted(numbers) == list(range(1, 13))


def test_a_slice_comes_with_its_number():
    assert all(names == SLICES[number - 1] for number, names in in_order_of(3, SLICES))


def test_successive_days_begin_with_all_slices():
    assert {next(in_order_of(day, SLICES))[0] for day in range(12)} == set(range(1, 13))
