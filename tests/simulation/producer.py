"""What producers do to the splits of one source."""

from __future__ import annotations

import random

from datasources.source.api.abilities import NullRowtime
from tests.simulation.application import START_MS, Application, since_start
from tests.simulation.options import SourceOptions
from tests.simulation.splits import Script, ScriptedLog

_MAX_SPLITS = 5


class Producer:
    """Appends records to the splits of one source.

    Args:
        app: chance, and where faults are counted.
        log: what to append to.
        options: of the source; the delay between rowtime and candidate.
        step_ms: how far event time goes on from record to record, about.
        prefix: begins the names of its splits.
    """

    def __init__(
        self, app: Application, log: ScriptedLog, options: SourceOptions, *, step_ms: int, prefix: str
    ) -> None:
        self._app = app
        self._random: random.Random = app.random
        self.log = log
        self._options = options
        self._step_ms = step_ms
        self._prefix = prefix
        self._speeds: dict[str, int] = {}
        self._made = 0

    def add_split(self) -> Script:
        """A split, empty, that begins somewhere in event time."""
        name = f"{self._prefix}-{self._made}"
        self._made += 1
        script = Script(
            name, self._app.new_number(), head_ms=START_MS + self._step_ms * self._random.choice((0, 0, 5, 40, 200))
        )
        self._speeds[name] = self._random.choice((1, 1, 1, 2, 10))
        self.log.scripts[name] = script
        return script

    def begin(self) -> None:
        """What is there when the query begins."""
        for _ in range(self._random.choice((3, 3, 3, 4))):
            script = self.add_split()
            self.append(script, self._random.choice((0, 0, 0, 3, 3, 3, 8, 8, 8, 80)))
            if self._random.random() < 0.2:
                script.begin = script.end  # from the latest
            if self.log.is_bounded:
                script.limit = script.end + self._random.choice((0, 2))

    def produce(self) -> None:
        """Some records for some splits."""
        open_ones = [s for s in self.log.listed() if s.limit is None or s.end < s.limit + 2]
        for script in self._random.sample(open_ones, self._random.randint(0, len(open_ones))):
            if script.silent_steps:
                script.silent_steps -= 1
                self._app.faults.add("silent split")
                continue
            if self._speeds[script.name] > 1:
                self._app.faults.add("slow split")
            self.append(script, self._random.randint(1, 5))

    def append(self, script: Script, rows: int) -> None:
        if self._random.random() < 0.01:
            rows = 1 + self._append_nulls(script)
        for _ in range(rows):
            rowtime, candidate = self._record(script)
            script.append(rowtime, candidate)
        self._app.note(f"{script.name} gets {[since_start(c) for c in script.candidates[script.end - rows :]]}")

    def _append_nulls(self, script: Script) -> int:
        """A stretch of records without candidates, longer than what is looked at at once."""
        rows = self._random.choice((10, 90))
        for _ in range(rows):
            script.append(script.head_ms, None)
        return rows

    def _record(self, script: Script) -> tuple[int | None, int | None]:
        rng = self._random
        script.head_ms += self._step_ms * rng.randint(0, 2) // self._speeds[script.name]
        luck, rowtime = rng.random(), script.head_ms
        if luck < 0.1:
            self._app.faults.add("out of order")
            rowtime -= self._step_ms * rng.choice((1, 3, 30, 100))
        elif luck < 0.12:
            self._app.faults.add("far ahead")
            rowtime += self._step_ms * rng.choice((20, 300, 5_000))
        elif luck < 0.15:
            self._app.faults.add("null candidate")
            return (rowtime, None) if self._options.null_rowtime is NullRowtime.KEEP else (None, None)
        return rowtime, rowtime - self._options.delay_ms

    def add_everywhere(self, candidate_ms: int) -> None:
        """One record for every split."""
        for script in self.log.listed():
            script.append(candidate_ms, candidate_ms)

    def fall_silent(self) -> None:
        script = self._random.choice(self.log.listed())
        script.silent_steps = self._random.randint(2, 8)

    def grow(self) -> None:
        """A new split, perhaps with records."""
        if not self.log.is_bounded and len(self.log.listed()) < _MAX_SPLITS:
            self._app.faults.add("new split")
            self.append(self.add_split(), self._random.choice((0, 2)))

    def shrink(self) -> None:
        """A split vanishes; three stay."""
        if not self.log.is_bounded and len(self.log.listed()) > 3:
            self._app.faults.add("removed split")
            script = self._random.choice(self.log.listed())
            script.is_listed, self.log.has_removed = False, True
            self._app.note(f"{script.name} is removed")

    def compact(self) -> None:
        """Some records vanish, read or not."""
        for script in self.log.listed() if self.log.is_compacted else []:
            for position in self._random.sample(range(script.end), script.end // 4):
                self._app.faults.add("compacted")
                script.vanish(position)
                self._app.note(f"{script.name}: {position} vanishes")
