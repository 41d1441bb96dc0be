"""The client of the coordinator, for tasks and planners.

A report that cannot be delivered is no error: the next batch reads the range again. So the client retries once on
a fresh connection, then gives up and logs it once. State that must not be lost is kept in offsets, not sent through
here.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from datasources.errors import CoordinatorError, NonDeterminismError, OptionError
from datasources.source.api.split import SplitId
from datasources.source.coordination.registry import LEASE_S
from datasources.source.coordination.reports import SplitReport
from datasources.source.coordination.server import Endpoint
from datasources.source.coordination.wire import Channel, open_channel
from datasources.source.load_gate.gate_protocol import LoadGateAnswer, LoadGateRequest
from datasources.source.watermarks.source_status import Peer, SourceStatus
from watermark import Clock, SystemClock

_logger = logging.getLogger(__name__)
_TIMEOUT_S = 10.0
_NS_PER_S = 1_000_000_000
_TIME_TYPES = {"instant": "TIMESTAMP", "local": "TIMESTAMP_NTZ"}


class CoordinatorClient:
    """One connection to a coordinator, opened when first needed and again after a fork or an error.

    Args:
        endpoint: where it listens; or what finds that, before each connection.
        timeout_s: the most that an answer may take, in seconds.
    """

    def __init__(self, endpoint: Endpoint | Callable[[], Endpoint], *, timeout_s: float = _TIMEOUT_S) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._channel: Channel | None = None
        self._pid = 0
        self._lock = threading.Lock()
        self._warned = False

    def ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the coordinator's answer, or None if it cannot be had now (logged once)."""
        with self._lock:
            for _ in range(2):
                try:
                    return self._ask_once(message)
                except (OSError, CoordinatorError) as error:
                    self._hang_up()
                    fault = error
            if not self._warned:
                self._warned = True
                _logger.warning(
                    "coordinator_unreachable address=%s error=%r results stay exact; watermarks may be carried "
                    "one batch later. Executors must be able to connect to the driver on this port.",
                    self._shown(),
                    str(fault),
                )
        return None

    def _ask_once(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._channel is None or self._pid != os.getpid():
            self._hang_up()  # after a fork: closes this process's copy, the parent's connection stays open
            found = self._endpoint if isinstance(self._endpoint, Endpoint) else self._endpoint()
            self._channel = open_channel((found.host, found.port), found.key, timeout_s=self._timeout_s)
            self._pid = os.getpid()
        self._channel.send(message)
        answer = self._channel.receive()
        if answer is None:
            raise ConnectionResetError("the coordinator closed the connection")
        return answer

    def _shown(self) -> str:
        return f"{self._endpoint.host}:{self._endpoint.port}" if isinstance(self._endpoint, Endpoint) else "unknown"

    def _hang_up(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None


class Requester(Protocol):
    """Answers requests: a coordinator over its channel, or its registry in the same process."""

    def ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer, or None if it cannot be had now."""
        ...


class CoordinatorLink:
    """One source's link to the coordinator: report store, status exchange and load-gate exchange.

    Args:
        client: the connection.
        source: the id of this source run; tasks report under it.
        clock: for how long the last known peers count while the coordinator cannot be reached.
    """

    def __init__(self, client: Requester, source: str, clock: Clock | None = None) -> None:
        self._client = client
        self._source = source
        self._sequence = -1
        self._clock = clock or SystemClock()
        self._peers: tuple[Peer, ...] = ()
        self.is_query_known = True  # until the coordinator denies it
        self._last_answer_ns = self._clock.monotonic_ns()

    def take(self, sequence: int) -> Mapping[SplitId, SplitReport]:
        """Return the reports of a batch; none if the coordinator cannot be reached."""
        self._sequence = sequence
        answer = self._ask()
        if answer is None:
            return {}
        if answer.get("conflict"):
            raise NonDeterminismError(str(answer["conflict"]))
        reports = [SplitReport.from_json(raw) for raw in answer["reports"]]
        return {report.split: report for report in reports}

    def has_state(self) -> bool | None:
        """Return whether the query keeps state, as the listener reported it."""
        answer = self._ask()
        return None if answer is None else answer["has_state"]

    def exchange(self, own: SourceStatus) -> Sequence[Peer]:
        """Publish the own status and return the peers.

        While the coordinator cannot be reached, the last known peers keep their status: the alignment rule holds. After
        a lease they expire for this source, as it does for them.

        Raises:
            OptionError: the group compares TIMESTAMP attributes with TIMESTAMP_NTZ ones.
        """
        answer = self._client.ask({"ask": "exchange", "source": self._source, "says": own.to_json()})
        now_ns = self._clock.monotonic_ns()
        if answer is None:
            is_over = now_ns - self._last_answer_ns > LEASE_S * _NS_PER_S
            self._peers = () if is_over else tuple(_without_guarantee(peer) for peer in self._peers)
            return self._peers
        if answer.get("misfit"):
            raise OptionError(
                f"alignment group '{own.group}' holds a source whose time attribute is a "
                f"{_TIME_TYPES[answer['misfit']]}; this one's is a {_TIME_TYPES[own.time_type]}, which cannot be "
                f"compared with it. Use another group, or the same type."
            )
        self._last_answer_ns = now_ns
        self.is_query_known = bool(answer.get("is_query_known"))
        self._peers = tuple(
            Peer(source=raw["source"], status=SourceStatus.from_json(raw["says"]), same_query=raw["same_query"])
            for raw in answer["peers"]
        )
        return self._peers

    def renew(self, own: SourceStatus) -> None:
        """Renew the lease while no planning runs; a restarted coordinator learns the status from it."""
        self._client.ask({"ask": "renew", "source": self._source, "says": own.to_json()})

    def exchange_gate(self, own: LoadGateRequest) -> LoadGateAnswer | None:
        """Send a build's progress and a probe's builds; return the coordinator's answer.

        None = it cannot be reached. Nothing is cached here: no gate opens then.
        """
        answer = self._client.ask(self._gate_message(own))
        return None if answer is None else LoadGateAnswer.from_json(answer)

    def renew_gate(self, own: LoadGateRequest) -> None:
        """Renew the lease, and repeat the last load-gate request to a restarted coordinator."""
        self._client.ask({**self._gate_message(own), "renews": True})

    def publish(self, name: str, table: dict[str, Any]) -> None:
        """Publish the table of the source for observers."""
        self._client.ask({"ask": "table", "source": self._source, "name": name, "table": table})

    def end(self) -> None:
        """Report that the source reads no more: it does not bound its group from now on."""
        self._client.ask({"ask": "end", "source": self._source})

    def _gate_message(self, own: LoadGateRequest) -> dict[str, Any]:
        load = None if own.load is None else own.load.to_json()
        return {"ask": "hold", "source": self._source, "until": list(own.until), "load": load}

    def _ask(self) -> dict[str, Any] | None:
        return self._client.ask({"ask": "take", "source": self._source, "sequence": self._sequence})


def _without_guarantee(peer: Peer) -> Peer:
    """Return a peer with its last status, without the guarantee for its next batch."""
    return replace(peer, status=replace(peer.status, guaranteed_minimum_ms=None))
