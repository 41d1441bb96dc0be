from __future__ import annotations

from watermark import SplitStatus


def test_the_integer_values_are_those_of_stored_arrays():
    assert [(status.name, int(status)) for status in SplitStatus] == [
        ("ACTIVE", 0),
        ("PAUSED", 1),
        ("IDLE", 2),
        ("FINISHED", 3),
    ]


def test_active_and_paused_splits_hold_back():
    assert [status.holds_back for status in SplitStatus] == [True, True, False, False]
