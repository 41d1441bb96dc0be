"""A table with bound names and types: the result of resolving a definition, and the input of planning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.sql.statements.catalog_objects import Column
from datasources.sql.types.time_kind import TimeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedColumn:
    """A column of the table, in the order of the DDL.

    Attributes:
        name: as declared.
        spark_type: Spark DDL text of its type: `TIMESTAMP_NTZ`, `STRUCT<a: INT>`.
        is_nullable: False = NOT NULL.
        expression: for a computed column: Spark SQL over physical and metadata columns only (references to other
            computed columns are inlined); None = it is stored or metadata.
        metadata_key: for a metadata column: the connector's key.
        proctime: whether it is `PROCTIME()`.
        declared: the column as the DDL has it; None = the table was made by other means.
    """

    name: str
    spark_type: str
    is_nullable: bool = True
    expression: str | None = None
    metadata_key: str | None = None
    proctime: bool = False
    declared: Column | None = None

    @property
    def is_physical(self) -> bool:
        """Whether the column is stored in the records."""
        return self.expression is None and self.metadata_key is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedMetadata:
    """A metadata column as the source gives it: name in the table, the connector's key, the connector's type."""

    name: str
    key: str
    source_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedWatermark:
    """A watermark.

    Attributes:
        path: the names that lead to the attribute.
        spark_type: `TIMESTAMP` or `TIMESTAMP_NTZ`.
        rowtime: the attribute as Spark SQL over physical and metadata columns (the column's name, or the inlined
            expression of a computed column).
        expression: the watermark over physical and metadata columns, computed columns inlined.
        written: the expression as the user wrote it, for DESCRIBE.
        named: the same as Spark reads it, over all of the table's columns by their names.
        is_source_watermark: whether it is `SOURCE_WATERMARK()` / `SYSTEM_WATERMARK()`; rowtime and expression are then
            the source's.
        datatype: the type of the expression's value, for the catalog's `strategy.datatype`.
    """

    path: tuple[str, ...]
    spark_type: str
    rowtime: str
    expression: str
    written: str
    named: str
    is_source_watermark: bool = False
    datatype: str = ""

    @property
    def column(self) -> str:
        """The name of the top-level column that carries the attribute: `a_b_c` for a nested one."""
        return "_".join(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTable:
    """A table.

    Attributes:
        name: as declared.
        columns: all of them, in the order of the DDL.
        metadata: the metadata columns among them, in that order.
        watermarks: in that order.
        primary_key: names; empty = none.
        partition_keys: names of PARTITIONED BY; empty = none.
        options: as declared, `${env:X}` unexpanded.
    """

    name: str
    columns: tuple[ResolvedColumn, ...]
    metadata: tuple[ResolvedMetadata, ...] = ()
    watermarks: tuple[ResolvedWatermark, ...] = ()
    primary_key: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def time_of(self, column: ResolvedColumn) -> TimeKind | None:
        """Return whether a column is a time attribute, and which."""
        if column.proctime:
            return TimeKind.PROCTIME
        is_rowtime = any(w.path == (column.name,) for w in self.watermarks)
        return TimeKind.ROWTIME if is_rowtime else None
