"""Queries of Spark whose MySQL becomes another one: between batches and within one, in the snapshot and behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from datasources import read_stream
from datasources.errors import SourceUnavailable
from datasources.mysql.connection.connection import ConnectionSettings, connect
from tests.support.forms import full
from tests.support.mysql.mysql_binlog import purge_to_the_last_file
from tests.support.mysql.mysql_copy import BatchLog, strict_copy
from tests.support.mysql.mysql_pair import COLUMNS, ROWS, Pair
from tests.support.spark.scripted_stream import first_line, running

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]


def _log() -> BatchLog:
    return BatchLog(COLUMNS)


def _run_until(spark: Any, pair: Pair, log: BatchLog, checkpoint: Path, is_true: Callable[[], bool]) -> None:
    """Run the query until something holds."""
    with running(
        read_stream(spark, "tidemark-mysql", pair.options()), checkpoint=checkpoint, for_each=log.write
    ) as query:
        query.wait_for(lambda _: is_true())


def _is_equal(pair: Pair, log: BatchLog) -> Callable[[], bool]:
    """Return whether all rows came."""
    wanted = pair.table(pair.new)

    def look() -> bool:
        latest = [sequence for _, sequence, *_ in log.rows]
        return bool(latest) and strict_copy(log) == wanted

    return look


def _is_in(phase: str, number: int, rows: list[Any]) -> bool:
    """Return whether a batch is one of the given phase: the second of the snapshot, or the second behind it."""
    if phase == "snapshot":
        return number == 1
    return bool(rows) and not any(is_snapshot for _, _, is_snapshot, _ in rows)


@pytest.mark.long
@pytest.mark.parametrize("phase", [*full("snapshot"), "binlog"])
def test_a_switch_between_two_batches_loses_nothing_and_brings_nothing_twice(spark, pair, tmp_path, phase):
    log, switched = _log(), threading.Event()

    def switch(number: int, rows: list[Any]) -> None:
        if switched.is_set():
            return
        pair.change(pair.old)
        if _is_in(phase, number, rows):
            pair.promote()
            switched.set()

    log.breaks_at = switch
    with running(
        read_stream(spark, "tidemark-mysql", pair.options()), checkpoint=tmp_path / "c", for_each=log.write
    ) as query:
        query.wait_for(lambda _: switched.is_set())
        pair.change(pair.new)
        query.wait_for(lambda _: _is_equal(pair, log)())
    assert {sequence[0] for _, sequence, *_ in log.rows} == {0, 1}


@pytest.mark.full  # test_mysql_switch_of_servers.py has it without Spark
@pytest.mark.parametrize("phase", ["snapshot", "binlog"])
def test_a_batch_that_was_planned_at_the_old_server_is_read_at_the_new_one(spark, pair, tmp_path, phase):
    log, broken = _log(), []

    def break_off(number: int, rows: list[Any]) -> None:
        if broken:
            return
        pair.change(pair.old)
        if _is_in(phase, number, rows):
            broken.append((number, rows))
            raise RuntimeError("the driver dies here")

    log.breaks_at = break_off
    with pytest.raises(AssertionError, match="the driver dies here"):
        _run_until(spark, pair, log, tmp_path / "c", lambda: False)
    pair.promote()
    pair.change(pair.new)
    _run_until(spark, pair, log, tmp_path / "c", _is_equal(pair, log))
    ((number, rows),) = broken
    # The same rows as at the old server; only their positions are the new one's.
    assert sorted(repr(row[1:]) for row in log.batches[number]) == sorted(repr(row[1:]) for row in rows)
    assert {sequence[0] for sequence, *_ in log.batches[number]} == {1}


@pytest.mark.full  # as above
def test_a_replica_that_lags_is_waited_for(spark, pair, tmp_path):
    log = _log()
    _run_until(spark, pair, log, tmp_path / "c", lambda: len(log.rows) >= ROWS)
    pair.catch_up()
    pair.new.execute("STOP REPLICA SQL_THREAD")
    pair.change(pair.old)
    _run_until(spark, pair, log, tmp_path / "c", lambda: strict_copy(log) == pair.table(pair.old))
    pair.switch.lead_to(pair.new.administrator.port)
    later = threading.Timer(3, pair.new.execute, ["START REPLICA SQL_THREAD"])
    later.start()
    seen = len(log.rows)
    with running(
        read_stream(spark, "tidemark-mysql", pair.options()), checkpoint=tmp_path / "c", for_each=log.write
    ) as query:
        later.join()
        pair.catch_up()
        pair.change(pair.new)
        query.wait_for(lambda _: len(log.rows) > seen and strict_copy(log) == pair.table(pair.new))


@pytest.mark.full
def test_what_a_new_primary_purged_before_it_was_read_is_named(spark, pair, tmp_path):
    log = _log()
    _run_until(spark, pair, log, tmp_path / "c", lambda: len(log.rows) >= ROWS)
    pair.catch_up()
    pair.new.execute("STOP REPLICA", "RESET REPLICA ALL")
    pair.change(pair.new)
    purge_to_the_last_file(pair.new)
    pair.switch.lead_to(pair.new.administrator.port)
    with pytest.raises(AssertionError) as purged:
        _run_until(spark, pair, log, tmp_path / "c", lambda: False)
    assert "[TIDEMARK_DATA_LOSS]" in first_line(purged.value)
    assert "not read yet" in str(purged.value)
    assert "SHOW BINARY LOGS" in str(purged.value)


def test_a_connection_is_refused_where_another_server_answers(pair):
    login = pair.old.reader
    names = [server.execute("SELECT @@server_uuid")[0][0] for server in (pair.old, pair.new)]
    meant = ConnectionSettings(
        host="127.0.0.1", port=pair.switch.port, user=login.user, password=login.password, server=names[0]
    )
    with closing(connect(meant)) as connection:
        assert connection.open
    pair.switch.lead_to(pair.new.administrator.port)
    with pytest.raises(SourceUnavailable, match=f"another server answers.*{names[1]} instead of {names[0]}"):
        connect(meant)
