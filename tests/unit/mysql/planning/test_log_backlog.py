"""The age of the oldest unread transaction, against a log whose commit times are known."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.mysql.planning.log_backlog import LogBacklog
from watermark.clock import ManualClock

START_US = 1_000_000_000


class Server:
    """Answers how long it keeps its log."""

    def __init__(self) -> None:
        self.seconds = "172800"
        self.queries = 0

    def query(self, _statement):
        self.queries += 1
        return [("binlog_expire_logs_seconds", self.seconds), ("binlog_expire_logs_auto_purge", "ON")]


def found(backlog):
    return backlog.to_json()["log"]


@given(
    transactions=st.lists(st.tuples(st.integers(1, 500), st.integers(0, 9_000_000)), min_size=1, max_size=40),
    steps=st.lists(st.tuples(st.integers(0, 5_000_000), st.integers(0, 1_500), st.booleans()), max_size=60),
    begin=st.integers(0, 3_000),
)
def test_the_age_is_never_less_than_that_of_the_oldest_unread_transaction(transactions, steps, begin):
    """Steps of time, after each of which the driver measures, reads on, and may have searched where its batch ends."""
    ends = list(accumulate(size for size, _ in transactions))
    commits = list(accumulate((gap for _, gap in transactions), initial=START_US))[1:]
    backlog, now, position = LogBacklog(Server().query, ManualClock()), START_US, min(begin, ends[-1])
    for gap, room, searched in steps:
        now += gap
        end = max([position, *(at for at, commit in zip(ends, commits, strict=True) if commit <= now)])
        backlog.measure(position, end, now)
        unread = [commit for at, commit in zip(ends, commits, strict=True) if position < at <= end]
        age = found(backlog)["unread_age_ms"]
        if not unread:
            assert age == 0
        elif age is not None:
            assert age >= (now - unread[0]) // 1_000
        whole = [(at, commit) for at, commit in zip(ends, commits, strict=True) if at <= min(end, position + room)]
        if whole and whole[-1][0] > position:
            position = whole[-1][0]
            if searched:
                backlog.add(*whole[-1])


def test_an_age_is_known_once_all_was_read_or_the_end_of_a_batch_was_searched():
    backlog = LogBacklog(Server().query, ManualClock())
    assert backlog.to_json() == {}
    backlog.measure(0, 900, START_US)
    assert found(backlog) == {"unread_age_ms": None, "retention_ms": 172_800_000}
    backlog.add(300, START_US - 7_000_000)
    backlog.measure(300, 1_000, START_US + 1_000_000)
    assert found(backlog)["unread_age_ms"] == 8_000
    backlog.measure(900, 1_000, START_US + 2_000_000)
    assert found(backlog)["unread_age_ms"] == 2_000
    backlog.measure(1_000, 1_000, START_US + 3_000_000)
    assert found(backlog)["unread_age_ms"] == 0
    backlog.forget()
    backlog.measure(1_000, 1_100, START_US + 4_000_000)
    assert found(backlog)["unread_age_ms"] is None


def test_a_long_backlog_is_remembered_in_bounded_memory():
    backlog = LogBacklog(Server().query, ManualClock())
    for second in range(20_000):
        backlog.measure(0, second + 1, START_US + second * 1_000_000)
    assert len(backlog._commits) <= 2_048
    backlog.measure(10_000, 20_000, START_US + 20_000 * 1_000_000)
    assert found(backlog)["unread_age_ms"] == pytest.approx(10_000_000, rel=0.1)
    assert found(backlog)["unread_age_ms"] >= 10_000_000


def test_the_retention_is_asked_once_a_minute():
    server, clock = Server(), ManualClock()
    backlog = LogBacklog(server.query, clock)
    for _ in range(5):
        backlog.measure(0, 0, START_US)
        clock.advance_us(1_000_000)
    assert server.queries == 1
    server.seconds = "0"
    clock.advance_us(60_000_000)
    backlog.measure(0, 0, START_US)
    assert (server.queries, found(backlog)["retention_ms"]) == (2, None)
