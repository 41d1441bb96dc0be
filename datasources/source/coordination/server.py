"""The coordinator: one server per application for the reports of tasks and the requests of planners.

Theory of operation. `register(spark)` starts it in the driver's process; a source used without `register` starts a
private one in its own process. Its memory is its `registry`; this file is the server around it.

Bad peers are dropped and counted: an unknown key, a frame too long, a handshake too slow, more connections than
allowed.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import socket
import threading
from collections import Counter
from dataclasses import dataclass, field

from datasources.errors import CoordinatorError
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.coordination.wire import Channel, accept_channel

_logger = logging.getLogger(__name__)

_KEY_BYTES = 32
_ACCEPT_RETRY_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a coordinator listens and the key that opens it. The key is never shown."""

    host: str
    port: int
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLimits:
    """How much of the driver's process its peers may take.

    Attributes:
        connections: open at once; one more is turned away.
        handshakes: pending handshakes per address, so that one address cannot occupy all connections.
        handshake_timeout_s: the most that the whole handshake may take.
        idle_timeout_s: how long a connection may be silent. Its peer reconnects for its next request.
    """

    connections: int = 4_096
    handshakes: int = 256
    handshake_timeout_s: float = 10.0
    idle_timeout_s: float = 300.0


class Coordinator:
    """Serves one application until `close`.

    Args:
        host: name or address by which executors reach it, IPv6 too; the driver's Spark host.
        bind: interface to bind, where that is not `host`: behind NAT, in a container.
        port: 0 = any free one.
        limits: what peers may take.
        key: None = a new random one; the key of a coordinator that ended, where its clients shall find this one.

    Raises:
        CoordinatorError: the host is not one of this machine, or the port is taken.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        bind: str | None = None,
        port: int = 0,
        limits: PeerLimits | None = None,
        key: bytes | None = None,
    ) -> None:
        self._limits = limits or PeerLimits()
        self._lock = threading.Lock()
        self.registry = SourceRegistry()
        self._connections: set[socket.socket] = set()
        self._closed = threading.Event()
        self.bad_peers = 0
        self._handshakes: Counter[str] = Counter()
        self._server = _listen(_bare(bind or host), port)
        bound = self._server.getsockname()
        self.endpoint = Endpoint(host=_bare(host), port=bound[1], key=key or secrets.token_bytes(_KEY_BYTES))
        threading.Thread(target=self._accept, name="tidemark-coordinator", daemon=True).start()

    @property
    def connections(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._connections)

    def close(self) -> None:
        """Stop listening and close all connections; tasks and planners continue without reports."""
        self._closed.set()
        _shut_down(self._server)  # else a thread in accept() would serve one more peer
        self._server.close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            _shut_down(connection)

    # -- connections --

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, (address, *_) = self._server.accept()
            except OSError as error:
                # Closed; or the peer was gone, or the process has no file left, both of which pass.
                if not self._closed.wait(_ACCEPT_RETRY_S):
                    _logger.debug("coordinator_accept_failed error=%r", str(error))
                continue
            with self._lock:
                full = len(self._connections) >= self._limits.connections or self._closed.is_set()
                full = full or self._handshakes[address] >= self._limits.handshakes
                if not full:
                    self._connections.add(connection)
                    self._handshakes[address] += 1
            if full:
                self._drop(connection, "too many connections")
            else:
                self._start_thread(connection, address)

    def _start_thread(self, connection: socket.socket, address: str) -> None:
        try:
            threading.Thread(target=self._serve, args=(connection, address), daemon=True).start()
        except RuntimeError as error:  # the process has no thread left
            self._end_handshake(address)
            self._forget(connection)
            self._drop(connection, str(error))

    def _serve(self, connection: socket.socket, address: str) -> None:
        try:
            channel = self._shake_hands(connection, address)
            connection.settimeout(self._limits.idle_timeout_s)
        except (OSError, CoordinatorError) as error:
            self._drop(connection, f"{type(error).__name__}: {error}")
        else:
            self._serve_peer(connection, channel)
        finally:
            self._forget(connection)

    def _shake_hands(self, connection: socket.socket, address: str) -> Channel:
        try:
            return accept_channel(connection, self.endpoint.key, timeout_s=self._limits.handshake_timeout_s)
        finally:
            self._end_handshake(address)

    def _end_handshake(self, address: str) -> None:
        with self._lock:
            self._handshakes[address] -= 1
            if self._handshakes[address] <= 0:
                del self._handshakes[address]

    def _serve_peer(self, connection: socket.socket, channel: Channel) -> None:
        try:
            self._converse(channel)
        except TimeoutError:
            channel.close()  # an idle worker; it reconnects for its next request
        except (OSError, CoordinatorError) as error:
            self._drop(connection, f"{type(error).__name__}: {error}")

    def _forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def _converse(self, channel: Channel) -> None:
        while (message := channel.receive()) is not None:
            channel.send(self.registry.answer(message))
        channel.close()

    def _drop(self, connection: socket.socket, reason: str) -> None:
        connection.close()
        with self._lock:
            self.bad_peers += 1
            first = self.bad_peers == 1
        log = _logger.warning if first else _logger.debug
        log("coordinator_peer_dropped reason=%r count=%d", reason, self.bad_peers)


def _bare(host: str) -> str:
    """Return an address without the brackets in which Spark writes those of IPv6."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address, family=family, backlog=256)
    except (OSError, OverflowError, ValueError) as error:
        raise CoordinatorError(
            f"the coordinator cannot listen on {host}:{port} ({error}). Set spark.tidemark.coordinator.bind to an "
            f"address of the driver's machine, spark.tidemark.coordinator.host to the one by which executors reach it, "
            f"and spark.tidemark.coordinator.port to a free port, or to 0 for any."
        ) from None


def _shut_down(connection: socket.socket) -> None:
    """Wake the thread that waits for the socket; it then closes it."""
    with contextlib.suppress(OSError):  # the peer was faster; or the system knows no shutdown of listening sockets
        connection.shutdown(socket.SHUT_RDWR)
