"""The server of the page on a real socket: ordinary requests, and peers that mean harm."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest

from datasources.errors import EnvironmentProblem, OptionError
from datasources.observe import start_observer
from datasources.observe.routes import SECURITY_HEADERS
from datasources.observe.watch import fetch
from tests.support.source.observed_tables import NOW_MS, ScriptedTables, split, table
from watermark.clock import ManualClock

WAIT_S = 20


@pytest.fixture
def clock():
    return ManualClock(NOW_MS * 1_000)


@pytest.fixture
def tables():
    return ScriptedTables(table(split("orders-0")))


@pytest.fixture(scope="module")
def observer():
    """A page that many tests share: nothing that a request does may change it."""
    running = start_observer(ScriptedTables(table(split("orders-0"))), clock=ManualClock(NOW_MS * 1_000))
    yield running
    running.close()


@pytest.fixture
def own_observer(tables, clock):
    """A page of the test's own, whose clock the test turns."""
    running = start_observer(tables, clock=clock)
    yield running
    running.close()


def connect(observer):
    address = urlsplit(observer.url)
    return socket.create_connection((address.hostname, address.port), timeout=WAIT_S)


def request(observer, method="GET", target="/", **headers):
    """Send one request; return (status, headers, body)."""
    address = urlsplit(observer.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=WAIT_S)
    try:
        connection.request(method, target, headers=headers)
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read()
    finally:
        connection.close()


def raw(observer, sent: bytes) -> bytes:
    """Send bytes; return everything that comes back until the server hangs up."""
    with connect(observer) as peer:
        peer.sendall(sent)
        return read_all(peer)


def read_all(peer) -> bytes:
    received = b""
    try:
        while part := peer.recv(65_536):
            received += part
    except ConnectionResetError:
        pass
    return received


def test_the_page_its_json_and_its_metrics_are_served_on_this_machine_only(observer):
    assert urlsplit(observer.url).hostname == "127.0.0.1"
    status, headers, body = request(observer)
    assert (status, headers["Content-Length"]) == (200, str(len(body)))
    assert b"<!doctype html>" in body
    assert json.loads(request(observer, target="/api/sources")[2])["sources"][0]["name"] == "topic orders"
    assert b"tidemark_split_watermark_timestamp_seconds" in request(observer, target="/metrics")[2]


@pytest.mark.parametrize(
    ("method", "target"), [("GET", "/"), ("GET", "/api/sources"), ("GET", "/nothing"), ("POST", "/"), ("HEAD", "/")]
)
def test_every_response_has_the_security_headers(observer, method, target):
    _, headers, _ = request(observer, method, target)
    assert headers.items() >= SECURITY_HEADERS.items()
    assert headers["Server"] == "tidemark"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("target", ["/", "/api/sources", "/nothing"])
def test_a_head_request_has_the_headers_of_a_get_and_no_body(observer, target):
    asked, head = request(observer, "GET", target), request(observer, "HEAD", target)
    assert head[0] == asked[0]
    assert head[1]["Content-Length"] == asked[1]["Content-Length"]
    assert head[2] == b""


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "__init__", "X" * 1_000]
)
def test_a_page_can_only_be_read(observer, method):
    answer = raw(observer, f"{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.0 405 ")
    assert b"Allow: GET, HEAD\r\n" in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /" + b"a" * 3_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"414"),
        (b"GET /" + b"a" * 70_000, b"414"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000, b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 200 + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"403"),
        (b"GET / HTTP/1.1\r\nHost: local\xffhost\r\n\r\n", b"403"),
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET / HTTP/banana\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET / one two HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS\r\n\r\n", b"400"),
        (b"GET /api/history?source=\xc3\xbc HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
    ],
)
def test_a_request_that_is_wrong_gets_a_4xx(observer, sent, status):
    answer = raw(observer, sent)
    assert status in answer.partition(b"\r\n")[0], answer[:200]
    assert request(observer)[0] == 200


@pytest.mark.parametrize("sent", [b"", b"\r\n\r\n", b"GET", b"\x00" * 100])
def test_a_malformed_request_changes_nothing(observer, sent):
    with connect(observer) as peer:
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        read_all(peer)
    assert request(observer)[0] == 200


def test_a_peer_that_leaves_before_the_answer_changes_nothing(observer, caplog):
    for _ in range(20):
        peer = connect(observer)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # closes with a reset
        peer.sendall(b"GET /api/sources HTTP/1.1\r\nHost: localhost\r\n\r\n")
        peer.close()
    assert request(observer)[0] == 200
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_slow_peer_is_hung_up_on_at_its_deadline_however_often_it_sends(own_observer, clock):
    with connect(own_observer) as slow:
        slow.sendall(b"GET / HT")
        assert request(own_observer)[0] == 200
        clock.advance_us(14_000_000)
        slow.sendall(b"TP")
        clock.advance_us(2_000_000)
        assert read_all(slow) == b""


def test_a_peer_that_does_not_read_is_hung_up_on_at_its_deadline(tables, clock):
    tables.tables = [table(*(split(f"{at}-{'x' * 1_000}") for at in range(20_000)))]
    before = set(threading.enumerate())
    observer = start_observer(tables, clock=clock)
    try:
        with connect(observer) as deaf:
            deaf.sendall(b"GET /api/sources HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert deaf.recv(4) == b"HTTP"  # the answer has begun, and does not fit into the buffers
            (serving,) = {each for each in threading.enumerate() if "process_request" in each.name} - before
            clock.advance_us(16_000_000)
            serving.join(WAIT_S)
            assert not serving.is_alive()
            assert len(read_all(deaf)) < 20_000_000
        assert request(observer)[0] == 200
    finally:
        observer.close()


def test_too_many_connections_are_turned_away_and_the_next_ones_served(own_observer, clock):
    peers = [connect(own_observer) for _ in range(32)]
    try:
        with connect(own_observer) as one_more:
            assert read_all(one_more) == b""
        clock.advance_us(16_000_000)
        assert [read_all(peer) for peer in peers] == [b""] * 32
    finally:
        for peer in peers:
            peer.close()
    assert request(own_observer)[0] == 200


def test_the_tables_are_taken_again_and_again(clock):
    taken = threading.Event()
    calls = []

    def tables():
        calls.append(threading.current_thread().name)
        if len(calls) == 3:
            taken.set()
        return []

    observer = start_observer(tables, clock=clock)
    try:
        assert taken.wait(WAIT_S)
    finally:
        observer.close()
    assert calls == [threading.current_thread().name, "tidemark-ui-sampler", "tidemark-ui-sampler"]


def test_closing_ends_its_threads_and_frees_its_port(tables):
    before = threading.enumerate()
    observer = start_observer(tables)
    address = urlsplit(observer.url)
    waiting = connect(observer)
    observer.close()
    observer.close()
    assert read_all(waiting) == b""
    waiting.close()
    left = [thread.name for thread in threading.enumerate() if thread not in before]
    assert not [name for name in left if name.startswith("tidemark-ui")]
    again = start_observer(tables, port=address.port)
    again.close()
    with pytest.raises(ConnectionRefusedError):
        connect(again)


def test_a_port_that_is_taken_is_an_error_that_names_the_setting(observer, tables):
    port = urlsplit(observer.url).port
    with pytest.raises(EnvironmentProblem, match="spark.tidemark.ui.port to a free port") as raised:
        start_observer(tables, port=port)
    assert f"127.0.0.1:{port}" in raised.value.message
    assert "\n" not in raised.value.message


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_a_host_of_another_machine_is_an_error_that_names_the_setting(tables, host):
    with pytest.raises(EnvironmentProblem, match="spark.tidemark.ui.host to an address of the driver's machine"):
        start_observer(tables, host=host)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_number_that_is_no_port_is_an_error_that_names_the_setting(tables, port):
    with pytest.raises(OptionError, match="option 'spark.tidemark.ui.port' = '-?[0-9]+' is not a port"):
        start_observer(tables, port=port)


def test_tables_that_fail_at_the_start_leave_no_port_behind(clock):
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]

    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        start_observer(fail, port=port, clock=clock)
    start_observer(list, port=port).close()


def test_a_page_for_others_is_opened_by_the_address_that_the_driver_names(tables, caplog):
    caplog.set_level("DEBUG")
    observer = start_observer(tables, host="0.0.0.0")  # noqa: S104 - this is what is tested
    address = urlsplit(observer.url)
    try:
        assert address.hostname == socket.gethostname().lower()
        assert request(observer)[0] == http.client.UNAUTHORIZED
        status, headers, _ = request(observer, target=f"/?{address.query}")
        assert (status, headers["Location"]) == (http.client.SEE_OTHER, "/")
        assert request(observer, Cookie=headers["Set-Cookie"].partition(";")[0])[0] == http.client.OK
        token = address.query.removeprefix("token=")
        assert request(observer, target="/metrics", Authorization=f"Bearer {token}")[0] == http.client.OK
        assert fetch(observer.url)["sources"]
        assert token not in caplog.text
    finally:
        observer.close()


def test_the_package_brings_neither_spark_nor_a_driver_along():
    program = (
        "import sys, datasources.observe, datasources.observe.watch, datasources.observe.prometheus\n"
        "print(sorted({'pyspark', 'confluent_kafka', 'duckdb', 'sqlglot', 'pyarrow', 'pydantic'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == "[]\n"
