"""A batch that was planned at one server gives the same rows at the one that replaces it, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather

from datasources.errors import SourceUnavailable
from datasources.mysql.data_source import MySqlDataSource
from datasources.mysql.planning import batch_end, mysql_enumerator
from datasources.mysql.server import server_switch
from tests.support.forms import full, full_cases
from tests.support.mysql.mysql_pair import Pair
from tests.support.mysql.mysql_server import OwnMySql
from tests.support.mysql_consistency.local_query import LocalQuery, read_batch, read_parts
from tests.support.mysql_consistency.recording import Recording

pytestmark = [pytest.mark.mysql, pytest.mark.slow]

BATCHES = 30
OF_THE_SERVER = ("_seq", "file", "pos", "op_ts")  # a transaction's position and commit time at one server


def _rows(table: pa.Table) -> list[str]:
    """Each row without the columns that differ between servers."""
    return sorted(map(repr, table.drop_columns(list(OF_THE_SERVER)).to_pylist()))


def _recorded(recording: Recording, batch: int) -> list[str]:
    (file,) = recording.batches.glob(f"{batch}.*")
    return _rows(feather.read_table(str(file)))


def _read_in_a_new_process(pair: Pair, recording: Recording, batch: int) -> list[str]:
    """Read a batch as the process does that goes on from the checkpoint of a query which died in it."""
    source = MySqlDataSource(pair.options())
    reader = source.streamReader(source.schema())
    try:
        return _rows(read_batch(reader, {}, recording.offset(batch)))
    finally:
        reader.stop()


def _copy(recording: Recording) -> dict[int, tuple[Any, ...]]:
    """Apply the batches, each change of which must match the row that it changes; return the table."""
    copy: dict[int, tuple[Any, ...]] = {}
    for batch in range(recording.planned()):
        (file,) = recording.batches.glob(f"{batch}.*")
        for row in sorted(feather.read_table(str(file)).to_pylist(), key=lambda row: tuple(row["_seq"].values())):
            if row["row_kind"] in ("-U", "-D"):
                assert copy.pop(row["id"], None) is not None, f"batch {batch}: {row}"
            else:
                assert row["id"] not in copy, f"batch {batch}: {row}"
                copy[row["id"]] = (row["id"], row["v"], row["note"])
    return copy


def _all(query: LocalQuery) -> None:
    """Read all that there is; the driver asks the server now and then only."""
    a_moment = threading.Event()
    while query.step() or any(not a_moment.wait(0.05) and query.step() for _ in range(10)):
        continue


@contextmanager
def _writers(server: OwnMySql) -> Iterator[None]:
    """Change rows all the time, each transaction in a group that takes a moment to be committed."""
    stop = threading.Event()

    def write(number: int) -> None:
        with server.connect(database="d") as connection, connection.cursor() as cursor:
            at = 0
            while not stop.is_set():
                at += 1
                cursor.execute(f"INSERT INTO t VALUES ({10_000 * number + at}, {at}, 'new')")
                cursor.execute(f"UPDATE t SET v = v + 1 WHERE id = {1 + at % 60} AND id % 4 = {number % 4}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 5)]
    with server.settings(binlog_group_commit_sync_delay=20_000), ExitStack() as at_end:
        at_end.callback(lambda: [thread.join() for thread in threads])
        at_end.callback(stop.set)
        for thread in threads:
            thread.start()
        yield


def test_batches_planned_during_commits(pair: Pair, tmp_path: Path):
    recording = Recording(tmp_path).create()
    with _writers(pair.old), LocalQuery(pair.options(scan__max_rows_per_batch="1000"), recording) as query:
        while recording.planned() < BATCHES:
            query.step()
    pair.catch_up()
    assert any(recording.state(batch).tables for batch in range(BATCHES))
    assert not all(recording.state(batch).tables for batch in range(BATCHES))
    pair.switch.lead_to(pair.new.administrator.port)
    for batch in range(0, BATCHES, 2):
        assert _read_in_a_new_process(pair, recording, batch) == _recorded(recording, batch), f"batch {batch}"


def test_a_server_that_lacks_transactions_of_the_batch_is_waited_for(pair: Pair, tmp_path: Path):
    recording = Recording(tmp_path).create()
    with LocalQuery(pair.options(scan__max_rows_per_batch="1000"), recording) as query:
        _all(query)
        pair.catch_up()
        pair.new.execute("STOP REPLICA SQL_THREAD")
        (executed,) = pair.old.execute("SELECT @@GLOBAL.gtid_executed")[0]
        pair.change(pair.old)
        _all(query)
    batch = recording.planned() - 1
    source, _, last = executed.rpartition("-")
    pair.new.execute(f"START REPLICA SQL_THREAD UNTIL SQL_AFTER_GTIDS = '{source.partition(':')[0]}:{int(last) + 2}'")
    pair.switch.lead_to(pair.new.administrator.port)
    later = threading.Timer(2, pair.new.execute, ["START REPLICA SQL_THREAD"])
    later.start()
    assert _read_in_a_new_process(pair, recording, batch) == _recorded(recording, batch)
    later.join()


def test_reading_resumes_by_position_behind_the_new_servers_old_end(pair: Pair, tmp_path: Path):
    recording = Recording(tmp_path).create()
    with LocalQuery(pair.options(), recording) as query:
        _all(query)
        pair.promote()
        pair.change(pair.new)
        _all(query)
        pair.change(pair.new)
        _all(query)
    states: list[Any] = [recording.state(batch) for batch in range(recording.planned())]
    assert next(state.by_gtid for state in states if state.epoch)
    assert not states[-1].by_gtid
    assert states[-1].gtid_until is None


@pytest.mark.parametrize("steps", [*full(3), 6, *full(9, 12)])
def test_the_server_is_replaced_after_a_batch_was_read(pair: Pair, tmp_path: Path, steps: int):
    pair.old.execute(*["FLUSH BINARY LOGS"] * 6)  # the order by file and position differs from that by GTIDs
    recording = Recording(tmp_path).create()
    with LocalQuery(pair.options(), recording) as query:
        for step in range(steps):
            if step % 2:
                pair.change(pair.old)
            query.step()
        pair.promote()
        _all(query)
        pair.change(pair.new)
        _all(query)
    assert _copy(recording) == pair.table(pair.new)


def test_the_server_is_replaced_between_planning_and_tasks(pair: Pair, tmp_path: Path):
    recording = Recording(tmp_path).create()
    with LocalQuery(pair.options(), recording) as query:
        for _ in range(4):
            pair.change(pair.old)
            query.step()
        batch = recording.planned() - 1
        assert recording.state(batch).tables
        parts = query.reader.partitions({}, recording.offset(batch))
        pair.promote()
        assert _rows(read_parts(query.reader, parts)) == _recorded(recording, batch)
        _all(query)
    assert _copy(recording) == pair.table(pair.new)


def test_a_batch_ended_by_bytes_ends_at_the_same_gtid_at_another_server(pair: Pair, tmp_path: Path):
    recording = Recording(tmp_path).create()
    bound = pair.options(scan__max_bytes_per_batch="3000", scan__max_rows_per_batch="100000")
    with LocalQuery(bound, recording) as query:
        _all(query)
        before = recording.planned()
        for _ in range(10):
            pair.change(pair.old)
        _all(query)
    pair.promote()
    assert recording.planned() - before > 3
    for batch in range(before, recording.planned()):
        source = MySqlDataSource(bound)
        reader = source.streamReader(source.schema())
        try:
            assert _rows(read_batch(reader, {}, recording.offset(batch))) == _recorded(recording, batch), batch
        finally:
            reader.stop()


@pytest.mark.parametrize("fails", [False, True], ids=["found", "lost"])
def test_ends_that_are_searched_ahead_are_those_that_planning_finds(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
):
    begin = pair.old.execute("SHOW BINARY LOG STATUS")[0]
    start = {"file": begin[0], "pos": str(begin[1])}
    bound = pair.options(
        scan__startup__mode="specific-offset",
        scan__max_bytes_per_batch="3000",
        scan__max_rows_per_batch="100000",
        **{f"scan__startup__specific_offset__{key}": value for key, value in start.items()},
    )
    for _ in range(10):
        pair.change(pair.old)
    ahead = []

    class Searched(batch_end.BatchEnds):
        def _found_ahead(self, _batch: Any, _max_bytes: int) -> None:
            return None

    class Ahead(batch_end.BatchEnds):
        def _found_ahead(self, batch: Any, max_bytes: int) -> Any:
            if fails and self._ahead is not None:
                lost: Future[Any] = Future()
                lost.set_exception(SourceUnavailable("the connection broke"))
                self._ahead = replace(self._ahead, found=lost)
            ahead.append(super()._found_ahead(batch, max_bytes))
            return ahead[-1]

    planned = []
    for ends in (Searched, Ahead):
        monkeypatch.setattr(mysql_enumerator, "BatchEnds", ends)
        recording = Recording(tmp_path / ends.__name__).create()
        with LocalQuery(bound, recording) as query:
            _all(query)
        states = [recording.state(batch) for batch in range(recording.planned())]
        planned.append([(each.position, each.to, each.to_gtid) for each in states])
    assert planned[0] == planned[1]
    assert [found is None for found in ahead].count(fails) > 3


@pytest.mark.parametrize(
    ("module", "steps", "back"),
    [(batch_end, 2, False), *full_cases((batch_end, 40, False), (server_switch, 2, True)), (server_switch, 40, True)],
    ids=["a snapshot's batch", "a batch of changes", "a snapshot's batch, twice", "a batch of changes, twice"],
)
def test_the_server_is_replaced_while_the_end_of_a_batch_is_planned(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, steps: int, *, back: bool
):
    """With ``back`` it is replaced once the batch is planned, and back again while its end is searched there."""
    recording = Recording(tmp_path).create()
    bound = pair.options(scan__max_bytes_per_batch="3000", scan__max_rows_per_batch="15")
    scan, replaced = module.scan, threading.Event()

    def replace_and_scan(opened: Any) -> Any:
        if not replaced.is_set():
            replaced.set()
            pair.switch.lead_to((pair.old if back else pair.new).administrator.port)
        return scan(opened)

    def replace_once_planned(_batch: int) -> None:
        if back and module.scan is replace_and_scan and not replaced.is_set():
            pair.switch.lead_to(pair.new.administrator.port)

    with LocalQuery(bound, recording, replace_once_planned) as query:
        for _ in range(steps):
            pair.change(pair.old)
            query.step()
        for _ in range(3):  # more than a batch takes, so that its end is searched
            pair.change(pair.old)
        pair.catch_up()
        monkeypatch.setattr(module, "scan", replace_and_scan)
        _all(query)
        assert replaced.is_set()
        if back:
            pair.switch.lead_to(pair.new.administrator.port)
        pair.new.execute("STOP REPLICA", "RESET REPLICA ALL")
        pair.change(pair.new)
        _all(query)
    assert _copy(recording) == pair.table(pair.new)
