"""How the columns of a table are in files of a format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from datasources.grammar.literals import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class FileColumn:
    """A column that files hold: its name and its type as Spark DDL."""

    name: str
    spark_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutRequest:
    """What a layout is made for.

    Attributes:
        table: the table's name.
        options: of the table, keys in lower case.
        columns: those that the files hold.
    """

    table: str
    options: Mapping[str, str]
    columns: tuple[FileColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """A column in the files.

    Attributes:
        name: of the column.
        stored_type: the type, as Spark DDL, in which Spark reads it.
        text: SQL over the columns as they are read: what `value` is made of; it is computed once.
        value: SQL over the texts: the value in the table.
        written: SQL over the table's columns: what is written.
    """

    name: str
    stored_type: str
    text: str
    value: str
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """Files of a format.

    Attributes:
        spark_format: Spark's name of the format.
        columns: in the order of the files.
        read_options: of Spark's reader.
        write_options: of Spark's writer.
        hidden: the name of a further text column, behind the others, that is read for `condition`; "" = none.
        condition: SQL over the columns as they are read: the rows that the table has; "" = all.
        not_written: why such files are not written; "" = they are.
    """

    spark_format: str
    columns: tuple[StoredColumn, ...]
    read_options: Mapping[str, str] = field(default_factory=dict)
    write_options: Mapping[str, str] = field(default_factory=dict)
    hidden: str = ""
    condition: str = ""
    not_written: str = ""


def typed_layout(request: LayoutRequest, spark_format: str, *, options: Mapping[str, str]) -> FileLayout:
    """Return the layout of a format whose files have the table's own types."""
    return FileLayout(
        spark_format=spark_format,
        columns=tuple(typed_column(each) for each in request.columns),
        read_options=options,
        write_options=options,
    )


def typed_column(column: FileColumn, *, written: str = "") -> StoredColumn:
    """Return a column that is in the files as it is in the table, or written by another expression."""
    name = quoted(column.name)
    return StoredColumn(name=column.name, stored_type=column.spark_type, text=name, value=name, written=written or name)
