"""A model of Spark: what a streaming query does with its sources, and where it may be killed."""

from __future__ import annotations

import enum
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator

from datasources.source.checkpoint.offset import Offset
from datasources.source.reading.task import TaskReader
from datasources.source.reading.task_plan import TaskPlan
from datasources.source.reading.task_planning import plan_tasks
from tests.simulation import naive
from tests.simulation.application import Application, since_start
from tests.simulation.laws import check_alignment, check_planning, require
from tests.simulation.source import Planning, Source
from tests.simulation.splits import WatermarkedRows

_Expected = dict[str, tuple[list[tuple], int]]
_NOT_SET = -1  # the first trigger's budget is that of the query: Spark's read limit does not change while it runs
_USUAL, _LOST, _TWICE, _LATE = range(4)


class Crash(enum.Enum):
    """Where a query may be killed."""

    BEFORE_WRITE = "crash before the offset is written"
    AFTER_WRITE = "crash before the batch is read"
    MID_READ = "crash while the batch is read"
    AFTER_READ = "crash before the commit"
    AFTER_COMMIT = "crash after the commit"


class Killed(Exception):
    """The query was killed."""


class Query:
    """One query of the application and its sources, planned in this order in every trigger."""

    def __init__(self, app: Application, *, keeps_state: bool) -> None:
        self.app = app
        self.id = app.new_id("query")
        self.run = ""
        self.batch = 0
        self.keeps_state = keeps_state
        self.sources: list[Source] = []
        self.pending: list[tuple[Source, str]] = []
        self.is_running = False
        self.is_available_now = False
        self.faults_in_tasks = True
        self.plannings: list[Planning] = []
        self.budget_rows: int | None = _NOT_SET
        self.checks: list[Callable[[Planning], None]] = []

    # -- the life of a run --

    def start(self, *, is_available_now: bool = False) -> None:
        self.run, self.is_running, self.is_available_now = self.app.new_id("run"), True, is_available_now
        self.app.expect_builds(
            self.run, Counter(s.options.load.name for s in self.sources if s.options.load is not None)
        )
        for source in self.sources:
            source.start_process(is_available_now=is_available_now)
        self.app.note(f"{self.id} starts{' for what is available now' if is_available_now else ''}")

    def stop(self, *, is_reported: bool) -> None:
        """End the run; the driver's listener may be told of it."""
        if is_reported:
            self.app.registry.terminated(self.id, self.run)
            self.app.forget_run(self.run)
        for source in self.sources:
            source.stop_process()
        self.is_running = False

    def raise_budget(self, min_rows: int | None) -> None:
        """Let the query end sooner: a restart with other options."""
        now = 0 if self.budget_rows == _NOT_SET else self.budget_rows
        wanted = None if now is None or min_rows is None else max(now, min_rows)
        if wanted != self.budget_rows:
            self.budget_rows = wanted
            self.stop(is_reported=True)
            self.start()

    # -- a trigger --

    def trigger(self, budget_rows: int | None = None, crash: Crash | None = None) -> bool:
        """Run one micro-batch; return whether there was one.

        Raises:
            Killed: at the place that `crash` names.
        """
        if self.pending:
            self._finish(crash)
            return True
        self.budget_rows = budget_rows if self.budget_rows == _NOT_SET else self.budget_rows
        self.plannings = plannings = self._plan(self.budget_rows, crash)
        if not any(p.end for p in plannings):
            return False
        for planning in plannings:
            if planning.end is not None:
                planning.source.write(planning.end)
                self.pending.append((planning.source, json.dumps(planning.end.to_json())))
        if crash is Crash.AFTER_WRITE:
            raise Killed
        self._finish(crash)
        return True

    def _plan(self, budget_rows: int | None, crash: Crash | None) -> list[Planning]:
        last = self.app.random.randint(1, len(self.sources)) if crash is Crash.BEFORE_WRITE else None
        plannings = []
        for source in self.sources:
            planning = source.plan(budget_rows)
            self._note_planning(planning, budget_rows)
            for check in (check_planning, *self.checks):
                check(planning)
            plannings.append(planning)
            if len(plannings) == last:
                raise Killed
        check_alignment(plannings)
        return plannings

    def _note_planning(self, planning: Planning, budget_rows: int | None) -> None:
        if planning.end is None:
            return
        faults = self.app.faults
        faults.update(f"{s.status.name.lower()} split" for s in planning.end.splits)
        if planning.process.rounds == 1 and any(s.known_at < s.start for s in planning.end.splits):
            faults.add("restart with lost reports")
        rows = sum(s.rows for s in planning.end.splits)
        if budget_rows is not None and rows and planning.log_ends != planning.stops:
            faults.add("row budget")
        if self.app.trace is not None:
            self.app.note(_description(planning.process.id, planning.end))

    def _finish(self, crash: Crash | None) -> None:
        batch = [(source, Offset.from_json(json.loads(text))) for source, text in self.pending]
        read = self._read(batch, crash)
        if crash is Crash.AFTER_READ:
            raise Killed
        for source, end in batch:
            source.commit(end, read[source.name])
        self.pending = []
        self.batch += 1
        self.app.registry.progress(self.id, batch_id=self.batch - 1, state_rows=int(self.keeps_state))
        self.app.note(f"{self.id} commits")
        if crash is Crash.AFTER_COMMIT:
            raise Killed

    # -- tasks --

    def _read(self, batch: list[tuple[Source, Offset]], crash: Crash | None) -> dict[str, _Expected]:
        expected = {source.name: _expected(source, end) for source, end in batch}
        tasks = [(source, plan) for source, end in batch for plan in _plans(source, end)]
        self.app.random.shuffle(tasks)
        last = self.app.random.randrange(len(tasks)) if crash is Crash.MID_READ else len(tasks)
        for index, (source, plan) in enumerate(tasks):
            if index == last:
                self._run_task(source, plan, expected[source.name], max_rows=1)
                raise Killed
            self._attempts(source, plan, expected[source.name])
        return expected

    def _attempts(self, source: Source, plan: TaskPlan, expected: _Expected) -> None:
        luck = self.app.random.random() if self.faults_in_tasks else 1.0
        if luck < 0.05:
            self.app.faults.add("stopped by LIMIT")
            self._run_task(source, plan, expected, max_rows=self.app.random.randint(0, 4))
            return
        if luck < 0.1:
            self.app.faults.add("task retried")
            self._run_task(source, plan, expected, max_rows=self.app.random.randint(0, 4))
        self._run_task(source, plan, expected)
        if 0.1 <= luck < 0.15:
            self.app.faults.add("batch read twice")
            self._run_task(source, plan, expected)

    def _run_task(self, source: Source, plan: TaskPlan, expected: _Expected, max_rows: int | None = None) -> None:
        reader = TaskReader(factory=source.log, strategy=source.strategy, output=WatermarkedRows())
        assert source.process is not None
        process_id = source.process.id
        generator = reader.run(plan, lambda reports: self._report(process_id, reports))
        found = list(itertools.islice(itertools.chain.from_iterable(generator), max_rows))
        generator.close()
        ranges = [expected[task.split] for task in plan.splits]
        wanted = [row for rows, _ in ranges for row in naive.emitted(rows, source.options)]
        wanted.append((None, max((last for _, last in ranges), default=max(plan.combined_us, 0) // 1_000), False))
        require(found == wanted[:max_rows], 1, f"{source.name} reads {found}, not {wanted[:max_rows]}")

    def _report(self, process_id: str, reports: list) -> None:
        message = {
            "ask": "report",
            "source": process_id,
            "query": self.id,
            "run": self.run,
            "batch": self.batch,
            "reports": [report.to_json() for report in reports],
        }
        kinds = (_USUAL, _LOST, _TWICE, _LATE)
        kind = self.app.random.choices(kinds, (85, 5, 5, 5))[0] if self.faults_in_tasks else _USUAL
        if kind == _LOST:
            self.app.faults.add("report lost")
        elif kind == _LATE:
            self.app.faults.add("report delivered late")
            self.app.late_post.append(message)
        else:
            self.app.deliver(message)
        if kind == _TWICE:
            self.app.faults.add("report delivered twice")
            self.app.deliver(message)


def _description(process_id: str, end: Offset) -> str:
    ranges = "  ".join(
        f"{s.split}[{s.start},{s.end}){s.status.name[0]}@{since_start(s.watermark_ms)}"
        + f"/{s.known_at}" * (s.known_at < s.start)
        for s in end.splits
    )
    bounds = f"combined {since_start(end.combined_ms)}, allowed {since_start(end.allowed_ms)}"
    waits = "" if end.gate is None else f"  released {end.gate.opened}"
    waits += "" if end.load is None else f"  loaded {end.load.loaded}"
    return f"{process_id} plans {end.sequence}: {ranges}  {bounds}{waits}"


def _plans(source: Source, end: Offset) -> Iterator[TaskPlan]:
    yield from plan_tasks(end, has_watermark=True, max_tasks=source.options.max_tasks)


def _expected(source: Source, end: Offset) -> _Expected:
    """Per split its rows, also those that are left out as late, and the watermark after the last one."""
    return {s.split: naive.rows_of(end, s, source.script(s.split), source.options) for s in end.splits}
