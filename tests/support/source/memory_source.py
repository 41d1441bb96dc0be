"""A source in memory, for tests of the framework without Spark: splits are lists of (rowtime_ms, candidate_ms)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.api.abilities import ScanStrategy, WatermarkParams
from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitBounds
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.reports import SplitReport
from datasources.source.planning.planner import BatchPlanner, PlannerSettings
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_planning import plan_tasks
from datasources.source.watermarks.row_watermark import OutputSchema
from watermark import EmitStrategy, ManualClock

SCHEMA = pa.schema([("id", pa.string()), ("rowtime", pa.int64()), ("candidate", pa.int64())])
OUTPUT = pa.schema(
    [
        *SCHEMA,
        pa.field("_watermark", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("_heartbeat", pa.bool_(), nullable=False),
    ]
)


@dataclass(frozen=True)
class MillisColumn:
    """An event-time expression that is a column of epoch milliseconds."""

    text: str

    @property
    def paths(self):
        return ((self.text,),)

    def evaluator(self):
        return self

    def event_time_us(self, batch):
        column = batch.column(self.text)
        valid = None if column.null_count == 0 else ~np.asarray(column.is_null())
        return np.asarray(column.fill_null(0), dtype=np.int64) * 1_000, valid


def strategy(emit=EmitStrategy.ON_EVENT, **more):
    return ScanStrategy(
        rowtime=MillisColumn("rowtime"),
        watermark=MillisColumn("candidate"),
        params=WatermarkParams(emit=emit, **more),
    )


@dataclass
class MemoryLog:
    """The splits and their records: (rowtime_ms or None, candidate_ms or None)."""

    splits: dict[str, list[tuple[int | None, int | None]]] = field(default_factory=dict)
    chunk_rows: int = 3
    reads: list[tuple[str, int, int]] = field(default_factory=list)
    limited: bool = False
    compacted: frozenset[str] = frozenset()

    def append(self, split: str, *rowtimes: int | None, delay: int = 0) -> None:
        rows = self.splits.setdefault(split, [])
        rows.extend((t, None if t is None else t - delay) for t in rowtimes)

    # -- enumerator --
    def start_positions(self) -> Mapping[str, int]:
        return dict.fromkeys(self.splits, 0)

    def limits(self):
        return {s: len(rows) for s, rows in self.splits.items()} if self.limited else None

    def bounds(self):
        return {s: SplitBounds(start_inclusive=0, end_exclusive=len(rows)) for s, rows in self.splits.items()}

    def late_start_position(self, split):
        return 0

    def may_lose_records(self, split):
        return split in self.compacted

    def close(self):
        pass

    # -- reader factory and reader --
    schema = SCHEMA

    def open(self, *, only=None):
        return self

    def read(self, split, start, end) -> Iterator[Chunk]:
        self.reads.append((split, start, end))
        rows = list(enumerate(self.splits[split]))[start:end]
        for at in range(0, len(rows), self.chunk_rows):
            part = rows[at : at + self.chunk_rows]
            columns = [
                pa.array([f"{split}:{i}" for i, _ in part]),
                pa.array([r for _, (r, _) in part], pa.int64()),
                pa.array([c for _, (_, c) in part], pa.int64()),
            ]
            positions = [i for i, _ in part]
            yield Chunk(
                columns=pa.RecordBatch.from_arrays(columns, schema=SCHEMA), position=lambda row, at=positions: at[row]
            )


class MemoryReportStore:
    """A mailbox that is a dictionary; it may lose what it gets."""

    def __init__(self) -> None:
        self.reports: dict[int, dict[str, SplitReport]] = {}
        self.state: bool | None = None
        self.losing = False

    def put(self, reports: list[SplitReport]) -> None:
        for report in [] if self.losing else reports:
            first = self.reports.setdefault(report.sequence, {}).setdefault(report.split, report)
            first.require_equal(report)

    def take(self, sequence):
        return self.reports.get(sequence, {})

    def has_state(self):
        return self.state


@dataclass(frozen=True)
class Row:
    """One emitted row: id (None = heartbeat) and row watermark in ms, None for none."""

    id: str | None
    row_watermark: int | None


class Query:
    """A query over a memory log: what Spark does, without Spark."""

    def __init__(self, log: MemoryLog, scan_strategy=None, *, clock=None, offset=None, peers=None, **settings) -> None:
        self.log = log
        self.strategy = scan_strategy or strategy()
        self.clock = clock or ManualClock(1_700_000_000_000_000)
        self.peers = peers
        self.report_store = MemoryReportStore()
        self.settings = PlannerSettings(
            identity=Identity(strategy="s", schema="x", subscription="m"),
            has_watermark=True,
            watermark=self.strategy.params,
            poll_interval_ms=0,
            **settings,
        )
        self.start_process()
        self.offset = offset or self.planner.initial()

    def start_process(self) -> None:
        """A new runner process: its memory is empty and so is its coordinator's."""
        self.report_store = MemoryReportStore()
        self.planner = BatchPlanner(
            enumerator=self.log,
            report_store=self.report_store,
            scan=self._scan,
            settings=self.settings,
            clock=self.clock,
            peers=self.peers,
            lookahead=ReaderLookahead(self.log, self.strategy),
        )

    def _scan(self, wanted):
        return scan_watermark(self.log, self.strategy, wanted)

    def plan(self, rows: int | None = None) -> Offset | None:
        """Plan one batch; None if there is nothing to do. What Spark stores is text, so it goes through JSON."""
        end = self.planner.plan(self.offset, rows)
        if end is self.offset:
            return None
        return Offset.from_json(end.to_json())

    def read(self, end: Offset, *, take: int | None = None, max_tasks: int | None = None, division=None) -> list[Row]:
        """Read a batch; with `take` each task's consumer stops after that many rows, as LIMIT does."""
        rows: list[Row] = []
        for plan in plan_tasks(end, has_watermark=True, max_tasks=max_tasks, division=division):
            reader = TaskReader(factory=self.log, strategy=self.strategy, output=OutputSchema(OUTPUT))
            task_rows: list[Row] = []
            generator = reader.run(plan, self.report_store.put)
            for batch in generator:
                task_rows.extend(_rows(batch))
                if take is not None and len(task_rows) >= take:
                    generator.close()
            rows.extend(task_rows[:take])
        return rows

    def batch(self, rows: int | None = None, **how) -> list[Row] | None:
        """Plan, read and commit one batch."""
        end = self.plan(rows)
        if end is None:
            return None
        emitted = self.read(end, **how)
        self.offset = end
        return emitted

    def drain(self, rows: int | None = None, max_count: int = 1_000) -> list[Row]:
        """Run batches until there is nothing to do."""
        emitted: list[Row] = []
        for _ in range(max_count):
            found = self.batch(rows)
            if found is None:
                return emitted
            emitted.extend(found)
        raise AssertionError("the query never comes to rest")


def _rows(batch: pa.RecordBatch) -> list[Row]:
    row_watermarks = batch.column("_watermark").cast(pa.int64()).to_pylist()
    ids = batch.column("id").to_pylist()
    return [Row(i, s // 1_000 or None) for i, s in zip(ids, row_watermarks, strict=True)]
