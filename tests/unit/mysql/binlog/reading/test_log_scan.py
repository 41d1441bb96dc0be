"""A range of the binlog that is only looked through is looked through again where the connection breaks."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pymysql.err import OperationalError

from datasources.errors import SourceUnavailable
from datasources.mysql.binlog.dump.dump_errors import explain_dump
from datasources.mysql.binlog.reading.log_scan import scan
from datasources.mysql.connection.connection_errors import ConnectionLost

FIELDS = dict.fromkeys(
    (
        "position",
        "is_done",
        "passed_bytes",
        "changed_rows",
        "first_gtid",
        "gtids",
        "commit_us",
        "next_commit_us",
        "format_time_us",
    )
)


class Reader(SimpleNamespace):
    """A reader whose connection breaks, or not."""

    def __iter__(self) -> Iterator[Any]:
        if self.error is not None:
            raise self.error
        return iter(())

    def close(self) -> None:
        self.closed.append(self.number)


def readers(*errors: Exception | None) -> tuple[Any, list[int]]:
    closed: list[int] = []
    waiting = [
        Reader(error=error, number=n, closed=closed, **{**FIELDS, "position": n}) for n, error in enumerate(errors)
    ]
    return (lambda: waiting.pop(0)), closed


def test_a_scan_restarts_from_its_begin_on_a_new_connection():
    opened, closed = readers(ConnectionLost("it broke"), ConnectionLost("again"), None)
    assert scan(opened).position == 2
    assert closed == [0, 1, 2]


def test_a_scan_fails_after_five_connections():
    opened, closed = readers(*[ConnectionLost(f"broke {n}") for n in range(6)])
    with pytest.raises(ConnectionLost, match="broke 4"):
        scan(opened)
    assert closed == [0, 1, 2, 3, 4]


def test_errors_that_a_new_connection_cannot_fix_are_not_retried():
    opened, closed = readers(SourceUnavailable("refused"), None)
    with pytest.raises(SourceUnavailable, match="refused"):
        scan(opened)
    assert closed == [0]


@pytest.mark.parametrize(
    ("number", "is_lost"), [(2013, True), (2006, True), (1053, True), (1236, False), (1045, False)]
)
def test_a_dump_that_ends_with_the_connection_is_lost(number: int, *, is_lost: bool):
    assert isinstance(explain_dump(OperationalError(number, "text")), ConnectionLost) is is_lost
