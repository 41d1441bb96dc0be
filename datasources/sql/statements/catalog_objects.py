"""The objects of the catalog, defined by CREATE TABLE, CREATE VIEW and CREATE FUNCTION.

They hold what the user wrote, unresolved: `resolve` checks columns and types. Spans point into the statement that they
were parsed from; they do not take part in equality, and are None for objects loaded from a catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.grammar.source_text import Span
from datasources.grammar.sql_types import SqlType


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicalColumn:
    """A column that is stored in the records. `name TYPE [NOT NULL] [COMMENT 'text']`."""

    name: str
    type: SqlType
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataColumn:
    """A column about a record. `name TYPE METADATA [FROM 'key'] [VIRTUAL]`; key None = the column's name."""

    name: str
    type: SqlType
    key: str | None = None
    is_virtual: bool = False
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedColumn:
    """A column made from others. `name AS expression [COMMENT 'text']`."""

    name: str
    expression: str
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    expression_span: Span | None = field(default=None, compare=False, repr=False)


Column = PhysicalColumn | MetadataColumn | ComputedColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkSpec:
    """`WATERMARK FOR rowtime AS expression`.

    ``rowtime`` has the names that lead to the attribute: ("ts",), ("a", "b", "c").
    """

    rowtime: tuple[str, ...]
    expression: str
    span: Span | None = field(default=None, compare=False, repr=False)
    rowtime_span: Span | None = field(default=None, compare=False, repr=False)
    expression_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryKey:
    """`[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED`."""

    columns: tuple[str, ...]
    name: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionKeys:
    """`PARTITIONED BY (columns)`: the files of a table are in one directory for each of their values."""

    columns: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """A table.

    Attributes:
        name: as written; names are found whatever their case.
        columns: in the order of the statement.
        watermarks: one or several.
        partition_keys: of tables of files.
        options: the options of WITH, keys and values as written, `${env:X}` not expanded; not in the repr.
        dialect: what its expressions are written in, a value of `settings.SqlDialect`.
    """

    name: str
    columns: tuple[Column, ...] = ()
    watermarks: tuple[WatermarkSpec, ...] = ()
    primary_key: PrimaryKey | None = None
    partition_keys: PartitionKeys | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    comment: str | None = None
    is_temporary: bool = False
    dialect: str = "spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDefinition:
    """A view: the text of its query, its dialect, and names for its columns if they were given."""

    name: str
    query: str
    columns: tuple[str, ...] = ()
    comment: str | None = None
    is_temporary: bool = False
    dialect: str = "spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinition:
    """A Python function. `CREATE [TEMPORARY] FUNCTION name AS 'package.module.attribute' [LANGUAGE PYTHON]`.

    The attribute is a function of Arrow arrays with a result type (`datasources.sql.definitions.python_functions`).
    """

    name: str
    path: str
    is_temporary: bool = False
