"""The connector: options in, scan out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Self

import pyarrow as pa

from datasources.errors import OptionError
from datasources.formats.schema_text.ddl import parse_schema
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.config.metadata_columns import METADATA_TYPES
from datasources.mysql.config.mysql_options import (
    MYSQL_OPTION_GROUPS,
    BinlogOptions,
    CascadePolicy,
    MySqlConnectionOptions,
    MySqlTableOptions,
    SnapshotOptions,
    StartupOptions,
)
from datasources.mysql.connection.connection import connect, connection_settings
from datasources.mysql.planning.batch_read import MySqlBatchEnumerator
from datasources.mysql.planning.mysql_enumerator import MySqlEnumerator, MySqlPlan
from datasources.mysql.planning.startup_resolver import StartupResolver
from datasources.mysql.preflight.readiness import common_columns
from datasources.mysql.preflight.wanted import Wanted
from datasources.mysql.reader.reader_factory import MySqlReaderFactory
from datasources.mysql.scan.row_options import (
    MySqlBatchOptions,
    MySqlRowOptions,
    SchemaChangeBehavior,
    parse_positions,
    parse_tables,
)
from datasources.mysql.scan.scan_settings import MySqlScanSettings
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.tables.table_schema import read_schemas
from datasources.options import OptionGroup, parse_group
from datasources.source.api.abilities import SourceWatermarkSpec
from datasources.source.api.connector import ScanSource, SessionInfo
from datasources.source.api.enumerator import SplitEnumerator
from datasources.source.watermarks.combine import to_ms

_METADATA: Final = "scan.metadata"
_US_PER_MS: Final = 1_000


@dataclass(frozen=True, kw_only=True)
class MySqlSource(ScanSource):
    """A scan of MySQL or MariaDB tables: a snapshot, then every change."""

    format_name: ClassVar[str] = "tidemark-mysql"
    option_groups: ClassVar[tuple[type[OptionGroup], ...]] = (
        *MYSQL_OPTION_GROUPS,
        MySqlRowOptions,
        MySqlBatchOptions,
    )
    metadata_types: ClassVar[Mapping[str, pa.DataType]] = METADATA_TYPES

    wanted: Wanted
    batches: MySqlBatchOptions
    settings: MySqlScanSettings

    @classmethod
    def create(cls, options: Mapping[str, str], session: SessionInfo) -> Self:  # noqa: ARG003 - no text has a zone here
        """Return the scan. It connects to the server only if the columns are not declared."""
        wanted = Wanted(
            connection=parse_group(MySqlConnectionOptions, options),
            tables=parse_group(MySqlTableOptions, options),
            startup=parse_group(StartupOptions, options),
            snapshot=parse_group(SnapshotOptions, options),
            binlog=parse_group(BinlogOptions, options),
        )
        rows = parse_group(MySqlRowOptions, options)
        batches = parse_group(MySqlBatchOptions, options)
        captured = CapturedTables(wanted.tables.database_name, wanted.tables.table_name)
        server = connection_settings(wanted.connection)
        if rows.ddl is None:
            with closing(connect(server.for_first_contact(), doing="looking at the tables' columns")) as connection:
                data = common_columns(read_schemas(connection, captured), captured, str(server))
        else:
            data = parse_schema(rows.ddl)
        _require_known(rows.masked_columns, data)
        settings = MySqlScanSettings(
            connection=server,
            captured=captured,
            data=data,
            metadata={} if _METADATA in options else _default_metadata(data),
            masked=rows.masked_columns,
            zero_dates=rows.zero_dates,
            server_ids=wanted.binlog.server_id,
            locking=wanted.snapshot.locking,
            no_key=wanted.snapshot.no_key,
            snapshot_time=wanted.snapshot.op_ts,
            rows_per_second=wanted.snapshot.max_rows_per_second,
            on_rewrite=batches.on_rewrite_ddl,
            stops_at_new_columns=batches.schema_change is SchemaChangeBehavior.EXCEPTION,
            accepts_cascades=wanted.binlog.on_fk_cascade is CascadePolicy.WARN,
            skipped=parse_positions(batches.skipped),
            again=(batches.again, parse_tables(batches.again)),
        )
        return cls(wanted=wanted, batches=batches, settings=settings)

    @classmethod
    def source_watermark(cls) -> SourceWatermarkSpec:
        """Return the watermark of the binlog: transactions are written in the order of their commit times.

        Transactions may share a millisecond, so the watermark is one millisecond earlier.
        """
        return SourceWatermarkSpec(
            metadata={"_op_ts": "op_ts"}, rowtime="_op_ts", watermark="_op_ts - INTERVAL '0.001' SECOND"
        )

    @property
    def schema(self) -> pa.Schema:
        """The data columns, then those of the metadata."""
        return self.settings.schema

    @property
    def subscription(self) -> str:
        """The tables, without the server, which a failover may change."""
        return f"MySQL tables {self.settings.captured}, {self.wanted.startup.mode.value}"

    def with_columns(self, decode: pa.Schema) -> Self:
        """Return a copy that reads only these columns (SupportsColumnPruning)."""
        return replace(self, settings=replace(self.settings, needed=frozenset(decode.names)))

    def with_metadata(self, columns: Mapping[str, str]) -> Self:
        """Return a copy with other metadata columns (SupportsReadingMetadata)."""
        return replace(self, settings=replace(self.settings, metadata=dict(columns)))

    def enumerator(self, *, is_batch: bool) -> SplitEnumerator:
        """Return the planner of a stream or of a batch read."""
        view, chunk_size = ServerView(self.settings.connection), self.wanted.snapshot.chunk_size
        resolver = StartupResolver(self.wanted, self.settings)
        if is_batch:
            return MySqlBatchEnumerator(self.settings, view=view, start=resolver.start, chunk_size=chunk_size)
        plan = MySqlPlan(
            mode=self.wanted.startup.mode,
            chunk_size=chunk_size,
            snapshot_readers=self.batches.parallelism,
            max_bytes=self.batches.max_bytes_per_batch,
            heartbeat_ms=self.wanted.binlog.heartbeat_ms,
        )
        return MySqlEnumerator(
            self.settings, plan, view=view, start=resolver.start, check=resolver.check, guarantee=self._guarantee()
        )

    def reader_factory(self) -> MySqlReaderFactory:
        """Return the factory of the executors' readers."""
        return MySqlReaderFactory(self.settings)

    def _guarantee(self) -> Callable[[int], int | None] | None:
        """Return the function from the server's clock to the guaranteed watermark, if commit times alone define it."""
        strategy = self.strategy
        if strategy is None or strategy.additional or len(strategy.watermark.paths) != 1:
            return None
        column = strategy.watermark.paths[0][0]
        if self.settings.metadata.get(column) != "op_ts":
            return None
        evaluator = strategy.watermark.evaluator()

        def guarantee(clock_us: int) -> int | None:
            newest = clock_us - clock_us % _US_PER_MS - _US_PER_MS
            row = pa.RecordBatch.from_arrays([pa.array([newest]).cast(METADATA_TYPES["op_ts"])], names=[column])
            values, valid = evaluator.event_time_us(row)
            return None if valid is not None and not valid[0] else to_ms(int(values[0]))

        return guarantee


def _default_metadata(data: pa.Schema) -> Mapping[str, str]:
    taken = [name for name in METADATA_TYPES if name.lower() in {own.lower() for own in data.names}]
    if taken:
        names = ", ".join(f"`{name}_of_row` FROM {name}" if name in taken else name for name in METADATA_TYPES)
        raise OptionError(
            f"the tables have a column '{taken[0]}', which is the name of a metadata column: name those that you need "
            f"in option '{_METADATA}', for example: {names}."
        )
    return {name: name for name in METADATA_TYPES}


def _require_known(masked: frozenset[str], data: pa.Schema) -> None:
    unknown = sorted(masked - set(data.names))
    if unknown:
        raise OptionError(
            f"option 'scan.masked-columns' names '{unknown[0]}', and there is no such column: there are "
            f"{', '.join(data.names)}."
        )
