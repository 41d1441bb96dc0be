"""Takes the tables once a second for all viewers: the cost does not depend on their number."""

from __future__ import annotations

import json
import logging
import threading
from functools import cached_property
from typing import Final

from datasources.observe.history import History
from datasources.observe.tables import Table, Tables, is_well_formed, worst_first
from watermark.clock import Clock

_logger = logging.getLogger(__name__)

_EVERY_S: Final = 1.0
_MICROS_PER_MILLI: Final = 1_000


class TablesSnapshot:
    """The tables of one moment. Their JSON and metrics are rendered once, when first asked for.

    Units: ``time_ms`` is ms since the epoch. The tables are not modified.
    """

    def __init__(self, *, time_ms: int, tables: list[Table]) -> None:
        self.time_ms = time_ms
        self.tables = tables

    @cached_property
    def json(self) -> str:
        """The tables as a JSON array in ASCII; the splits that hold a source back come first."""
        tables = [{**table, "splits": worst_first(table["splits"])} for table in self.tables]
        return json.dumps(tables, separators=(",", ":"), allow_nan=False)

    @cached_property
    def metrics(self) -> bytes:
        """The tables in Prometheus' text format.

        Raises:
            ImportError: prometheus-client is not installed.
        """
        from datasources.observe.prometheus import render_metrics

        return render_metrics(self.tables)


class Sampler:
    """Keeps the newest tables and their history."""

    def __init__(self, tables: Tables, *, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self._has_dropped = False
        self.history = History(clock=clock)
        self.latest = TablesSnapshot(time_ms=self.now_ms(), tables=[])

    def now_ms(self) -> int:
        """Return the wall clock, ms since the epoch."""
        return self._clock.now_us() // _MICROS_PER_MILLI

    def sample(self) -> None:
        """Take the tables once."""
        given = self._tables()
        tables = [table for table in given if is_well_formed(table)]
        if len(tables) < len(given):
            self._note(len(given) - len(tables))
        self.history.record(tables)
        self.latest = TablesSnapshot(time_ms=self.now_ms(), tables=tables)

    def _note(self, dropped: int) -> None:
        log = _logger.debug if self._has_dropped else _logger.warning
        self._has_dropped = True
        log("observer_tables_dropped reason='malformed' count=%d", dropped)

    def run(self, closed: threading.Event) -> None:
        """Take the tables every second until the event is set.

        An error in them ends the thread and Python prints its traceback; the page then marks its figures as old.
        """
        while not closed.wait(_EVERY_S):
            self.sample()
