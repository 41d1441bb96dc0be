"""When a batch without data is planned."""

from __future__ import annotations

import pytest

from datasources.source.planning.heartbeat import STATELESS_INTERVAL_MS, is_heartbeat_due

MS = 1_000_000  # ns


@pytest.mark.parametrize(
    ("interval_ms", "waited_ms", "at_once", "has_state", "is_due"),
    [
        pytest.param(1_000, 0, True, True, True, id="data moved the watermark: at once"),
        pytest.param(1_000, 0, True, None, True, id="data moved the watermark, nobody knows of state: at once"),
        pytest.param(1_000, 999, False, True, False, id="time moved the watermark: it waits for the interval"),
        pytest.param(1_000, 999, False, None, False, id="time moved it, nobody knows of state: it waits"),
        pytest.param(1_000, 1_000, False, True, True, id="time moved the watermark and the interval is over"),
        pytest.param(1_000, 1_000, False, None, True, id="the interval is over, nobody knows of state"),
        pytest.param(1_000, STATELESS_INTERVAL_MS - 1, True, False, False, id="nothing keeps state: 30 s, data or not"),
        pytest.param(1_000, STATELESS_INTERVAL_MS - 1, False, False, False, id="nothing keeps state: 30 s"),
        pytest.param(1_000, STATELESS_INTERVAL_MS, True, False, True, id="nothing keeps state and 30 s are over, data"),
        pytest.param(1_000, STATELESS_INTERVAL_MS, False, False, True, id="nothing keeps state and 30 s are over"),
        pytest.param(60_000, 59_999, True, False, False, id="a longer interval holds without state too"),
        pytest.param(60_000, 60_000, True, False, True, id="a longer interval is over"),
        pytest.param(1_000, 0, False, True, False, id="a heartbeat was planned just now"),
    ],
)
def test_when_a_heartbeat_is_due(interval_ms, waited_ms, at_once, has_state, is_due):
    due = is_heartbeat_due(waited_ns=waited_ms * MS, interval_ms=interval_ms, at_once=at_once, has_state=has_state)
    assert due is is_due
