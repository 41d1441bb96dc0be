"""docs/options.md is what the declarations say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from datasources.options import render_options
from datasources.options_page import CONNECTORS, SHARED_GROUPS, main, render_page

PAGE = Path(__file__).parents[2] / "docs" / "options.md"
GROUPS = dict.fromkeys([*(group for connector in CONNECTORS for group in connector.option_groups), *SHARED_GROUPS])


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == render_page(), "run: python -m datasources.options_page > docs/options.md"


def test_the_module_writes_the_page(capsys):
    main()
    assert capsys.readouterr().out == render_page()


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_every_option_has_a_meaning_that_is_a_sentence_and_stands_on_the_page(group):
    for key, kind, default, text in render_options(group):
        assert len(text) > 10, key
        assert text[-1] in ".)", key
        assert kind, key
        names = (key, re.sub(r"^(key|value)\.", "", key))
        assert any(f"| `{name}` | {kind} | {default} |" in PAGE.read_text() for name in names), key


def test_every_row_has_four_cells():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert len(rows) > 40
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_every_source_has_a_heading():
    assert re.findall(r"^## `(.*)`$", PAGE.read_text(), re.MULTILINE) == [c.format_name for c in CONNECTORS]
