"""The server of the page: two daemon threads in the driver's process and one per open request.

It is for a few people and a scraper. Requests are short, so each connection serves one, has a deadline for all of it,
and the number of connections is limited: slow or many clients cannot block the driver's threads.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import re
import socket
import socketserver
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from datasources.errors import EnvironmentProblem, OptionError
from datasources.observe.access import RemoteAccess, access_of
from datasources.observe.routes import SERVER_NAME, Request, Response, Routes, problem, security_headers
from datasources.observe.sampler import Sampler
from datasources.observe.tables import Tables
from watermark.clock import Clock, SystemClock

_logger = logging.getLogger(__name__)

_HIGHEST_PORT: Final = 65_535
_MAX_CONNECTIONS: Final = 32
_DEADLINE_S: Final = 15.0
_SILENCE_S: Final = 10.0
_CLOSE_S: Final = 5.0
_NANOS_PER_SECOND: Final = 1_000_000_000
_METHODS: Final = ("GET", "HEAD")
_SERVER_ERROR: Final = 500
_TOKEN: Final = re.compile(r"token=[^\s&]+")


@dataclass(frozen=True, slots=True)
class Observer:
    """A running page. `close` ends it; so does the end of the process."""

    url: str
    _server: _Server
    _closed: threading.Event
    _threads: tuple[threading.Thread, ...]

    def close(self) -> None:
        """Stop serving and sampling; closing again does nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()
        for thread in self._threads:
            thread.join(_CLOSE_S)


def start_observer(
    tables: Tables,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    remote: RemoteAccess = RemoteAccess(),  # noqa: B008 - it cannot be changed
    clock: Clock = SystemClock(),  # noqa: B008 - it has no state
) -> Observer:
    """Serve the page of the tables until it is closed.

    Args:
        tables: returns the current tables; called once a second, from one thread, and once before this returns.
        host: interface to bind. By default only this machine has access.
        port: 0 = any free one.
        remote: access of other machines, of which a loopback host has none; `Observer.url` has the token.
        clock: of the driver.

    Raises:
        OptionError: the port, the token or an origin is not one.
        EnvironmentProblem: the port is taken, or the host is not one of this machine.
    """
    sampler = Sampler(tables, clock=clock)
    server = _bind(host, port, clock)
    try:
        address = server.socket.getsockname()
        access = access_of(host, str(address[0]), int(address[1]), remote)
        server.routes, server.headers = Routes(sampler, access), security_headers(remote.frames)
        sampler.sample()
    except BaseException:
        server.server_close()
        raise
    closed = threading.Event()
    threads = (
        threading.Thread(target=server.serve_forever, name="tidemark-ui", daemon=True),
        threading.Thread(target=sampler.run, args=(closed,), name="tidemark-ui-sampler", daemon=True),
    )
    for thread in threads:
        thread.start()
    url = _url(host, address)
    return Observer(url if access.token is None else f"{url}?token={access.token}", server, closed, threads)


def _bind(host: str, port: int, clock: Clock) -> _Server:
    if not 0 <= port <= _HIGHEST_PORT:
        raise OptionError(
            f"option 'spark.tidemark.ui.port' = '{port}' is not a port. Set it to a number from 0 to 65535."
        )
    try:
        return _Server(host, port, clock)
    except OSError as error:
        raise EnvironmentProblem(
            f"Tidemark's page cannot listen on {host}:{port} ({error}). Set spark.tidemark.ui.port to a free port, or "
            f"to 0 for any, and spark.tidemark.ui.host to an address of the driver's machine."
        ) from None


def _url(host: str, address: tuple[Any, ...]) -> str:
    bound = ipaddress.ip_address(address[0])
    name = socket.gethostname() if bound.is_unspecified else host
    return f"http://{f'[{name}]' if ':' in name else name}:{address[1]}/"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    routes: Routes
    headers: Mapping[str, str] = security_headers()

    def __init__(self, host: str, port: int, clock: Clock) -> None:
        self._clock = clock
        self._since_ns: dict[socket.socket, int] = {}
        self._lock = threading.Lock()
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = family
        super().__init__((str(address[0]), int(address[1])), _Handler)

    def server_bind(self) -> None:
        """Bind without the base class's name lookup of this host."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, if there is room for one more."""
        with self._lock:
            is_full = len(self._since_ns) >= _MAX_CONNECTIONS
            if not is_full:
                self._since_ns[request] = self._clock.monotonic_ns()
        if is_full:
            _logger.debug("observer_connection_refused reason='too many connections'")
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the process has no thread left; the base class closes the connection
            self._ended(request)
            raise

    def shutdown_request(self, request: Any) -> None:
        """Close a connection that was served."""
        self._ended(request)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Close connections that are past their deadline; called twice a second."""
        self.hang_up(older_than_s=_DEADLINE_S)

    def hang_up(self, *, older_than_s: float = -1.0) -> None:
        """Close the connections that are open for longer, by default all."""
        until_ns = self._clock.monotonic_ns() - older_than_s * _NANOS_PER_SECOND
        with self._lock:
            old = [connection for connection, since_ns in self._since_ns.items() if since_ns < until_ns]
            for connection in old:
                del self._since_ns[connection]
        for connection in old:
            with contextlib.suppress(OSError):  # the peer was faster
                connection.shutdown(socket.SHUT_RDWR)  # wakes its thread, which then closes it

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - called by the base class
        """Log what ended a connection; the server continues."""
        error = sys.exc_info()[1]
        level = logging.DEBUG if isinstance(error, OSError) else logging.ERROR
        _logger.log(level, "observer_request_failed error=%r", error)

    def _ended(self, request: socket.socket) -> None:
        with self._lock:
            self._since_ns.pop(request, None)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SILENCE_S
    default_request_version = "HTTP/1.0"  # else a request that cannot be read would be answered without a status

    def parse_request(self) -> bool:
        """Refuse every method but GET and HEAD, whatever its name."""
        if not super().parse_request():
            return False
        if self.command in _METHODS:
            return True
        self._send(problem(HTTPStatus.METHOD_NOT_ALLOWED, "This page can only be read.", Allow=", ".join(_METHODS)))
        return False

    def do_GET(self) -> None:
        """Answer; the body is left out for HEAD."""
        headers = self.headers
        request = Request(
            target=self.path,
            hosts=tuple(headers.get_all("Host", [])),
            authorization=headers.get("Authorization"),
            cookies=tuple(headers.get_all("Cookie", [])),
        )
        self._send(self.server.routes.answer(request))

    do_HEAD = do_GET  # noqa: N815 - the base class looks for this name

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that the base class could not parse: a client error, also if the base class uses 5xx."""
        status = HTTPStatus(code if code < _SERVER_ERROR else HTTPStatus.BAD_REQUEST)
        self._send(problem(status, f"This is not a request that can be read: {status.phrase}."))

    def version_string(self) -> str:
        """Return the Server header, without any version."""
        return SERVER_NAME

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Keep the driver's standard error free of requests."""
        _logger.debug("observer_request client=%s line=%r", self.address_string(), _without_token(format % args))

    def _send(self, response: Response) -> None:
        self.close_connection = True
        self.send_response(response.status)
        headers = {
            "Content-Type": response.content_type,
            "Content-Length": str(len(response.body)),
            "Connection": "close",
            **self.server.headers,
            **response.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)


def _without_token(line: str) -> str:
    return _TOKEN.sub("token=...", line)
