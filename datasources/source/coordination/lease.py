"""The background thread of a planner's process: it renews the source's lease and publishes its table.

Spark does not call a planner while a batch runs, however long that takes. The lease would expire, and the group would
run ahead. So a thread renews it; it also publishes the source's table for observers, at most once per interval, so that
planning never waits for it. The client logs errors; nothing else depends on this thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from datasources.source.coordination.client import CoordinatorLink, Requester
from datasources.source.load_gate.gate_protocol import LoadGateRequest
from datasources.source.watermarks.source_status import SourceStatus

_LONGEST_INTERVAL_MS = 20_000
_TABLE_INTERVAL_MS = 500


class LeaseRenewal:
    """Runs from its construction until `close`.

    Args:
        client: a connection of its own.
        source: the id of the source run.
        name: a readable name of the source.
        interval_ms: how often to renew, at least.
        is_watched: whether tables are delivered.
    """

    def __init__(self, client: Requester, *, source: str, name: str, interval_ms: int, is_watched: bool) -> None:
        self._link = CoordinatorLink(client, source)
        self._name = name
        wanted_ms = min(interval_ms, _LONGEST_INTERVAL_MS)
        self._interval_s = (min(wanted_ms, _TABLE_INTERVAL_MS) if is_watched else wanted_ms) / 1_000
        self._is_watched = is_watched
        self._table: Callable[[], dict[str, Any]] | None = None
        self._status: SourceStatus | None = None
        self._gate_request: LoadGateRequest | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="tidemark-presence", daemon=True).start()

    def update(
        self,
        status: SourceStatus | None,
        table: Callable[[], dict[str, Any]],
        gate_request: LoadGateRequest | None = None,
    ) -> None:
        """Set the last status, and the function that makes the newest table when one is delivered.

        Args:
            status: published last; None = the source has no watermark.
            table: makes the table.
            gate_request: the last one of its load gate; None = it is neither probe nor build.
        """
        self._status, self._table, self._gate_request = status, table, gate_request

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(self._interval_s):
            if self._status is not None:
                self._link.renew(self._status)
            if self._gate_request is not None:
                self._link.renew_gate(self._gate_request)
            if self._is_watched and self._table is not None:
                self._link.publish(self._name, self._table())
