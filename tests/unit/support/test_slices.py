"""Slices of the exhaustive tests: each day begins elsewhere, and all are covered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slices import STRIDE, in_order_of, run_slice

SLICES = [[f"test_{number}"] for number in range(12)]


def test_a_day_goes_through_all_slices_from_its_own_first():
    numbers = [number for number, _ in in_order_of(1, SLICES)]
    assert numbers[:2] == [STRIDE + 1, STRIDE + 2]
    assert sorted(numbers) == list(range(1, 13))


def test_a_slice_comes_with_its_number():
    assert all(names == SLICES[number - 1] for number, names in in_order_of(3, SLICES))


def test_successive_days_begin_with_all_slices():
    assert {next(in_order_of(day, SLICES))[0] for day in range(12)} == set(range(1, 13))


@pytest.mark.parametrize(("waits", "result"), [("time.sleep(0)", "passed"), ("raise AssertionError", "failed")])
def test_a_slice_that_ends_in_time_has_passed_or_failed(tmp_path: Path, waits: str, result: str):
    assert run_slice([_test_file(tmp_path, waits)], 60) == result


def test_a_slice_is_interrupted_even_where_its_test_makes_a_failure_of_the_interrupt(tmp_path: Path):
    waits = "try:\n  time.sleep(60)\n except BaseException as error:\n  raise AssertionError from error"
    assert run_slice([_test_file(tmp_path, waits)], 5) == "interrupted"


def _test_file(folder: Path, statements: str) -> str:
    file = folder / "test_waits.py"
    file.write_text(f"import time\ndef test_waits():\n {statements}\n", encoding="utf-8")
    return str(file)
