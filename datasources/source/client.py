"""How tasks and planners talk to the coordinator.

A report that cannot be delivered is no error: the next batch reads the range again. So the client tries once more on
a fresh connection, then gives up and says so once. What must not be lost goes into offsets, not through here.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from typing import Any

from datasources.errors import CoordinatorError, NonDeterminismError
from datasources.source.channel import Channel, open_channel
from datasources.source.coordinator import Endpoint
from datasources.source.reports import SplitReport
from datasources.source.split import SplitId

__all__ = ["ChannelMailbox", "CoordinatorClient"]

_logger = logging.getLogger(__name__)
_TIMEOUT_S = 10.0


class CoordinatorClient:
    """One connection to a coordinator, opened when first needed and again after a fork or a fault.

    Args:
        endpoint: the coordinator.
        timeout_s: the most that it may take to answer, in seconds.
    """

    def __init__(self, endpoint: Endpoint, *, timeout_s: float = _TIMEOUT_S) -> None:
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
                    "coordinator_unreachable host=%s port=%d error=%r results stay exact; watermarks may be carried "
                    "one batch later. Executors must be able to connect to the driver on this port.",
                    self._endpoint.host,
                    self._endpoint.port,
                    str(fault),
                )
        return None

    def _ask_once(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._channel is None or self._pid != os.getpid():
            self._hang_up()  # after a fork: closes this process's copy, the parent's connection goes on
            address = (self._endpoint.host, self._endpoint.port)
            self._channel = open_channel(address, self._endpoint.key, timeout_s=self._timeout_s)
            self._pid = os.getpid()
        self._channel.send(message)
        answer = self._channel.receive()
        if answer is None:
            raise ConnectionResetError("the coordinator closed the connection")
        return answer

    def _hang_up(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None


class ChannelMailbox:
    """A planner's mailbox at the coordinator.

    Args:
        client: the connection.
        source: the id of this source run; tasks report under it.
    """

    def __init__(self, client: CoordinatorClient, source: str) -> None:
        self._client = client
        self._source = source
        self._sequence = -1

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
        """Return what the listener knows of the query's state."""
        answer = self._ask()
        return None if answer is None else answer["has_state"]

    def _ask(self) -> dict[str, Any] | None:
        return self._client.ask({"ask": "take", "source": self._source, "sequence": self._sequence})
