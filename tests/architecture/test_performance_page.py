"""docs/performance.md says what the result files say."""

from __future__ import annotations

import pytest

from benchmarks.page import PAGE, filled


def test_the_page_is_up_to_date():
    page = PAGE.read_text()
    assert page == filled(page), "run: make plots"
    assert page.count("<!-- table: ") == page.count("<!-- end -->") > 0


def test_a_table_that_nobody_makes_is_named():
    with pytest.raises(KeyError, match="no_such"):
        filled("<!-- table: no_such -->\n<!-- end -->")
