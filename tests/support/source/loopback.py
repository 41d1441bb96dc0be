"""Peers of the coordinator that misbehave, on loopback sockets."""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from datasources.errors import CoordinatorError
from datasources.source.coordination.wire import Channel, accept_channel, open_channel

NONCE_BYTES = 32
MAC_BYTES = 32
DEADLINE_S = 5.0
"""How long a test waits for what must happen."""


def raw_connection(address: tuple[str, int]) -> socket.socket:
    """Connect without a handshake."""
    return socket.create_connection(address, timeout=DEADLINE_S)


def read_exactly(connection: socket.socket, count: int) -> bytes:
    """Read `count` bytes, or fewer if the peer hangs up."""
    data = b""
    while len(data) < count and (part := connection.recv(count - len(data))):
        data += part
    return data


def is_hung_up(connection: socket.socket) -> bool:
    """Whether the peer ends the connection, rather than leaving it open and silent."""
    try:
        while connection.recv(4_096):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def proof(key: bytes, role: bytes, server_nonce: bytes, client_nonce: bytes) -> bytes:
    """The handshake's proof, written here a second time from its description."""
    return hmac.new(key, role + server_nonce + client_nonce, "sha256").digest()


def prove(connection: socket.socket, key: bytes) -> bytes:
    """Do the client's side of the handshake by hand and return the session key."""
    theirs = read_exactly(connection, NONCE_BYTES)
    ours = secrets.token_bytes(NONCE_BYTES)
    connection.sendall(ours + proof(key, b"client", theirs, ours))
    assert read_exactly(connection, MAC_BYTES) == proof(key, b"server", theirs, ours)
    return proof(key, b"session", theirs, ours)


def frame(session_key: bytes, number: int, payload: bytes, *, role: bytes = b"client") -> bytes:
    """One frame of the wire, written here a second time from its description."""
    mac = hmac.new(session_key, role + number.to_bytes(8, "big") + payload, "sha256").digest()
    return len(payload).to_bytes(4, "big") + mac + payload


@contextmanager
def serving(behave: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """Serve one connection after the other with `behave`; yields the address."""
    server = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            with suppress(OSError, CoordinatorError):
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(DEADLINE_S)
                    behave(connection)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield server.getsockname()
    finally:
        done.set()
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(DEADLINE_S)
        assert not thread.is_alive()


@contextmanager
def channel_pair(key: bytes = b"k" * 32) -> Iterator[tuple[Channel, Channel]]:
    """Two ends of one connection after the handshake: (client, server)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted: list[Channel] = []

        def accept() -> None:
            connection, _ = server.accept()
            accepted.append(accept_channel(connection, key, timeout_s=DEADLINE_S))

        thread = threading.Thread(target=accept)
        thread.start()
        client = open_channel(server.getsockname(), key, timeout_s=DEADLINE_S)
        thread.join()
    try:
        yield client, accepted[0]
    finally:
        client.close()
        accepted[0].close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Return as soon as a condition holds that another thread brings about."""
    never = threading.Event()
    for _ in range(int(DEADLINE_S / 0.005)):
        if condition():
            return
        never.wait(0.005)
    raise AssertionError("it did not happen in time")
