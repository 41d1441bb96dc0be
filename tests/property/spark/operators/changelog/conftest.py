"""Pages of two rows, so that the state of a few rows has several and they are split, and updates beside most of them."""

from __future__ import annotations

import pytest

from datasources.spark.operators.changelog.pages import state_pages


@pytest.fixture(autouse=True, scope="module")
def small_pages():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_pages, "PAGE_ROWS", 2)
        patch.setattr(state_pages, "DENSE_PAGE_ROWS", 5)
        patch.setattr(state_pages, "COMPACTED_ROWS", 1)
        patch.setattr(state_pages, "JOINED_UPDATES", 3)
        yield
