"""The coordinator: one server per application to which tasks report and which planners ask.

Theory of operation. `register(spark)` starts it in the driver's process; a source used without `register` starts a
private one in its own process. It keeps, per *source run* (a random id that every new planner process takes):
reports of the newest batches, and the query behind the source, as its tasks saw it. From Spark's listener it learns
which runs of a query are properly attached and how many rows of state a query keeps. It decides nothing: planners do.

Bad peers are dropped and counted: an unknown key, a frame too long, a handshake too slow, more connections than
allowed. Nothing that a peer sends can make it hold more than `_KEPT_BATCHES` batches per run and `_MAX_RUNS` runs.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import socket
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from datasources.errors import CoordinatorError, TidemarkError
from datasources.source.channel import Channel, accept_channel
from datasources.source.reports import SplitReport
from datasources.source.request_fields import list_field, number_field, text_field

__all__ = ["Coordinator", "Endpoint", "PeerLimits", "QueryFacts"]

_logger = logging.getLogger(__name__)

_KEPT_BATCHES = 3
_MAX_RUNS = 1_000
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
        handshake_timeout_s: the most that the whole handshake may take.
        idle_timeout_s: how long a connection may be silent. Its peer connects again when it has something to say.
    """

    connections: int = 4_096
    handshake_timeout_s: float = 10.0
    idle_timeout_s: float = 300.0


@dataclass(slots=True, kw_only=True)
class QueryFacts:
    """What the listener knows of one query. `state_rows` None = no progress yet."""

    state_rows: int | None = None
    batch_id: int = -1


@dataclass(slots=True)
class _SourceRun:
    reports: OrderedDict[int, dict[str, SplitReport]] = field(default_factory=OrderedDict)
    conflict: str | None = None
    query_id: str | None = None
    batch_id: int = -1


class Coordinator:
    """Serves one application until `close`.

    Args:
        host: interface to bind; the driver's Spark host, so that executors can reach it.
        port: 0 = any free one.
        limits: what peers may take.

    Raises:
        CoordinatorError: the host is not one of this machine, or the port is taken.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, limits: PeerLimits | None = None) -> None:
        self._limits = limits or PeerLimits()
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _SourceRun] = OrderedDict()
        self._queries: dict[str, QueryFacts] = {}
        self._refused: dict[str, str] = {}
        self._checked: set[str] = set()
        self._connections: set[socket.socket] = set()
        self._closed = threading.Event()
        self.bad_peers = 0
        self._server = _listen(host, port)
        bound = self._server.getsockname()
        self.endpoint = Endpoint(host=host, port=bound[1], key=secrets.token_bytes(_KEY_BYTES))
        threading.Thread(target=self._accept, name="tidemark-coordinator", daemon=True).start()

    def close(self) -> None:
        """Stop listening and hang up; tasks and planners go on without reports."""
        self._closed.set()
        _shut_down(self._server)  # else a thread in accept() would serve one more peer
        self._server.close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            _shut_down(connection)

    # -- what the listener tells (called in the driver's process) --

    def allow(self, run_id: str) -> None:
        """Note that the query run `run_id` follows its sources' watermarks, or needs none."""
        with self._lock:
            self._checked.add(run_id)

    def refuse(self, run_id: str, reason: str) -> None:
        """Note that tasks of the query run `run_id` must not emit a row, and why."""
        with self._lock:
            self._refused[run_id] = reason

    def progress(self, query_id: str, *, batch_id: int, state_rows: int) -> None:
        """Note how many rows of state a query kept after a batch (0 also for a stateless query)."""
        with self._lock:
            self._queries[query_id] = QueryFacts(state_rows=state_rows, batch_id=batch_id)

    def terminated(self, query_id: str, run_id: str) -> None:
        """Forget a run."""
        with self._lock:
            self._queries.pop(query_id, None)
            self._refused.pop(run_id, None)
            self._checked.discard(run_id)

    # -- what peers ask --

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one request; every request has one."""
        handlers = {"report": self._report, "take": self._take, "admit": self._admit}
        handler = handlers.get(str(message.get("ask")))
        if handler is None:
            raise CoordinatorError(f"unknown request {message.get('ask')!r}")
        with self._lock:
            return handler(message)

    def _report(self, message: dict[str, Any]) -> dict[str, Any]:
        source, batch_id = text_field(message, "source"), number_field(message, "batch")
        query_id = None if message.get("query") is None else text_field(message, "query")
        reports = [SplitReport.from_json(raw) for raw in list_field(message, "reports")]
        run = self._source_run(source)  # only a request that is right as a whole has an effect
        run.query_id = query_id or run.query_id
        run.batch_id = max(run.batch_id, batch_id)
        for report in reports:
            if run.reports and report.sequence < next(reversed(run.reports)):
                continue  # of an older batch: nobody asks for it any more
            self._keep(run, report)
        return {"ok": True, "conflict": run.conflict}

    def _keep(self, run: _SourceRun, report: SplitReport) -> None:
        batch = run.reports.setdefault(report.sequence, {})
        first = batch.setdefault(report.split, report)
        try:
            first.require_equal(report)
        except TidemarkError as error:
            run.conflict = error.message
        while len(run.reports) > _KEPT_BATCHES:
            run.reports.popitem(last=False)

    def _take(self, message: dict[str, Any]) -> dict[str, Any]:
        sequence = number_field(message, "sequence")
        run = self._source_run(text_field(message, "source"))
        reports = run.reports.get(sequence, {})
        return {
            "reports": [report.to_json() for report in reports.values()],
            "conflict": run.conflict,
            "has_state": self._has_state(run),
            "batch": run.batch_id,
        }

    def _has_state(self, run: _SourceRun) -> bool | None:
        facts = self._queries.get(run.query_id or "")
        if facts is None or facts.state_rows is None or facts.batch_id < run.batch_id:
            return None
        return facts.state_rows > 0

    def _admit(self, message: dict[str, Any]) -> dict[str, Any]:
        run_id = text_field(message, "run")
        return {"refused": self._refused.get(run_id), "checked": run_id in self._checked}

    def _source_run(self, source: str) -> _SourceRun:
        run = self._runs.setdefault(source, _SourceRun())
        self._runs.move_to_end(source)
        while len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)
        return run

    # -- connections --

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._server.accept()
            except OSError as error:
                # Closed; or the peer was gone, or the process has no file left, neither of which is for ever.
                if not self._closed.wait(_ACCEPT_RETRY_S):
                    _logger.debug("coordinator_accept_failed error=%r", str(error))
                continue
            with self._lock:
                full = len(self._connections) >= self._limits.connections or self._closed.is_set()
                if not full:
                    self._connections.add(connection)
            if full:
                self._drop(connection, "too many connections")
            else:
                self._start_thread(connection)

    def _start_thread(self, connection: socket.socket) -> None:
        try:
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        except RuntimeError as error:  # the process has no thread left
            self._forget(connection)
            self._drop(connection, str(error))

    def _serve(self, connection: socket.socket) -> None:
        try:
            channel = accept_channel(connection, self.endpoint.key, timeout_s=self._limits.handshake_timeout_s)
            connection.settimeout(self._limits.idle_timeout_s)
        except (OSError, CoordinatorError) as error:
            self._drop(connection, f"{type(error).__name__}: {error}")
        else:
            self._serve_peer(connection, channel)
        finally:
            self._forget(connection)

    def _serve_peer(self, connection: socket.socket, channel: Channel) -> None:
        try:
            self._converse(channel)
        except TimeoutError:
            channel.close()  # an idle worker; it connects again when it has something to say
        except (OSError, CoordinatorError) as error:
            self._drop(connection, f"{type(error).__name__}: {error}")

    def _forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def _converse(self, channel: Channel) -> None:
        while (message := channel.receive()) is not None:
            channel.send(self.answer(message))
        channel.close()

    def _drop(self, connection: socket.socket, reason: str) -> None:
        connection.close()
        with self._lock:
            self.bad_peers += 1
            first = self.bad_peers == 1
        log = _logger.warning if first else _logger.debug
        log("coordinator_peer_dropped reason=%r count=%d", reason, self.bad_peers)


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=256)
    except (OSError, OverflowError) as error:
        raise CoordinatorError(
            f"the coordinator cannot listen on {host}:{port} ({error}). Set spark.tidemark.coordinator.host to an "
            f"address of the driver's machine that executors can reach, and spark.tidemark.coordinator.port to a free "
            f"port, or to 0 for any."
        ) from None


def _shut_down(connection: socket.socket) -> None:
    """Wake the thread that waits for the socket; it then closes it."""
    with contextlib.suppress(OSError):  # the peer was faster; or the system knows no shutdown of listening sockets
        connection.shutdown(socket.SHUT_RDWR)
