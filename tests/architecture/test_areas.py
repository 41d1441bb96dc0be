"""Areas of `make test AREA=...`: each finds its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.run_all import AREAS, files_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("area", AREAS)
def test_an_area_finds_unit_tests_of_its_own(area):
    assert [file for file in files_of(area) if not file.startswith("tests/architecture")]


def test_the_areas_of_servers_have_tests_on_real_servers():
    for area in ("kafka", "mysql", "sql", "page"):
        assert [file for file in files_of(area) if file.startswith("tests/integration")], area


def test_an_unknown_area_is_an_error():
    with pytest.raises(KeyError):
        files_of("nowhere")
