"""What a task lets a reader know that can fetch ahead."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitId
from datasources.source.reading.task import TaskReader
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.row_watermark import OutputSchema
from watermark import MIN_WATERMARK

SCHEMA = pa.schema([("n", pa.int64())])


@dataclass
class Recorder:
    """A reader and its factory, which note what they are asked for."""

    asked: list = field(default_factory=list)
    schema: pa.Schema = SCHEMA

    def open(self, *, only=None):
        return self

    def read_ahead(self, ranges):
        self.asked.append(("ahead", ranges))

    def read(self, split, start, end):
        self.asked.append(("read", split, start, end))
        yield Chunk(columns=pa.record_batch([pa.array(range(start, end))], schema=SCHEMA), position=lambda row: row)

    def close(self):
        self.asked.append(("close",))


def test_a_reader_knows_the_ranges_in_their_order_before_it_reads_the_first():
    ranges = [(SplitId("b"), 3, 5), (SplitId("a"), 0, 2)]
    plan = TaskPlan(
        sequence=1,
        splits=tuple(
            SplitTask(split=split, known_at=start, start=start, end=end, watermark_us=MIN_WATERMARK, others_us=None)
            for split, start, end in ranges
        ),
        combined_us=MIN_WATERMARK,
        ceiling_us=None,
    )
    recorder, reports = Recorder(), []
    task = TaskReader(factory=recorder, strategy=None, output=OutputSchema(SCHEMA))
    rows = [n for batch in task.run(plan, reports.extend) for n in batch.column("n").to_pylist()]
    assert rows == [3, 4, 0, 1]
    assert [report.position for report in reports] == [5, 2]
    assert recorder.asked == [("ahead", ranges), *(("read", *each) for each in ranges), ("close",)]
