"""The channel's wire: length-prefixed JSON, never pickle, after a mutual proof of one shared key.

Handshake, each side 32 random bytes: the server sends its challenge; the client answers with its own challenge and
HMAC(key, "client" + both); the server answers HMAC(key, "server" + both). Both sides derive a session key, and every
frame carries its length, a running number's HMAC and the text: a frame that was changed, repeated or reordered ends
the connection. The key never travels. Frames are bounded, so that no client can make a peer allocate much memory, and
the handshake as a whole has a deadline, so that no client blocks a peer by sending a byte now and then.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import struct
from typing import Any

from datasources.errors import CoordinatorError
from watermark import SystemClock

MAX_FRAME_BYTES = 1 << 20  # what a server accepts: a task's report is below 1 KB per split
MAX_ANSWER_BYTES = 64 << 20  # what a client accepts from the server that proved the key
_NONCE_BYTES = 32
_MAC_BYTES = 32
_LENGTH = struct.Struct(">I")
_COUNTER = struct.Struct(">Q")
_NS_PER_S = 1_000_000_000


class Channel:
    """An authenticated connection that carries JSON objects both ways.

    Args:
        connection: connected and past the handshake.
        session_key: derived from both challenges.
        is_client: which side this is; each side signs with its own role, so that no frame can be sent back.
    """

    def __init__(self, connection: socket.socket, session_key: bytes, *, is_client: bool) -> None:
        self._connection = connection
        self._key = session_key
        self._own, self._peer = (b"client", b"server") if is_client else (b"server", b"client")
        self._max_bytes = MAX_ANSWER_BYTES if is_client else MAX_FRAME_BYTES
        self._sent = 0
        self._received = 0

    def send(self, message: dict[str, Any]) -> None:
        """Send one object.

        Raises:
            OSError: the connection broke, perhaps because the frame is larger than the peer accepts.
        """
        payload = json.dumps(message, separators=(",", ":")).encode()
        mac = self._mac(self._own, self._sent, payload)
        self._sent += 1
        self._connection.sendall(_LENGTH.pack(len(payload)) + mac + payload)

    def receive(self) -> dict[str, Any] | None:
        """Return the next object, or None if the peer closed between frames.

        Raises:
            CoordinatorError: the frame is too long, not authentic or no JSON object.
            OSError: the connection broke or timed out.
        """
        head = _read(self._connection, _LENGTH.size)
        if not head:
            return None
        if len(head) < _LENGTH.size:
            raise ConnectionResetError("the peer hung up in the middle of a frame")
        (length,) = _LENGTH.unpack(head)
        if length > self._max_bytes:
            raise CoordinatorError(f"a peer announced a frame of {length} bytes")
        mac = _read_all(self._connection, _MAC_BYTES)
        payload = _read_all(self._connection, length)
        if not hmac.compare_digest(mac, self._mac(self._peer, self._received, payload)):
            raise CoordinatorError("a frame was not authentic")
        self._received += 1
        return _object(payload)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _mac(self, direction: bytes, number: int, payload: bytes) -> bytes:
        return hmac.digest(self._key, direction + _COUNTER.pack(number) + payload, "sha256")


def open_channel(address: tuple[str, int], key: bytes, *, timeout_s: float) -> Channel:
    """Connect to a server that holds the same key.

    Args:
        address: host and port.
        key: of the application.
        timeout_s: the most that connecting, the handshake, and later each wait for the peer may take.

    Raises:
        CoordinatorError: the peer does not know the key.
        OSError: it cannot be reached, hung up or was too slow.
    """
    connection = socket.create_connection(address, timeout=timeout_s)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadline = _Deadline(timeout_s)
        theirs = _read_all(connection, _NONCE_BYTES, deadline)
        ours = secrets.token_bytes(_NONCE_BYTES)
        connection.sendall(ours + _proof(key, b"client", theirs, ours))
        _require_proof(_read_all(connection, _MAC_BYTES, deadline), _proof(key, b"server", theirs, ours))
        connection.settimeout(timeout_s)
    except BaseException:
        connection.close()
        raise
    return Channel(connection, _proof(key, b"session", theirs, ours), is_client=True)


def accept_channel(connection: socket.socket, key: bytes, *, timeout_s: float) -> Channel:
    """Prove the key to a client that just connected, and ask it to do the same.

    Units: ``timeout_s`` bounds the whole handshake. The timeout of the connection is changed.

    Raises:
        CoordinatorError: the client does not know the key.
        OSError: it hung up or was too slow.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    deadline = _Deadline(timeout_s)
    connection.settimeout(timeout_s)
    ours = secrets.token_bytes(_NONCE_BYTES)
    connection.sendall(ours)
    theirs = _read_all(connection, _NONCE_BYTES, deadline)
    proof = _read_all(connection, _MAC_BYTES, deadline)
    _require_proof(proof, _proof(key, b"client", ours, theirs))
    connection.sendall(_proof(key, b"server", ours, theirs))
    return Channel(connection, _proof(key, b"session", ours, theirs), is_client=False)


class _Deadline:
    """When several reads together must be over; a socket's own timeout begins anew with every byte."""

    def __init__(self, timeout_s: float) -> None:
        self._clock = SystemClock()
        self._end_ns = self._clock.monotonic_ns() + int(timeout_s * _NS_PER_S)

    def apply(self, connection: socket.socket) -> None:
        left_ns = self._end_ns - self._clock.monotonic_ns()
        if left_ns <= 0:
            raise TimeoutError("the handshake took too long")
        connection.settimeout(left_ns / _NS_PER_S)


def _require_proof(given: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(given, expected):
        raise CoordinatorError("the peer does not know this application's key")


def _proof(key: bytes, role: bytes, server_nonce: bytes, client_nonce: bytes) -> bytes:
    return hmac.digest(key, role + server_nonce + client_nonce, hashlib.sha256)


def _object(payload: bytes) -> dict[str, Any]:
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise CoordinatorError(f"a frame holds no JSON: {error}") from None
    if not isinstance(message, dict):
        raise CoordinatorError("a frame holds no JSON object")
    return message


def _read(connection: socket.socket, count: int, deadline: _Deadline | None = None) -> bytes:
    """Return `count` bytes, or fewer if the peer closed."""
    parts = bytearray()
    while len(parts) < count:
        if deadline is not None:
            deadline.apply(connection)
        part = connection.recv(count - len(parts))
        if not part:
            break
        parts += part
    return bytes(parts)


def _read_all(connection: socket.socket, count: int, deadline: _Deadline | None = None) -> bytes:
    data = _read(connection, count, deadline)
    if len(data) < count:
        raise ConnectionResetError("the peer hung up in the middle of a frame")
    return data
