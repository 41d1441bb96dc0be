"""The application's coordinator: one, however many sessions ask at once; where it listens; its end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from datasources.errors import CoordinatorError
from datasources.source.coordination import registry
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.coordination.server import Coordinator, PeerLimits
from datasources.source.coordination.wire import open_channel
from datasources.spark.attach import register
from tests.support.source.loopback import DEADLINE_S, is_hung_up, raw_connection, read_exactly, wait_until

SESSIONS = 50


class Context:
    """A SparkContext as far as registering looks at it."""

    def __init__(self, **conf: str) -> None:
        self.values = {key.replace("__", "."): value for key, value in conf.items()}
        self.is_stopped = False

    def getConf(self):  # noqa: N802 - Spark's name
        return self.values

    def stop(self) -> None:
        self.is_stopped = True


@pytest.fixture
def context() -> Iterator[Context]:
    made = Context(spark__driver__host="127.0.0.1")
    yield made
    made.stop()


def test_sessions_that_register_at_once_have_one_coordinator(context, monkeypatch):
    made: list[Coordinator] = []

    class Slow(Coordinator):
        def __init__(self, **more) -> None:
            threading.Event().wait(0.05)
            super().__init__(**more)
            made.append(self)

    monkeypatch.setattr(register, "Coordinator", Slow)
    start, found = threading.Barrier(SESSIONS), set()

    def ask() -> None:
        start.wait(DEADLINE_S)
        found.add(register._application_coordinator(SimpleNamespace(sparkContext=context)))

    threads = [threading.Thread(target=ask) for _ in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    try:
        assert len(made) == 1
        assert found == set(made)
    finally:
        for one in made:
            one.close()


def test_it_ends_with_the_context(context):
    coordinator = register._application_coordinator(SimpleNamespace(sparkContext=context))
    endpoint = coordinator.endpoint
    open_channel((endpoint.host, endpoint.port), endpoint.key, timeout_s=DEADLINE_S).close()
    context.stop()
    assert context.is_stopped
    with pytest.raises(OSError, match="refused"):
        raw_connection((endpoint.host, endpoint.port))


@pytest.mark.parametrize("key", ["spark__tidemark__coordinator__bind", "spark__driver__bindAddress"])
def test_what_it_binds_and_what_executors_are_given_may_differ(key):
    context = Context(spark__driver__host="driver.example", **{key: "127.0.0.1"})
    coordinator = register._application_coordinator(SimpleNamespace(sparkContext=context))
    assert coordinator.endpoint.host == "driver.example"
    open_channel(("127.0.0.1", coordinator.endpoint.port), coordinator.endpoint.key, timeout_s=DEADLINE_S).close()
    context.stop()


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_it_speaks_ipv6(host):
    coordinator = Coordinator(host=host)
    try:
        endpoint = coordinator.endpoint
        assert endpoint.host == "::1"
        open_channel((endpoint.host, endpoint.port), endpoint.key, timeout_s=DEADLINE_S).close()
    finally:
        coordinator.close()


def test_an_address_that_is_not_of_this_machine_names_the_settings():
    with pytest.raises(CoordinatorError, match=r"coordinator\.bind .*coordinator\.host"):
        Coordinator(host="127.0.0.1", bind="203.0.113.7")


def test_one_address_cannot_take_all_places_with_handshakes_that_it_does_not_end():
    coordinator = Coordinator(limits=PeerLimits(handshakes=3, handshake_timeout_s=60.0))
    endpoint = coordinator.endpoint
    address = (endpoint.host, endpoint.port)
    silent: list[socket.socket] = []
    try:
        for _ in range(3):
            silent.append(raw_connection(address))
            assert read_exactly(silent[-1], 1)
        one_more = raw_connection(address)
        silent.append(one_more)
        assert is_hung_up(one_more)
        silent[0].close()
        wait_until(lambda: coordinator._handshakes["127.0.0.1"] < 3)
        open_channel(address, endpoint.key, timeout_s=DEADLINE_S).close()
        for one in silent:
            one.close()
        wait_until(lambda: not coordinator._handshakes)
    finally:
        coordinator.close()


def test_what_is_known_of_queries_is_bounded_if_their_end_is_never_reported(monkeypatch):
    monkeypatch.setattr(registry, "_MAX_QUERIES", 100)
    known = SourceRegistry()
    for number in range(350):
        run = f"run-{number}"
        known.allow(run)
        known.refuse(run, "why")
        known.expect_builds(run, {"a": 1})
        known.progress(f"query-{number}", batch_id=1, state_rows=1)
    for entries in (known._checked, known._refused, known._load_gates.expected, known._queries):
        assert len(entries) == 100
    answer = known.answer({"ask": "admit", "run": "run-349"})
    assert answer == {"refused": "why", "checked": True}
