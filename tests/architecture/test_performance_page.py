"""The pages with figures say what the result files say."""

from __future__ import annotations

import pytest

from benchmarks.page import PAGES, filled


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_up_to_date(path):
    page = path.read_text()
    assert page == filled(page), "run: make plots"
    assert page.count("<!-- table: ") == page.count("<!-- end -->") > 0


def test_a_table_that_nobody_makes_is_named():
    with pytest.raises(KeyError, match="no_such"):
        filled("<!-- table: no_such -->\n<!-- end -->")
