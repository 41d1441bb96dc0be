"""The coordinator in trouble: whatever happens to it, results are exact."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import register
from datasources.errors import CoordinatorError
from datasources.source.coordination.server import Coordinator, PeerLimits
from datasources.source.coordination.wire import open_channel
from tests.support.forms import full
from tests.support.source.loopback import prove, raw_connection, wait_until
from tests.support.spark.scripted_stream import Running, Scripts, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

BATCHES = 4
ALIGNED = {
    "scan.watermark.alignment.group": "faults",
    "scan.watermark.alignment.max-drift": "10 s",
    "scan.watermark.idle-timeout": "2 s",
}


@pytest.fixture
def coordinator(spark) -> Iterator[Coordinator]:
    """A coordinator that may be ill-treated, in the place of the application's own."""
    register(spark)  # the session's listener belongs to the application's coordinator
    mine = Coordinator(limits=PeerLimits(connections=64, handshake_timeout_s=1.0))
    before = spark.sparkContext._tidemark_coordinator
    spark.sparkContext._tidemark_coordinator = mine
    register(spark)
    yield mine
    mine.close()
    spark.sparkContext._tidemark_coordinator = before
    register(spark)


def batch_of(scripts: Scripts, number: int) -> None:
    scripts.append("s-0", *((number * 20 + n, "a", "") for n in range(10)))
    scripts.append("s-1", *((number * 20 + n + 0.5, "b", "") for n in range(10)))


def windows(df: Any) -> Any:
    return df.groupBy(F.window("ts", "10 seconds")).count().selectExpr("unix_timestamp(window.start)", "count")


def assert_exact(query: Running) -> None:
    """Every window but the last is there, with all of its 20 rows."""
    expected = [(number * 20, 20) for number in range(BATCHES)]
    query.wait_for(lambda running_: len(running_.rows()) >= BATCHES - 1)
    found = sorted(query.rows())
    assert found == expected[: len(found)]


def garbage(address: tuple[str, int], key: bytes) -> None:
    with raw_connection(address) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)


def wrong_key(address: tuple[str, int], key: bytes) -> None:
    with pytest.raises((CoordinatorError, OSError)):
        open_channel(address, b"x" * 32, timeout_s=2.0)


def a_frame_of_a_gigabyte(address: tuple[str, int], key: bytes) -> None:
    with raw_connection(address) as peer:
        prove(peer, key)
        peer.sendall(struct.pack(">I", 1 << 30) + b"\0" * 100_000)


def slow_peer(address: tuple[str, int], key: bytes) -> None:
    with raw_connection(address) as peer:
        peer.sendall(b"\0")
        peer.settimeout(3.0)
        while peer.recv(64):
            pass


@contextmanager
def flooded(address: tuple[str, int], key: bytes, attack: Callable[[tuple[str, int], bytes], None]) -> Iterator[None]:
    """Attack from several threads while in the block."""
    over = threading.Event()

    def go_on() -> None:
        while not over.is_set():
            with suppress(OSError, AssertionError, struct.error):
                attack(address, key)

    threads = [threading.Thread(target=go_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(10)
        assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("attack", [garbage, *full(wrong_key, a_frame_of_a_gigabyte, slow_peer)])
def test_peers_that_misbehave_change_no_result(spark, tmp_path, coordinator, attack):
    scripts = Scripts(tmp_path)
    batch_of(scripts, 0)
    address = (coordinator.endpoint.host, coordinator.endpoint.port)
    with flooded(address, coordinator.endpoint.key, attack), running(windows(scripts.stream(spark, ALIGNED))) as query:
        for number in range(1, BATCHES):
            query.drain()
            batch_of(scripts, number)
        assert_exact(query)
        wait_until(lambda: coordinator.bad_peers > 0)


def test_without_its_coordinator_a_query_is_exact(spark, tmp_path, coordinator):
    """Reports are lost, so ranges are read again; watermarks come one batch later; nothing is lost."""
    scripts = Scripts(tmp_path)
    batch_of(scripts, 0)
    with running(windows(scripts.stream(spark, ALIGNED))) as query:
        query.drain()
        coordinator.close()
        for number in range(1, BATCHES):
            batch_of(scripts, number)
            query.drain()
        assert_exact(query)


def test_a_coordinator_that_comes_back_is_found_again(spark, tmp_path, coordinator):
    scripts = Scripts(tmp_path)
    batch_of(scripts, 0)
    endpoint = coordinator.endpoint
    with running(windows(scripts.stream(spark, ALIGNED))) as query:
        query.drain()
        coordinator.close()
        batch_of(scripts, 1)
        query.drain()
        again = restarted(endpoint)
        try:
            for number in range(2, BATCHES):
                batch_of(scripts, number)
                query.drain()
            assert_exact(query)
            wait_until(lambda: len(again.registry._runs) > 0)
        finally:
            again.close()


def restarted(endpoint: Any) -> Coordinator:
    """The system may keep the port for a moment."""
    for _ in range(100):
        try:
            return Coordinator(host=endpoint.host, port=endpoint.port, key=endpoint.key)
        except CoordinatorError:
            threading.Event().wait(0.1)
    raise AssertionError("the port is never free")


def test_two_queries_that_are_alike_in_everything_do_not_disturb_each_other(spark, tmp_path):
    """The same group, the same directory: Flink's aligner would take them for one source."""
    scripts = Scripts(tmp_path)
    batch_of(scripts, 0)
    with (
        running(windows(scripts.stream(spark, ALIGNED))) as one,
        running(windows(scripts.stream(spark, ALIGNED))) as other,
    ):
        for number in range(1, BATCHES):
            batch_of(scripts, number)
            one.drain()
            other.drain()
        assert_exact(one)
        assert_exact(other)


def test_the_address_is_not_known_to_others():
    """A coordinator for this machine only listens on the loopback interface."""
    server = Coordinator()
    try:
        assert socket.inet_aton(server.endpoint.host)[0] == 127
    finally:
        server.close()
