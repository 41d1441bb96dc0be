from __future__ import annotations

import re

from tests.support.project import ROOT

_TESTS = ROOT / "tests"
_DESIGN = (_TESTS.parent / "watermark" / "DESIGN.md").read_text()


def test_every_decision_names_a_test_and_every_test_that_is_named_exists():
    decisions = re.split(r"^\d+\. ", _DESIGN, flags=re.MULTILINE)[1:]
    assert len(decisions) > 25
    for decision in decisions:
        names = [name for name in re.findall(r"`([^`]+)`", decision) if "_" in name]
        assert names, decision
        for name in names:
            path, _, function = name.partition("::")
            if not path.endswith(".py"):
                assert (_TESTS / "replays" / f"{path}.json").exists(), name
            elif function:
                assert f"def {function}(" in (_TESTS / path).read_text(), name
            else:
                assert (_TESTS / path).exists(), name
