"""The logical tree of one table in one statement: a scan below projections below a WatermarkAssigner.

    WatermarkAssigner          -- until a rule moves it into the scan
      Project                  -- computed columns, time attributes
        Scan                   -- physical and metadata columns

Nodes are frozen; a rule takes a tree and gives a tree. What cannot be pushed stays above, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from datasources.spark.pushdown.aggregates.aggregate_pushdown import ScanAggregates
from datasources.sql.planner.connectors import Connector
from datasources.sql.resolve.resolved_table import ResolvedMetadata
from datasources.sql.types.time_kind import TimeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanColumn:
    """A stored column: its name and its type as Spark DDL."""

    name: str
    spark_type: str
    is_nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A time attribute with its watermark.

    Attributes:
        path: the names that lead to it in the table.
        rowtime: its value as Spark SQL over the columns of the node's input.
        expression: its watermark, over the same.
        spark_type: `TIMESTAMP` or `TIMESTAMP_NTZ`.
        written: the watermark as the user wrote it.
        is_source_watermark: `SOURCE_WATERMARK()`: the source knows.
        proctime: a PROCTIME() column whose windows follow the clock.
    """

    path: tuple[str, ...]
    rowtime: str
    expression: str
    spark_type: str
    written: str
    is_source_watermark: bool = False
    proctime: bool = False

    @property
    def column(self) -> str:
        """The top-level column that carries it."""
        return "_".join(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableScan:
    """A read of a connector.

    Attributes:
        table: the table's name.
        connector: which connector.
        options: merged: hint over table over session; `connector` is not among them.
        columns: the stored columns as declared.
        metadata: metadata columns, in the connector's types.
        attributes: time attributes whose watermark the source makes; empty = none was pushed.
        delivered: the columns that the source delivers; None = all.
        filter: a condition that the source applies after its watermark.
        primary_key: its columns; empty = none.
        partition_keys: of PARTITIONED BY; empty = none.
        is_streaming: False = a bounded read without watermarks.
        statement: the statement over tables that change that reads it, see `ScanOptions.statement`.
        aggregation: the aggregates that it delivers in place of rows, or why it does not; only for EXPLAIN.
    """

    table: str
    connector: Connector
    options: Mapping[str, str] = field(repr=False)
    columns: tuple[ScanColumn, ...]
    metadata: tuple[ResolvedMetadata, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    delivered: tuple[str, ...] | None = None
    filter: str | None = None
    primary_key: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    is_streaming: bool = True
    statement: str = ""
    aggregation: ScanAggregates | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that it could deliver."""
        return (*(c.name for c in self.columns), *(m.name for m in self.metadata))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectColumn:
    """A column of the table.

    The expression is Spark SQL over the input's columns; a plain one is the input's column of that name, untouched.
    """

    name: str
    expression: str
    is_plain: bool = False
    time: TimeKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Columns made from the input's."""

    input: Node
    columns: tuple[ProjectColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkAssigner:
    """Watermarks that Spark computes from the rows that reach it.

    Attributes:
        attributes: time attributes and their watermarks over the input's columns.
        reason: why the source does not make them; "" = no rule has looked yet.
    """

    input: Node
    attributes: tuple[Attribute, ...]
    reason: str = field(default="")


Node = TableScan | Project | WatermarkAssigner


def scan_of(node: Node) -> TableScan:
    """Return the scan at the bottom."""
    while not isinstance(node, TableScan):
        node = node.input
    return node


def with_scan(node: Node, scan: TableScan) -> Node:
    """Return the tree with another scan at the bottom."""
    return scan if isinstance(node, TableScan) else replace(node, input=with_scan(node.input, scan))


def assigner_of(node: Node) -> WatermarkAssigner | None:
    """Return the WatermarkAssigner of the tree, if its watermark was not pushed."""
    while not isinstance(node, TableScan):
        if isinstance(node, WatermarkAssigner):
            return node
        node = node.input
    return None


def attributes_of(node: Node) -> tuple[Attribute, ...]:
    """Return the time attributes, wherever their watermark is made."""
    assigner = assigner_of(node)
    return scan_of(node).attributes if assigner is None else assigner.attributes
