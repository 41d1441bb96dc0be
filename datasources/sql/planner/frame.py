"""A rewritten tree as a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.errors import SchemaError
from datasources.grammar.literals import quoted
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN, HIDDEN_COLUMNS
from datasources.spark.attach.assigner import assign_watermark
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.boundary.hadoop_files import path_of_stream
from datasources.spark.boundary.refusals import REFUSALS
from datasources.spark.options.scan_options import ATTACHED, STATEMENT
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.planner.connectors import unknown_connector, unknown_file_format
from datasources.sql.planner.scan_options import files_of, read_options, spark_options
from datasources.sql.planner.tree import (
    Node,
    Project,
    ProjectColumn,
    TableScan,
    assigner_of,
    attributes_of,
    scan_of,
)
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, RowLayer
from datasources.sql.types.time_kind import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class TableFrames:
    """Makes DataFrames of trees in a session."""

    spark: SparkSession

    def frame(self, tree: Node, *, has_row_watermark: bool = False) -> DataFrame:
        """Return the table, attached if it has a watermark.

        With ``has_row_watermark`` each row carries the watermark before it, in `ROW_WATERMARK_COLUMN`.

        Raises:
            SchemaError: a format of Spark's does not have a declared column.
        """
        scan = scan_of(tree)
        loaded = self.loaded(scan)
        columns = attached_columns(tree)
        row_watermark = ROW_WATERMARK_COLUMN if has_row_watermark else None
        assigner = assigner_of(tree)
        if assigner is not None:
            (attribute, *_) = assigner.attributes
            return assign_watermark(loaded, attribute.expression, columns, row_watermark_as=row_watermark)
        if scan.attributes:
            return attach(loaded, columns, row_watermark_as=row_watermark)
        frame = loaded.select(*map(plain_column, columns))
        return frame.withColumn(ROW_WATERMARK_COLUMN, F.lit(None).cast("timestamp")) if has_row_watermark else frame

    def loaded(self, scan: TableScan) -> DataFrame:
        """Return what `load()` gives: with hidden columns if the scan makes watermarks."""
        if scan.connector.is_ours:
            return self._ours(scan)
        return self._sparks(scan)

    def _ours(self, scan: TableScan) -> DataFrame:
        options = expand(read_options(scan))
        if not scan.is_streaming:
            return self.spark.read.format(scan.connector.format_name).options(**options).load()
        reader = self.spark.readStream.format(scan.connector.format_name).options(**options)
        if scan.statement:
            reader = reader.option(STATEMENT, scan.statement)
        return (reader.option(ATTACHED, "true") if scan.attributes else reader).load()  # the caller attaches it

    def _sparks(self, scan: TableScan) -> DataFrame:
        if scan.connector.is_filesystem:
            return self._files(scan)
        options = expand(spark_options(scan))
        scan.connector.require_path(scan.table, options)
        reader = self.spark.readStream if scan.is_streaming else self.spark.read
        reader = reader.format(scan.connector.format_name).options(**options)
        if scan.connector.takes_schema and scan.columns:
            reader = reader.schema(", ".join(f"{quoted(c.name)} {c.spark_type}" for c in scan.columns))
        try:
            loaded = reader.load()
            known = {name.lower() for name in loaded.columns}  # on Spark Connect the format is looked for now
        except REFUSALS as error:
            raise unknown_connector(scan.table, scan.connector, error) or error from None
        for column in scan.columns:
            if column.name.lower() not in known:
                raise SchemaError(
                    f"table '{scan.table}' declares a column '{column.name}' that the connector "
                    f"'{scan.connector.name}' does not have; it has {', '.join(loaded.columns)}."
                )
        wanted = [c for c in scan.columns if scan.delivered is None or c.name in scan.delivered]
        return loaded.select(*(F.expr(quoted(c.name)).cast(c.spark_type).alias(c.name) for c in wanted))

    def _files(self, scan: TableScan) -> DataFrame:
        table = files_of(scan)
        path = table.options.path
        if scan.is_streaming:
            path = path_of_stream(self.spark, path)
        metadata = {each.name: each.key for each in scan.metadata}
        try:
            loaded = table.read(self.spark, path, is_streaming=scan.is_streaming, metadata=metadata)
        except REFUSALS as error:
            raise unknown_file_format(scan.table, table.options.format_name, error) or error from None
        return loaded if scan.delivered is None else loaded.select(*map(quoted, scan.delivered))


def plain_column(column: AttachedColumn) -> Column:
    """Return a column's value under its name, without time properties."""
    return F.expr(column.expression or quoted(column.name)).alias(column.name)


def layered(rows: DataFrame, layer: RowLayer) -> DataFrame:
    """Return rows that are not attached yet, projected and filtered; heartbeats stay."""
    named = rows.alias(layer.alias) if layer.alias else rows
    if layer.condition is not None:
        named = named.where(f"({layer.condition}) OR {HEARTBEAT_COLUMN}")
    return named.selectExpr(*layer.items, *HIDDEN_COLUMNS)


def attached_columns(tree: Node) -> list[AttachedColumn]:
    """Return the columns of a table as they are made above the barrier."""
    scan = scan_of(tree)
    event_times = {a.column for a in attributes_of(tree)}
    if isinstance(tree, Project):
        columns = [_attached(c, is_event_time=c.name in event_times) for c in tree.columns]
    else:
        names = scan.names if scan.delivered is None else scan.delivered
        plain = (ProjectColumn(name=name, expression=quoted(name), is_plain=True) for name in names)
        columns = [_attached(c, is_event_time=c.name in event_times) for c in plain]
    nested = [a for a in attributes_of(tree) if len(a.path) > 1]
    return columns + [
        AttachedColumn(name=a.column, expression=a.rowtime, time=TimeKind.ROWTIME.value, is_event_time=True)
        for a in nested
    ]


def _attached(column: ProjectColumn, *, is_event_time: bool) -> AttachedColumn:
    time = column.time or (TimeKind.ROWTIME if is_event_time else None)
    return AttachedColumn(
        name=column.name,
        expression=column.expression,
        time=None if time is None else time.value,
        is_event_time=is_event_time,
    )
