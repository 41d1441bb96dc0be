"""The coordinator and its clients over real sockets on loopback."""

from __future__ import annotations

import logging
import select
import socket

import pytest

from datasources.errors import CoordinatorError, NonDeterminismError
from datasources.source.api.split import SplitId
from datasources.source.coordination.client import CoordinatorClient, CoordinatorLink
from datasources.source.coordination.reports import SplitReport
from datasources.source.coordination.server import Coordinator, Endpoint, PeerLimits
from datasources.source.coordination.wire import open_channel
from tests.support.source.loopback import DEADLINE_S, frame, is_hung_up, prove, raw_connection, read_exactly, wait_until

SOURCE = "run-1"


@pytest.fixture
def coordinator():
    server = Coordinator()
    yield server
    server.close()


@pytest.fixture
def client(coordinator):
    return CoordinatorClient(coordinator.endpoint, timeout_s=DEADLINE_S)


@pytest.fixture
def report_store(coordinator):
    return CoordinatorLink(CoordinatorClient(coordinator.endpoint, timeout_s=DEADLINE_S), SOURCE)


def address(coordinator):
    return coordinator.endpoint.host, coordinator.endpoint.port


def report(sequence=1, split="a-0", **values: int | str | None):
    fields = {"position": 10, "watermark_ms": 5, "last_row_watermark_ms": 4, "rows": 3, **values}
    return SplitReport(sequence=sequence, split=SplitId(split), **fields)


def message(*reports: object, source=SOURCE, query="query-1", batch=0):
    raw = [r.to_json() if isinstance(r, SplitReport) else r for r in reports]
    return {"ask": "report", "source": source, "query": query, "batch": batch, "reports": raw}


def take(sequence=1, source=SOURCE):
    return {"ask": "take", "source": source, "sequence": sequence}


# -- reports --


def test_a_report_reaches_the_planner(client, report_store):
    sent = report(watermark_ms=None, last_row_watermark_ms=-3, late_rows=1, bad=2)
    assert client.ask(message(sent)) == {"ok": True, "conflict": None}
    assert report_store.take(1) == {"a-0": sent}


def test_missing_reports_are_absent(report_store):
    assert report_store.take(7) == {}


def test_the_reports_of_several_tasks_come_together(client, report_store):
    client.ask(message(report(split="a-0")))
    client.ask(message(report(split="a-1"), report(split="a-2")))
    assert set(report_store.take(1)) == {"a-0", "a-1", "a-2"}


def test_source_runs_do_not_see_each_other(client, coordinator):
    client.ask(message(report(), source="run-1"))
    assert CoordinatorLink(client, "run-2").take(1) == {}


def test_an_equal_report_is_ignored(client, report_store):
    for _ in range(3):
        assert client.ask(message(report()))["conflict"] is None
    assert report_store.take(1) == {"a-0": report()}


def test_a_different_report_fails_task_and_planner_and_the_first_one_stays(client, coordinator, report_store):
    client.ask(message(report(rows=3)))
    conflict = client.ask(message(report(rows=4)))["conflict"]
    assert "split 'a-0' gave two different results for batch 1" in conflict
    assert "start from a new checkpoint" in conflict
    with pytest.raises(NonDeterminismError, match="two different results for batch 1"):
        report_store.take(1)
    assert coordinator.registry.answer(take())["reports"] == [report(rows=3).to_json()]


def test_a_conflict_stays_until_the_source_runs_anew(client, report_store, coordinator):
    client.ask(message(report(rows=3), report(rows=4)))
    client.ask(message(report(sequence=2)))
    with pytest.raises(NonDeterminismError):
        report_store.take(2)
    assert CoordinatorLink(client, "run-2").take(2) == {}


@pytest.mark.parametrize(
    "other",
    [
        {"position": 11},
        {"watermark_ms": 6},
        {"watermark_ms": None},
        {"last_row_watermark_ms": 5},
        {"late_rows": 1},
        {"rows": 9},
    ],
)
def test_every_field_that_results_depend_on_counts_for_equality(coordinator, other):
    coordinator.registry.answer(message(report()))
    assert coordinator.registry.answer(message(report(**other)))["conflict"]


def test_a_range_of_which_a_part_is_gone_is_not_compared(coordinator):
    coordinator.registry.answer(message(report()))
    assert coordinator.registry.answer(message(report(rows=3, lost=2)))["conflict"] is None


def test_of_a_range_that_two_servers_gave_the_rows_are_compared():
    first = report(rows=3, server="a")
    first.require_equal(report(rows=3, position=7, note="b's", server="b"))
    with pytest.raises(NonDeterminismError):
        first.require_equal(report(rows=4, server="b"))
    with pytest.raises(NonDeterminismError):
        first.require_equal(report(rows=3, position=7, server="a"))


def test_reports_of_older_batches_are_ignored(coordinator):
    coordinator.registry.answer(message(report(sequence=5)))
    assert coordinator.registry.answer(message(report(sequence=4), report(sequence=3)))["conflict"] is None
    assert coordinator.registry.answer(take(4))["reports"] == []
    assert len(coordinator.registry.answer(take(5))["reports"]) == 1


def test_a_late_second_task_of_an_older_batch_is_no_conflict(coordinator):
    coordinator.registry.answer(message(report(sequence=4, rows=1)))
    coordinator.registry.answer(message(report(sequence=5)))
    assert coordinator.registry.answer(message(report(sequence=4, rows=2)))["conflict"] is None


def test_a_run_keeps_three_batches(coordinator):
    for sequence in range(100):
        coordinator.registry.answer(message(report(sequence=sequence)))
    kept = [sequence for sequence in range(100) if coordinator.registry.answer(take(sequence))["reports"]]
    assert kept == [97, 98, 99]


def test_a_thousand_source_runs_are_kept_and_the_ones_in_use_stay(coordinator):
    coordinator.registry.answer(message(report(), source="in use"))
    coordinator.registry.answer(message(report(), source="abandoned"))
    for number in range(1_500):
        coordinator.registry.answer(message(report(), source=f"other-{number}"))
        coordinator.registry.answer(take(source="in use"))
    assert len(coordinator.registry._runs) == 1_000
    assert coordinator.registry.answer(take(source="in use"))["reports"]
    assert not coordinator.registry.answer(take(source="abandoned"))["reports"]


# -- requests that are wrong --

GOOD = report().to_json()
WITHOUT_ROWS = {name: value for name, value in GOOD.items() if name != "rows"}


@pytest.mark.parametrize(
    "raw",
    [
        {},
        WITHOUT_ROWS,
        {**GOOD, "more": 1},
        {**GOOD, "split": 5},
        {**GOOD, "split": None},
        {**GOOD, "sequence": "1"},
        {**GOOD, "sequence": None},
        {**GOOD, "position": 1.0},
        {**GOOD, "rows": True},
        {**GOOD, "watermark_ms": "5"},
        {**GOOD, "watermark_ms": 5.5},
        {**GOOD, "stamp_ms": []},
        {**GOOD, "lost": None},
        [],
        None,
        "report",
        5,
    ],
)
def test_a_malformed_report_is_refused_and_leaves_no_trace(coordinator, raw):
    with pytest.raises(CoordinatorError, match="a task sent a"):
        coordinator.registry.answer(message(report(split="a-9"), raw, query="other", batch=9))
    answer = coordinator.registry.answer(take())
    assert (answer["reports"], answer["batch"], answer["conflict"]) == ([], -1, None)


@pytest.mark.parametrize(
    "request_of",
    [
        {},
        {"ask": "shutdown"},
        {"ask": None},
        {"ask": ["report"]},
        {"ask": "take"},
        {**take(), "sequence": "1"},
        {**take(), "sequence": 1.5},
        {**take(), "sequence": True},
        {**take(), "source": 5},
        {**take(), "source": None},
        {**message(), "reports": None},
        {**message(), "reports": {"a": 1}},
        {**message(), "batch": "0"},
        {**message(), "batch": None},
        {**message(), "query": {}},
        {**message(), "query": ["q"]},
        {"ask": "admit"},
        {"ask": "admit", "run": 5},
    ],
)
def test_a_malformed_request_ends_its_own_connection_and_no_other(coordinator, report_store, request_of):
    bystander = CoordinatorClient(coordinator.endpoint, timeout_s=DEADLINE_S)
    bystander.ask(message(report()))
    before = bystander._channel
    channel = open_channel(address(coordinator), coordinator.endpoint.key, timeout_s=DEADLINE_S)
    channel.send(request_of)
    assert channel.receive() is None
    wait_until(lambda: coordinator.bad_peers == 1)
    assert bystander.ask(take())["reports"] == [report().to_json()]
    assert bystander._channel is before
    assert report_store.take(1) == {"a-0": report()}
    channel.close()


def test_a_client_whose_request_is_refused_gets_none(client):
    assert client.ask({"ask": "nonsense"}) is None
    assert client.ask(take()) is not None


# -- reports of the listener --


def test_state_is_unknown_before_the_first_progress(coordinator, client, report_store):
    assert report_store.has_state() is None
    client.ask(message(report(), query="q", batch=4))
    assert report_store.has_state() is None


@pytest.mark.parametrize(
    ("progress_batch", "rows", "expected"),
    [(4, 0, False), (4, 7, True), (5, 0, False), (5, 1, True), (3, 0, None), (3, 9, None)],
)
def test_state_is_known_from_the_progress_of_the_batch_that_reported_or_a_later_one(
    coordinator, report_store, progress_batch, rows, expected
):
    coordinator.registry.answer(message(report(), query="q", batch=4))
    coordinator.registry.progress("q", batch_id=progress_batch, state_rows=rows)
    assert report_store.has_state() is expected


def test_the_state_of_another_query_does_not_count(coordinator, client, report_store):
    client.ask(message(report(), query="q", batch=0))
    coordinator.registry.progress("p", batch_id=5, state_rows=7)
    assert report_store.has_state() is None


def test_state_is_unknown_again_when_a_newer_batch_reports(coordinator, client, report_store):
    client.ask(message(report(), query="q", batch=4))
    coordinator.registry.progress("q", batch_id=4, state_rows=0)
    client.ask(message(report(sequence=2), query="q", batch=5))
    assert report_store.has_state() is None


def test_a_task_outside_of_a_query_does_not_hide_the_query(coordinator, client, report_store):
    client.ask(message(report(), query="q", batch=4))
    coordinator.registry.progress("q", batch_id=4, state_rows=7)
    client.ask(message(report(split="a-1"), query=None, batch=-1))
    assert report_store.has_state() is True


def test_a_query_that_ended_is_forgotten(coordinator, client, report_store):
    client.ask(message(report(), query="q", batch=0))
    coordinator.registry.progress("q", batch_id=0, state_rows=7)
    coordinator.registry.refuse("r", "not attached")
    coordinator.registry.allow("s")
    coordinator.registry.terminated("q", "r")
    coordinator.registry.terminated("other", "s")
    assert report_store.has_state() is None
    assert client.ask({"ask": "admit", "run": "r"}) == {"refused": None, "checked": False}
    assert client.ask({"ask": "admit", "run": "s"}) == {"refused": None, "checked": False}


def test_a_run_is_admitted_refused_or_not_yet_known(coordinator, client):
    coordinator.registry.allow("good")
    coordinator.registry.refuse("bad", "use with_source_watermark")
    assert client.ask({"ask": "admit", "run": "good"}) == {"refused": None, "checked": True}
    assert client.ask({"ask": "admit", "run": "bad"}) == {"refused": "use with_source_watermark", "checked": False}
    assert client.ask({"ask": "admit", "run": "?"}) == {"refused": None, "checked": False}


# -- peers that misbehave --


def test_a_peer_with_another_key_is_dropped_counted_and_logged_once(coordinator, caplog):
    endpoint = Endpoint(host=coordinator.endpoint.host, port=coordinator.endpoint.port, key=b"x" * 32)
    with caplog.at_level(logging.WARNING):
        assert CoordinatorClient(endpoint, timeout_s=DEADLINE_S).ask(take()) is None
        wait_until(lambda: coordinator.bad_peers == 2)  # it tries twice
    assert sum("coordinator_peer_dropped" in line for line in caplog.messages) == 1
    assert not any(coordinator.endpoint.key.hex() in line or "xxxx" in line for line in caplog.messages)


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.0\r\n\r\n" + b" " * 64, b"\x00" * 100])
def test_garbage_is_dropped_and_others_go_on(coordinator, client, garbage):
    client.ask(message(report()))
    with raw_connection(address(coordinator)) as peer:
        peer.sendall(garbage)
        assert is_hung_up(peer)
    wait_until(lambda: coordinator.bad_peers == 1)
    assert client.ask(take())["reports"]


def test_a_frame_of_a_gigabyte_is_dropped(coordinator, client):
    with raw_connection(address(coordinator)) as peer:
        prove(peer, coordinator.endpoint.key)
        peer.sendall((1 << 30).to_bytes(4, "big"))
        assert is_hung_up(peer)
    wait_until(lambda: coordinator.bad_peers == 1)
    assert client.ask(take()) is not None


def test_a_replayed_report_is_dropped(coordinator, client):
    with raw_connection(address(coordinator)) as peer:
        session = prove(peer, coordinator.endpoint.key)
        once = frame(session, 0, b'{"ask":"admit","run":"r"}')
        peer.sendall(once + once)
        assert b'"checked":false' in read_exactly(peer, 36 + len(b'{"refused":null,"checked":false}'))
        assert is_hung_up(peer)
    wait_until(lambda: coordinator.bad_peers == 1)


def test_a_deeply_nested_request_is_dropped(coordinator, client):
    with raw_connection(address(coordinator)) as peer:
        session = prove(peer, coordinator.endpoint.key)
        peer.sendall(frame(session, 0, b'{"a":' * 100_000))
        assert is_hung_up(peer)
    wait_until(lambda: coordinator.bad_peers == 1)
    assert client.ask(take()) is not None


def test_a_half_open_peer_is_dropped_and_counted_after_the_handshake_timeout():
    server = Coordinator(limits=PeerLimits(handshake_timeout_s=0.05))
    with raw_connection(address(server)) as peer:
        assert len(read_exactly(peer, 32)) == 32
        assert is_hung_up(peer)
    wait_until(lambda: server.bad_peers == 1)
    wait_until(lambda: not server._connections)
    server.close()


def test_a_peer_that_drips_bytes_is_dropped_after_the_handshake_timeout():
    server = Coordinator(limits=PeerLimits(handshake_timeout_s=0.1))
    with raw_connection(address(server)) as peer:
        sent = 0
        while sent < 63 and server.bad_peers == 0:
            sent += peer.send(b"x")
            select.select([], [], [], 0.01)
        assert sent < 63
    server.close()


def test_a_silent_worker_is_hung_up_on_without_being_a_bad_peer_and_comes_back():
    server = Coordinator(limits=PeerLimits(idle_timeout_s=0.05))
    client = CoordinatorClient(server.endpoint, timeout_s=DEADLINE_S)
    client.ask(message(report()))
    wait_until(lambda: not server._connections)
    assert server.bad_peers == 0
    assert client.ask(take())["reports"]
    server.close()


def test_a_flood_of_connections_is_turned_away_beyond_the_limit():
    server = Coordinator(limits=PeerLimits(connections=3))
    idle_peers = [raw_connection(address(server)) for _ in range(3)]
    assert all(len(read_exactly(peer, 32)) == 32 for peer in idle_peers)
    flood = [raw_connection(address(server)) for _ in range(20)]
    assert all(is_hung_up(peer) for peer in flood)
    wait_until(lambda: server.bad_peers == 20)
    for peer in (*idle_peers, *flood):
        peer.close()
    wait_until(lambda: not server._connections)
    assert CoordinatorClient(server.endpoint, timeout_s=DEADLINE_S).ask(take()) is not None
    server.close()


class FlakySocket:
    """A listening socket whose accept() fails a few times, as with no file descriptor left."""

    def __init__(self, real, failures) -> None:
        self._real = real
        self.failures = failures

    def accept(self):
        if self.failures:
            self.failures -= 1
            raise OSError(24, "Too many open files")
        return self._real.accept()

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


def test_running_out_of_files_does_not_end_the_coordinator(coordinator, monkeypatch):
    monkeypatch.setattr("datasources.source.coordination.server._ACCEPT_RETRY_S", 0.001)
    flaky = FlakySocket(coordinator._server, failures=3)
    coordinator._server = flaky
    raw_connection(address(coordinator)).close()  # wakes the real accept(); the next one is the flaky one
    wait_until(lambda: flaky.failures == 0)
    assert CoordinatorClient(coordinator.endpoint, timeout_s=DEADLINE_S).ask(take()) is not None


def test_running_out_of_threads_does_not_end_the_coordinator(coordinator, monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", refuse)
        with raw_connection(address(coordinator)) as peer:
            assert is_hung_up(peer)
    wait_until(lambda: coordinator.bad_peers == 1)
    assert not coordinator._connections
    assert CoordinatorClient(coordinator.endpoint, timeout_s=DEADLINE_S).ask(take()) is not None


# -- a coordinator that is gone --


def test_close_stops_listening_and_hangs_up(coordinator):
    client = CoordinatorClient(coordinator.endpoint, timeout_s=DEADLINE_S)
    client.ask(take())
    coordinator.close()
    wait_until(lambda: not coordinator._connections)
    with pytest.raises(OSError, match="refused"):
        raw_connection(address(coordinator))
    coordinator.close()  # once more is harmless


def test_a_coordinator_that_is_gone_gives_none_is_logged_once_and_is_found_again(caplog):
    first = Coordinator()
    client = CoordinatorClient(first.endpoint, timeout_s=DEADLINE_S)
    report_store = CoordinatorLink(client, SOURCE)
    assert client.ask(message(report())) is not None
    first.close()
    with caplog.at_level(logging.WARNING):
        assert [client.ask(message(report())) for _ in range(3)] == [None] * 3
        assert report_store.take(1) == {}
        assert report_store.has_state() is None
    warnings = [line for line in caplog.messages if "coordinator_unreachable" in line]
    assert len(warnings) == 1
    assert "Executors must be able to connect to the driver on this port" in warnings[0]
    assert repr(first.endpoint.key) not in warnings[0]
    second = Coordinator(port=first.endpoint.port)
    second.endpoint = first.endpoint
    assert client.ask(message(report())) is not None
    assert report_store.take(1) == {"a-0": report()}
    second.close()


def test_a_connection_that_broke_is_opened_again_without_a_word(coordinator, client, caplog):
    client.ask(take())
    client._channel._connection.shutdown(socket.SHUT_RDWR)
    with caplog.at_level(logging.WARNING, logger="datasources.source.coordination.client"):
        assert client.ask(take()) is not None
    assert not [r for r in caplog.records if r.name == "datasources.source.coordination.client"]


def test_a_forked_worker_opens_a_connection_of_its_own(coordinator, client, monkeypatch):
    client.ask(take())
    parents = client._channel
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert client.ask(take()) is not None
    assert client._channel is not parents


def test_a_port_that_is_taken_is_an_error_that_names_the_setting(coordinator):
    with pytest.raises(CoordinatorError, match=r"spark\.tidemark\.coordinator\.port to a free"):
        Coordinator(port=coordinator.endpoint.port)


def test_a_host_of_another_machine_is_an_error_that_names_the_setting():
    with pytest.raises(CoordinatorError, match=r"spark\.tidemark\.coordinator\.bind to an address of the driver"):
        Coordinator(host="192.0.2.1")


def test_the_key_is_never_shown(coordinator):
    shown = f"{coordinator.endpoint!r} {coordinator.endpoint}"
    assert "key" not in shown
    assert coordinator.endpoint.key.hex() not in shown
    assert len(coordinator.endpoint.key) == 32


def test_every_coordinator_has_a_key_of_its_own(coordinator):
    other = Coordinator()
    other.close()
    assert other.endpoint.key != coordinator.endpoint.key
