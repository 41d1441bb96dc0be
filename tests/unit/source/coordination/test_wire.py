"""The wire, with peers that do not keep to it. Real sockets on loopback."""

from __future__ import annotations

import json
import select
import socket
import threading
from contextlib import suppress

import pytest

from datasources.errors import CoordinatorError
from datasources.source.coordination.wire import MAX_FRAME_BYTES, accept_channel, open_channel
from tests.support.source.loopback import (
    DEADLINE_S,
    channel_pair,
    frame,
    is_hung_up,
    proof,
    prove,
    raw_connection,
    read_exactly,
    serving,
)

KEY = b"k" * 32
OTHER_KEY = b"o" * 32


def echo(connection, key=KEY):
    channel = accept_channel(connection, key, timeout_s=DEADLINE_S)
    while (message := channel.receive()) is not None:
        channel.send(message)


def refusal(behave):
    """Serve `behave` (called with the connection) and return the error that ended it."""
    found: list[Exception] = []
    over = threading.Event()

    def run(connection):
        try:
            behave(connection)
        except (OSError, CoordinatorError) as error:
            found.append(error)
        finally:
            over.set()

    def wait():
        assert over.wait(DEADLINE_S)
        return found[0] if found else None

    return run, wait


def test_objects_travel_both_ways_in_order():
    with serving(echo) as address:
        channel = open_channel(address, KEY, timeout_s=DEADLINE_S)
        for message in ({}, {"a": 1}, {"text": 'é\n"', "list": [None, True, -(2**63)]}, {"long": "x" * 500_000}):
            channel.send(message)
            assert channel.receive() == message
        channel.close()


def test_the_key_never_travels():
    seen = bytearray()

    def listen(connection):
        connection.sendall(b"s" * 32)
        seen.extend(read_exactly(connection, 64))

    with serving(listen) as address, pytest.raises(ConnectionResetError):
        open_channel(address, KEY, timeout_s=DEADLINE_S)
    assert len(seen) == 64
    assert KEY not in seen


def test_two_handshakes_with_one_key_have_nothing_in_common():
    with channel_pair(KEY) as (one, _), channel_pair(KEY) as (other, _):
        assert one._key != other._key


def test_a_client_without_the_key_is_refused():
    run, wait = refusal(echo)
    with serving(run) as address, raw_connection(address) as client:
        theirs = read_exactly(client, 32)
        client.sendall(b"n" * 32 + proof(OTHER_KEY, b"client", theirs, b"n" * 32))
        assert read_exactly(client, 1) == b""
        assert "does not know this application's key" in str(wait())


def test_a_server_without_the_key_is_refused():
    def lie(connection):
        connection.sendall(b"s" * 32)
        theirs = read_exactly(connection, 64)[:32]
        connection.sendall(proof(OTHER_KEY, b"server", b"s" * 32, theirs))

    with serving(lie) as address, pytest.raises(CoordinatorError, match="does not know this application's key"):
        open_channel(address, KEY, timeout_s=DEADLINE_S)


def test_a_server_that_sends_the_clients_proof_back_is_refused():
    def reflect(connection):
        connection.sendall(b"s" * 32)
        connection.sendall(read_exactly(connection, 64)[32:])

    with serving(reflect) as address, pytest.raises(CoordinatorError, match="key"):
        open_channel(address, KEY, timeout_s=DEADLINE_S)


def test_a_recorded_handshake_does_not_open_a_second_connection():
    run, wait = refusal(echo)
    with serving(run) as address:
        with raw_connection(address) as client:
            theirs = read_exactly(client, 32)
            recorded = b"n" * 32 + proof(KEY, b"client", theirs, b"n" * 32)
            client.sendall(recorded)
            assert len(read_exactly(client, 32)) == 32
        assert wait() is None
    run, wait = refusal(echo)
    with serving(run) as address, raw_connection(address) as client:
        read_exactly(client, 32)
        client.sendall(recorded)
        assert read_exactly(client, 1) == b""
        assert isinstance(wait(), CoordinatorError)


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\nHost: driver\r\n\r\n" + b"x" * 64, b"\x00" * 64, b"\xff" * 9_999]
)
def test_garbage_instead_of_a_handshake_is_refused(garbage):
    run, wait = refusal(echo)
    with serving(run) as address, raw_connection(address) as client:
        with suppress(OSError):
            client.sendall(garbage)
        assert isinstance(wait(), CoordinatorError)


def test_a_peer_that_hangs_up_in_the_handshake_is_an_error():
    run, wait = refusal(echo)
    with serving(run) as address:
        raw_connection(address).close()
        assert isinstance(wait(), ConnectionError)


def test_a_silent_client_runs_into_the_handshake_timeout():
    run, wait = refusal(lambda connection: accept_channel(connection, KEY, timeout_s=0.05))
    with serving(run) as address, raw_connection(address):
        assert isinstance(wait(), TimeoutError)


def drip(connection, until):
    """Send a byte now and then, more often than any timeout, until told to stop or hung up on."""
    try:
        while not until():
            connection.sendall(b"x")
            select.select([], [], [], 0.01)
    except OSError:
        return


def test_a_client_that_drips_bytes_runs_into_the_handshake_timeout_too():
    run, wait = refusal(lambda connection: accept_channel(connection, KEY, timeout_s=0.1))
    with serving(run) as address, raw_connection(address) as client:
        left = iter(range(63))  # one byte fewer than the handshake needs
        drip(client, lambda: next(left, None) is None)
        assert isinstance(wait(), TimeoutError)
        assert next(left, None) is not None  # long before the last byte was sent


def test_a_server_that_drips_bytes_does_not_hold_a_task_up():
    over = threading.Event()
    with serving(lambda connection: drip(connection, over.is_set)) as address:
        with pytest.raises((TimeoutError, CoordinatorError)):
            open_channel(address, KEY, timeout_s=0.1)
        over.set()


def test_after_the_handshake_the_client_waits_its_own_time_for_each_answer():
    with serving(echo) as address:
        channel = open_channel(address, KEY, timeout_s=DEADLINE_S)
        assert channel._connection.gettimeout() == DEADLINE_S
        channel.close()


def test_a_server_that_accepts_but_never_answers_runs_into_the_timeout():
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(TimeoutError):
        open_channel(server.getsockname(), KEY, timeout_s=0.05)


def receive_raw(data):
    """Let the server of a fresh pair receive these bytes of its client; a function gets the session key."""
    run, wait = refusal(lambda connection: accept_channel(connection, KEY, timeout_s=DEADLINE_S).receive())
    with serving(run) as address, raw_connection(address) as client:
        session = prove(client, KEY)
        with suppress(OSError):  # the server may hang up before it has read everything
            client.sendall(data(session) if callable(data) else data)
            client.shutdown(socket.SHUT_WR)
        return wait()


def test_a_frame_of_a_gigabyte_is_refused_before_a_byte_of_it_is_read():
    with channel_pair(KEY) as (client, server):
        client._connection.sendall((1 << 30).to_bytes(4, "big"))
        with pytest.raises(CoordinatorError, match="announced a frame of 1073741824 bytes"):
            server.receive()


def test_the_largest_frame_passes_and_one_byte_more_does_not():
    payload = b'{"a":"' + b"x" * (MAX_FRAME_BYTES - 8) + b'"}'
    assert len(payload) == MAX_FRAME_BYTES
    assert receive_raw(lambda session: frame(session, 0, payload)) is None
    assert "announced a frame" in str(receive_raw((MAX_FRAME_BYTES + 1).to_bytes(4, "big")))


def tampered(session):
    good = frame(session, 0, b'{"rows":1}')
    return good.replace(b'"rows":1', b'"rows":9')


@pytest.mark.parametrize(
    "bytes_of",
    [
        tampered,
        lambda session: frame(session, 1, b"{}"),
        lambda session: frame(session, 0, b"{}", role=b"server"),
        lambda session: frame(session, 0, b"{}", role=b""),
        lambda session: frame(session[::-1], 0, b"{}"),
        lambda _session: b"\x00\x00\x00\x02" + b"\x00" * 32 + b"{}",
        lambda session: frame(session, 0, b'{"a":1}{}').replace(b"\x00\x00\x00\x09", b"\x00\x00\x00\x07"),
    ],
    ids=["tampered", "skipped ahead", "of the other role", "of no role", "other session", "unsigned", "cut short"],
)
def test_a_frame_that_its_peer_did_not_send_just_now_is_not_authentic(bytes_of):
    assert "not authentic" in str(receive_raw(bytes_of))


def test_a_frame_that_is_repeated_is_not_authentic():
    with serving(echo) as address, raw_connection(address) as client:
        session = prove(client, KEY)
        once = frame(session, 0, b'{"ask":"report"}')
        client.sendall(once + once)
        answer = frame(session, 0, b'{"ask":"report"}', role=b"server")
        assert read_exactly(client, len(answer)) == answer
        assert is_hung_up(client)


def test_an_answer_that_is_sent_back_is_not_authentic():
    run, wait = refusal(echo)
    with serving(run) as address, raw_connection(address) as client:
        session = prove(client, KEY)
        client.sendall(frame(session, 0, b"{}"))
        answer = read_exactly(client, 38)
        client.sendall(answer)
        assert "not authentic" in str(wait())


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"\xff\xfe", b"[1]", b"null", b"5", b'"a"', b"[" * 200_000], ids=lambda p: repr(p[:6])
)
def test_a_frame_that_is_no_json_object_is_refused(payload):
    assert "holds no JSON" in str(receive_raw(lambda session: frame(session, 0, payload)))


@pytest.mark.parametrize("count", [1, 3, 20, 37])
def test_hanging_up_inside_a_frame_is_an_error_and_between_frames_the_end(count):
    found = receive_raw(lambda session: frame(session, 0, b"{}")[:count])
    assert isinstance(found, ConnectionResetError)
    assert receive_raw(b"") is None


def test_a_hang_up_between_frames_is_the_end():
    with channel_pair(KEY) as (client, server):
        client.close()
        assert server.receive() is None


def test_a_message_is_sent_as_compact_json():
    with channel_pair(KEY) as (client, server):
        server.send({"a": [1, 2]})
        raw = read_exactly(client._connection, 4 + 32 + 11)
        assert raw[36:] == b'{"a":[1,2]}'
        assert json.loads(raw[36:]) == {"a": [1, 2]}
