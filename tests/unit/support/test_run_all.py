"""What `make test` collects."""

from __future__ import annotations

import re

from tests.support.project import ROOT
from tests.support.run_all import WITH_SERVERS


def test_tests_with_servers_are_where_make_test_collects_them():
    marked = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"pytest\.mark\.(spark|kafka|mysql)\b", file.read_text())
    }
    assert len(marked) > 100
    others = {"tests/unit/support/test_guard.py", "tests/unit/support/test_support_reporting.py"}  # they write tests
    assert sorted(file for file in marked - others if not file.startswith(WITH_SERVERS)) == []
