"""When plannings of an idle source are skipped. Times are ms of the monotonic clock."""

from __future__ import annotations

import pytest

from datasources.source.api.split import SplitBounds
from datasources.source.planning.idle_skip import idle_skip

MS = 1_000_000


def bounds(end=5):
    return {"a-0": SplitBounds(start_inclusive=0, end_exclusive=end)}


@pytest.mark.parametrize(
    ("next_idle_ms", "depends_on_peers", "until_ms"),
    [
        pytest.param(None, False, None, id="time changes nothing"),
        pytest.param(700, False, 700, id="until the next split is idle"),
        pytest.param(None, True, 300, id="a source that follows others looks at them five times a second"),
        pytest.param(250, True, 250, id="the earlier of the two: a split"),
        pytest.param(700, True, 300, id="the earlier of the two: the others"),
    ],
)
def test_how_long_plannings_are_skipped(next_idle_ms, depends_on_peers, until_ms):
    next_idle_ns = None if next_idle_ms is None else next_idle_ms * MS
    skip = idle_skip(4, bounds(), next_idle_ns=next_idle_ns, depends_on_peers=depends_on_peers, now_ns=100 * MS)
    assert skip.until_ns == (None if until_ms is None else until_ms * MS)


@pytest.mark.parametrize(
    ("sequence", "end", "now_ms", "applies"),
    [
        pytest.param(4, 5, 699, True, id="nothing can have changed"),
        pytest.param(5, 5, 699, False, id="another batch"),
        pytest.param(4, 6, 699, False, id="the log moved"),
        pytest.param(4, 5, 700, False, id="a split is idle now"),
    ],
)
def test_when_a_planning_is_skipped(sequence, end, now_ms, applies):
    skip = idle_skip(4, bounds(), next_idle_ns=700 * MS, depends_on_peers=False, now_ns=100 * MS)
    assert skip.applies(sequence, bounds(end), now_ms * MS) is applies
