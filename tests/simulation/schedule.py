"""A seed becomes a schedule: what the application looks like, what happens to it, and how it ends."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

from datasources.source.api.abilities import Alignment, LateRows, NullRowtime, ProcessingTime
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from tests.simulation.application import START_MS, Application
from tests.simulation.closing import close
from tests.simulation.gate_laws import check_load_gate, check_run_ended, gated_sources
from tests.simulation.laws import LawBroken
from tests.simulation.options import SourceOptions
from tests.simulation.producer import Producer
from tests.simulation.query import Crash, Killed, Query
from tests.simulation.source import Source
from tests.simulation.splits import ScriptedLog
from watermark import EmitStrategy

STEPS = 34
_COMPACTION_STEPS = 10
_SLOWNESS_MS = (0, 0, 0, 30, 3_000)
_TOPOLOGIES = ((2,), (2,), (2,), (1, 1), (1, 1), (2, 1))
_GATED_TOPOLOGIES = ((2,), (2,), (3,), (2, 1), (2, 2))
_LATE_ROWS = (LateRows.KEEP, LateRows.DROP, LateRows.MARK)
"""A dead letter is a dropped row, and a record in a topic, which these sources do not have."""


class Schedule:
    """One run of one seed.

    Args:
        seed: decides everything.
        trace: gets one line per event, if given.
        has_gates: whether the first source of a query that is asked for it waits for the others, which are loaded first.
        is_swift: whether questions to the coordinator take no time, also if the seed says that they do; nothing else of
            the schedule depends on it.
    """

    def __init__(
        self, seed: int, trace: list[str] | None = None, *, has_gates: bool = False, is_swift: bool = False
    ) -> None:
        self.random = random.Random(seed)
        self.has_gates = has_gates
        slowness_ms = 0 if is_swift else _SLOWNESS_MS[seed % len(_SLOWNESS_MS)]
        self.app = Application(self.random, trace, slowness_ms)
        self.queries: list[Query] = []
        self.producers: list[Producer] = []
        self._unreachable_steps = 0
        self._is_clock_steady = self.random.random() < 0.4
        self._build()

    def run(self) -> set[str]:
        """Run it; return the faults that occurred.

        Raises:
            LawBroken: a law does not hold.
        """
        for step in range(STEPS):
            self._step()
            if step % _COMPACTION_STEPS == 0:
                for producer in self.producers:
                    producer.compact()
        self.app.is_reachable = True
        close(self.app, self.queries, self.producers)
        return self.app.faults

    # -- what there is --

    def _build(self) -> None:
        rng = self.random
        step_ms = rng.choice((10, 1_000))
        alignment = None
        if rng.random() < 0.7:
            alignment = Alignment(group="g", max_drift_ms=step_ms * rng.choice((0, 1, 3, 10, 50)))
        for size in rng.choice(_GATED_TOPOLOGIES if self.has_gates else _TOPOLOGIES):
            query = Query(self.app, keeps_state=rng.random() < 0.85)
            waits = self._waiting(size, step_ms) if self.has_gates and size > 1 else [{}] * size
            for each in waits:
                self._add_source(query, alignment, step_ms, each)
            query.checks.append(check_load_gate)
            self.queries.append(query)

    def _waiting(self, size: int, step_ms: int) -> list[dict]:
        """One source of a query waits for the others, wherever it stands among them. All queries use one name."""
        rng = self.random
        waits = [{"load": self._load(step_ms)} for _ in range(size - 1)]
        waits.insert(rng.randint(0, size - 1), {"gate": LoadGateSettings(until=("rates",))})
        return waits

    def _load(self, step_ms: int) -> LoadSettings:
        if self.random.random() < 0.6:
            return LoadSettings(name="rates")
        time_ms = START_MS + step_ms * self.random.choice((1, 10, 1_000_000))
        return LoadSettings(name="rates", time_ms=time_ms, idle_timeout_ms=self.random.choice((1_000, 5_000)))

    def _add_source(self, query: Query, alignment: Alignment | None, step_ms: int, waits: dict) -> None:
        options = replace(self._options(alignment, step_ms), **waits)
        log = ScriptedLog(
            chunk_rows=options.chunk_rows, is_bounded=options.is_bounded, is_compacted=options.is_compacted
        )
        name = "abcd"[len(self.producers)]
        producer = Producer(self.app, log, options, step_ms=step_ms, prefix=name)
        producer.begin()
        self.producers.append(producer)
        query.sources.append(Source(query, name, options, log))
        self.app.note(f"{name} of {query.id}: {options}")
        self.app.faults.update(_kinds(options))

    def _options(self, alignment: Alignment | None, step_ms: int) -> SourceOptions:
        rng = self.random
        emit = rng.choice(list(EmitStrategy))
        late = rng.choice(_LATE_ROWS if emit is EmitStrategy.ON_EVENT else [LateRows.KEEP, LateRows.MARK])
        processing = rng.choices(list(ProcessingTime), (86, 8, 6))[0]
        if alignment is not None and rng.random() < 0.15:
            alignment = Alignment(group="g", max_drift_ms=alignment.max_drift_ms, aligns_splits=False)
        idle_timeout_ms = rng.choice((0, 2_000, 5_000))
        # Where a ceiling sinks, or a split without an idle timeout has its last records beyond it, a group may stand.
        may_have_ceiling = alignment is None or (self._is_clock_steady and idle_timeout_ms)
        return SourceOptions(
            emit=emit,
            idle_timeout_ms=idle_timeout_ms,
            late_rows=late,
            null_rowtime=rng.choice((NullRowtime.KEEP, NullRowtime.DROP)),
            alignment=alignment,
            advances_when_idle=rng.random() < 0.2,
            processing_time=processing,
            max_ahead_ms=rng.choice((0, 0, 0, 50 * step_ms)) if may_have_ceiling else 0,
            delay_ms=step_ms * rng.choice((0, 0, 2)),
            chunk_rows=rng.choice((1, 3, 8)),
            max_tasks=rng.choice((None, 1, 2)),
            is_bounded=rng.random() < 0.1,
            is_compacted=rng.random() < 0.12,
        )

    # -- what happens --

    def _step(self) -> None:
        self._pass_unreachable()
        events = (
            (self._trigger, 46),
            (self._produce, 20),
            (self._wait, 14),
            (self._change_splits, 4),
            (self._set_clock, 3),
            (self._lose_coordinator, 3),
            (self._deliver_late_post, 4),
            (self._hang, 2),
            (self._run_available_now, 2),
            (self._crash_application, 2),
        )
        self.random.choices([e for e, _ in events], [w for _, w in events])[0]()

    def _pass_unreachable(self) -> None:
        if not self.app.is_reachable:
            self._unreachable_steps -= 1
            self.app.is_reachable = self._unreachable_steps <= 0

    def _trigger(self) -> None:
        query = self.random.choice(self.queries)
        if not query.is_running:
            query.start()
        crash = self.random.choice(list(Crash)) if self.random.random() < 0.12 else None
        try:
            had_batch = query.trigger(self.random.choice((None, None, 2, 5, 12)), crash)
        except Killed:
            self._kill(query, str(crash.value if crash else ""))
            return
        if query.is_available_now and not had_batch:
            check_run_ended(query)
            self.app.faults.add("available now")
            query.stop(is_reported=True)

    def _kill(self, query: Query, kind: str) -> None:
        self.app.faults.add(kind)
        if gated_sources([query]):
            self.app.faults.add(f"held: {kind}")
        self.app.note(f"{query.id}: {kind}")
        query.stop(is_reported=self.random.random() < 0.5)

    def _produce(self) -> None:
        self.random.choice(self.producers).produce()

    def _wait(self) -> None:
        duration_ms = self.random.choice((1, 150, 250, 1_000, 1_000, 2_500, 6_000, 31_000))
        self.app.advance(duration_ms)
        self.app.note(f"{duration_ms} ms pass")

    def _change_splits(self) -> None:
        producer = self.random.choice(self.producers)
        self.random.choice((producer.grow, producer.grow, producer.shrink, producer.fall_silent, producer.compact))()

    def _set_clock(self) -> None:
        if self._is_clock_steady:
            return
        change_ms = self.random.choice((-40_000, -3_000, 3_000, 40_000))
        self.app.clock.set_wall_us(self.app.clock.now_us() + change_ms * 1_000)
        self.app.faults.add("clock set back" if change_ms < 0 else "clock set forward")
        self.app.note(f"the clock is set by {change_ms} ms")

    def _lose_coordinator(self) -> None:
        if self.random.random() < 0.5:
            self.app.forget_everything()
            self.app.faults.add("coordinator restarted")
            self.app.note("the coordinator forgets everything")
        else:
            self.app.is_reachable, self._unreachable_steps = False, self.random.randint(2, 8)
            self.app.note("the coordinator cannot be reached")

    def _deliver_late_post(self) -> None:
        self.app.deliver_late_post()

    def _hang(self) -> None:
        """A process does nothing for longer than its lease."""
        if self.app.processes:
            process = self.random.choice(self.app.processes)
            process.hangs = True
            self.app.note(f"{process.id} hangs for 61 s")
            self.app.advance(61_000)
            process.hangs = False
            self.app.faults.add("lease over")

    def _run_available_now(self) -> None:
        query = self.random.choice(self.queries)
        query.stop(is_reported=True)
        query.start(is_available_now=True)
        if gated_sources([query]):
            self.app.faults.add("held: available now")

    def _crash_application(self) -> None:
        for query in self.queries:
            if query.is_running:
                self._kill(query, "crash of the application")
        self.app.forget_everything()


def _kinds(options: SourceOptions) -> set[str]:
    kinds = {options.emit.value, f"late rows {options.late_rows.value}"}
    if options.processing_time is not ProcessingTime.NEVER:
        kinds.add(f"processing time {options.processing_time.value}")
    if options.advances_when_idle:
        kinds.add("all idle: processing time")
    if options.alignment is not None and not options.alignment.aligns_splits:
        kinds.add("unaligned splits")
    return kinds


def run_seed(seed: int, *, has_gates: bool = False, is_swift: bool = False) -> set[str]:
    """Run one seed; a broken law is told with its trace.

    Raises:
        LawBroken: with the seed and the last events before it.
    """
    try:
        return Schedule(seed, has_gates=has_gates, is_swift=is_swift).run()
    except Exception as error:
        trace_text = "\n  ".join(_trace(seed, has_gates=has_gates, is_swift=is_swift)[-40:])
        raise LawBroken(getattr(error, "law", 0), f"seed {seed}: {error!r}\n  {trace_text}") from error


def _trace(seed: int, *, has_gates: bool, is_swift: bool) -> list[str]:
    """What happens in a schedule up to the broken law."""
    trace: list[str] = []
    with suppress(Exception):  # it is known, and raised by the caller
        Schedule(seed, trace, has_gates=has_gates, is_swift=is_swift).run()
    return trace


__all__ = ["START_MS", "STEPS", "Schedule", "run_seed"]
