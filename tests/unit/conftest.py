"""What unit tests share."""

from __future__ import annotations

import os

import pytest

from datasources.native import NativeLibrary, native


@pytest.fixture(scope="module")
def library() -> NativeLibrary:
    """The C library; a machine without a compiler has none."""
    found = native()
    if found is None and not os.environ.get("TIDEMARK_TEST_REQUIRE"):
        pytest.skip("not run: needs a C compiler when the package is installed")
    assert found is not None
    return found
