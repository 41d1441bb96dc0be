"""Tests stand where the product's folders say: from a module its tests are found, and back (`tests/support/areas.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.areas import KINDS, areas, files_of_area, files_of_module, names_module, package_folder
from tests.support.project import ROOT

TESTS = ROOT / "tests"
OWN_TOOLS = "support"
"""Tests of the tests' own tools, and of the benchmarks'."""
FILES = [file for kind in KINDS for file in sorted((TESTS / kind).rglob("test_*.py"))]
MODULES = [
    path
    for top in ("datasources", "watermark")
    for path in sorted((ROOT / top).rglob("*.py"))
    if path.stem != "__init__"
]


def package_of(file: Path) -> str:
    return file.parent.relative_to(TESTS).as_posix().partition("/")[2]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_test_stands_in_the_folder_of_a_package():
    others = [shown(f) for f in FILES if package_of(f) != OWN_TOOLS and not package_folder(package_of(f)).is_dir()]
    assert others == []


def test_every_unit_test_names_a_module_or_its_package():
    others = []
    for file in (TESTS / "unit").rglob("test_*.py"):
        own = [TESTS / OWN_TOOLS, ROOT / "benchmarks"]
        packages = own if package_of(file) == OWN_TOOLS else [package_folder(package_of(file))]
        names = {package.name for package in packages}
        names |= {each.stem for package in packages for each in (*package.rglob("*.py"), *package.glob("*/"))}
        if not any(names_module(file, name) for name in names):
            others.append(shown(file))
    assert others == []


def test_every_module_has_tests():
    assert [shown(module) for module in MODULES if not files_of_module(module)] == []


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("datasources/kafka/reader/fetcher.py", "tests/unit/kafka/reader/test_fetcher.py"),
        ("datasources/kafka/reader/open_ranges.py", "tests/unit/kafka/reader/test_fetcher.py"),
        ("datasources/durations.py", "tests/unit/test_durations.py"),
        ("watermark/clock.py", "tests/unit/watermark/test_clock.py"),
        ("datasources/kafka/enumerator.py", "tests/integration/kafka/test_kafka_spark.py"),
    ],
)
def test_the_tests_of_a_module_are_found(module, test):
    assert test in map(shown, files_of_module(ROOT / module))


@pytest.mark.parametrize("area", areas())
def test_an_area_finds_tests(area):
    assert files_of_area(area)


def test_an_area_may_be_a_folder_within_another():
    assert set(files_of_area("mysql/binlog")) < set(files_of_area("mysql"))


def test_an_area_that_does_not_exist_has_no_tests():
    assert files_of_area("nowhere") == []
