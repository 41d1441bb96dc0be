"""User code with state and event-time timers, for the contract test of Spark's operators.

Executors get these by value: their processes cannot import the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

__all__ = ["RANG", "SILENCE_S", "TIMED_OUT", "Alarms", "Relay", "time_out_after_silence"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SILENCE_S = 5
RANG = "k STRING, rows INT, due INT, was_early BOOLEAN"
TIMED_OUT = "k STRING, due INT, was_early BOOLEAN"


class Alarms(StatefulProcessor):
    """Sets a timer at a fixed event time when a key first comes, and tells whether it rang before its time."""

    def __init__(self, second: int) -> None:
        self._due_ms = second * 1_000

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._seen = handle.getValueState("seen", "n INT")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        count = sum(len(frame) for frame in rows)
        if not self._seen.exists():
            self._handle.registerTimer(self._due_ms)
        before = self._seen.get()[0] if self._seen.exists() else 0
        self._seen.update((before + count,))
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        due = expiredTimerInfo.getExpiryTimeInMs() // 1_000
        is_early = timerValues.getCurrentWatermarkInMs() < self._due_ms
        yield pd.DataFrame({"k": [key[0]], "rows": [self._seen.get()[0]], "due": [due], "was_early": [is_early]})

    def close(self) -> None:
        pass


class Relay(StatefulProcessor):
    """Emits each row again, so that an operator after it has to take its event time from the output."""

    def init(self, handle: Any) -> None:
        pass

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        for frame in rows:
            yield frame[["ts", "v"]]

    def close(self) -> None:
        pass


def time_out_after_silence(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    """Tell when a key had no row for SILENCE_S of event time; for applyInPandasWithState."""
    if state.hasTimedOut:
        due = state.get[0] + SILENCE_S
        is_early = state.getCurrentWatermarkMs() < due * 1_000
        state.remove()
        yield pd.DataFrame({"k": [key[0]], "due": [due], "was_early": [is_early]})
        return
    newest = max(int(frame["ts"].max().timestamp()) for frame in frames)
    state.update((newest,))
    state.setTimeoutTimestamp((newest + SILENCE_S) * 1_000)
