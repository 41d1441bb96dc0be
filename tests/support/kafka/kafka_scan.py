"""A Kafka scan without Spark: the connector and the framework, driven as Spark drives them."""

from __future__ import annotations

import pyarrow as pa

from datasources.kafka.source import KafkaSource
from datasources.source.alignment.lookahead import ReaderLookahead
from datasources.source.checkpoint.offset import Offset
from datasources.source.planning.planner import BatchPlanner
from datasources.source.reading.task import TaskReader, scan_watermark
from datasources.source.reading.task_planning import plan_tasks
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.spark.scan.scan import build_scan
from tests.support.source.memory_source import MemoryReportStore
from watermark import ManualClock, SystemClock

HIDDEN = (
    pa.field("_watermark", pa.timestamp("us", tz="UTC"), nullable=False),
    pa.field("_heartbeat", pa.bool_(), nullable=False),
)


def scan_of(bootstrap: str, **options: object):
    """The scan of some options; underscores in the names of arguments stand for dots."""
    given = {"kafka.bootstrap.servers": bootstrap, "startingOffsets": "earliest"}
    given |= {key.replace("__", "."): str(value) for key, value in options.items()}
    defaults = {"scan.session.time-zone": "UTC", "scan.session.ansi": "true"}
    return build_scan(KafkaSource, {k: v for k, v in given.items() if v != "None"}, defaults)


class KafkaQuery:
    """One query over a scan: plans and reads batches until nothing is left; one that goes on does so from an offset."""

    def __init__(self, scan, *, clock=None, offset: Offset | None = None) -> None:
        self.scan = scan
        source = scan.source
        self.report_store = MemoryReportStore()
        self.planner = BatchPlanner(
            enumerator=source.enumerator(is_batch=False),
            report_store=self.report_store,
            scan=lambda wanted: scan_watermark(source.reader_factory(), source.strategy, wanted),
            settings=scan.planner_settings(),
            clock=clock or SystemClock(),
            lookahead=None if source.strategy is None else ReaderLookahead(source.reader_factory(), source.strategy),
        )
        self.offset = self.planner.initial() if offset is None else Offset.from_json(offset.to_json())

    def batch(self, rows: int | None = None) -> pa.Table | None:
        """Plan and read one batch; None if there is none. A planning that was throttled is tried again."""
        self.planner._next_poll_ns = 0
        end = self.planner.plan(self.offset, rows)
        if end is self.offset:
            return None
        self.offset = Offset.from_json(end.to_json())
        return self.read(self.offset)

    def read(self, end: Offset) -> pa.Table:
        source = self.scan.source
        has_watermark = source.strategy is not None
        schema = self.output_schema()
        reader = TaskReader(factory=source.reader_factory(), strategy=source.strategy, output=OutputSchema(schema))
        plans = plan_tasks(end, has_watermark=has_watermark, division=source.division)
        batches = [batch for plan in plans for batch in reader.run(plan, self.report_store.put)]
        return pa.Table.from_batches(batches, schema=schema)

    def drain(self, rows: int | None = None) -> pa.Table:
        tables = []
        while (table := self.batch(rows)) is not None:
            tables.append(table)
        return pa.concat_tables(tables) if tables else self.output_schema().empty_table()

    def output_schema(self) -> pa.Schema:
        source = self.scan.source
        hidden = HIDDEN if source.strategy is not None else ()
        return pa.schema([*[f.with_nullable(True) for f in source.schema], *hidden])


def manual_clock() -> ManualClock:
    return ManualClock(SystemClock().now_us())
