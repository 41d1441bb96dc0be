"""The initial tree of a table: the DDL, in the order in which Flink builds it."""

from __future__ import annotations

from collections.abc import Mapping

from datasources.grammar.literals import quoted
from datasources.sql.planner.connectors import Connector
from datasources.sql.planner.tree import (
    Attribute,
    Node,
    Project,
    ProjectColumn,
    ScanColumn,
    TableScan,
    WatermarkAssigner,
)
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedMetadata, ResolvedTable, ResolvedWatermark
from datasources.sql.text.substitute import references


def build_tree(table: ResolvedTable, connector: Connector, options: Mapping[str, str], *, is_streaming: bool) -> Node:
    """Return scan, projection of metadata columns, projection of computed columns, WatermarkAssigner.

    A batch read has no WatermarkAssigner.
    """
    hidden = _source_times(table, connector)
    tree: Node = TableScan(
        table=table.name,
        connector=connector,
        options=options,
        columns=tuple(
            ScanColumn(name=c.name, spark_type=c.spark_type, is_nullable=c.is_nullable)
            for c in table.columns
            if c.is_physical
        ),
        metadata=(*table.metadata, *hidden),
        primary_key=table.primary_key,
        partition_keys=table.partition_keys,
        is_streaming=is_streaming,
    )
    if table.metadata:
        tree = Project(input=tree, columns=(*_cast_metadata(table), *(_plain(m.name) for m in hidden)))
    if any(c.expression is not None or c.proctime for c in table.columns) or table.metadata:
        tree = Project(input=tree, columns=tuple(_computed(c, table) for c in table.columns))
    attributes = tuple(_attribute(w) for w in table.watermarks) or tuple(_proctimes(table))
    if is_streaming and attributes:
        tree = WatermarkAssigner(input=tree, attributes=attributes)
    return tree


def _cast_metadata(table: ResolvedTable) -> list[ProjectColumn]:
    columns = [_plain(c.name) for c in table.columns if c.is_physical]
    types = {c.name: c.spark_type for c in table.columns}
    for column in table.metadata:
        name = quoted(column.name)
        is_plain = types[column.name].upper() == column.source_type.upper()
        text = name if is_plain else f"CAST({name} AS {types[column.name]})"
        columns.append(ProjectColumn(name=column.name, expression=text, is_plain=is_plain))
    return columns


def _plain(name: str) -> ProjectColumn:
    return ProjectColumn(name=name, expression=quoted(name), is_plain=True)


def _source_times(table: ResolvedTable, connector: Connector) -> tuple[ResolvedMetadata, ...]:
    """Return the metadata columns that SYSTEM_ROWTIME() and SYSTEM_WATERMARK() of this table read."""
    spec = connector.source_time
    if spec is None:
        return ()
    expressions = [c.expression for c in table.columns if c.expression is not None]
    expressions += [w.expression for w in table.watermarks if w.is_source_watermark]
    read = {name for expression in expressions for name in references(expression)}
    return tuple(
        ResolvedMetadata(name=name, key=key, source_type=connector.metadata_types[key])
        for name, key in spec.metadata.items()
        if name.lower() in read
    )


def _computed(column: ResolvedColumn, table: ResolvedTable) -> ProjectColumn:
    time = table.time_of(column)
    if column.proctime:
        return ProjectColumn(name=column.name, expression="current_timestamp()", time=time)
    if column.expression is None:
        return ProjectColumn(name=column.name, expression=quoted(column.name), is_plain=True, time=time)
    return ProjectColumn(name=column.name, expression=column.expression, time=time)


def _attribute(watermark: ResolvedWatermark) -> Attribute:
    path = ".".join(quoted(name) for name in watermark.path)
    knows = watermark.is_source_watermark
    return Attribute(
        path=watermark.path,
        rowtime=watermark.rowtime if knows else path,
        expression=watermark.expression if knows else watermark.named,
        spark_type=watermark.spark_type,
        written=watermark.written,
        is_source_watermark=watermark.is_source_watermark,
    )


def _proctimes(table: ResolvedTable) -> list[Attribute]:
    """A PROCTIME() column of a table without WATERMARK: its windows close by the clock."""
    return [
        Attribute(
            path=(column.name,),
            rowtime="current_timestamp()",
            expression="current_timestamp()",
            spark_type="TIMESTAMP",
            written="PROCTIME()",
            proctime=True,
        )
        for column in table.columns
        if column.proctime
    ][:1]
