"""Tables, views and functions as flat text properties, the format of the catalog.

The keys of version 1 (n, m count from 0):

    tidemark.catalog.version                       '1'
    tidemark.catalog.kind                          'table', 'view' or 'function'
    tidemark.catalog.name                          as declared
    comment                                        of a table or view
    sql-dialect                                    'flink': expressions are in Flink SQL; strings have Spark's escapes

    schema.n.name                                  a column, in the order of the DDL
    schema.n.data-type                             SQL text of its type; of physical and metadata columns
    schema.n.expr                                  of a computed column: its expression as written
    schema.n.metadata                              of a metadata column: its key; '' = the column's name
    schema.n.virtual                               'true' for a VIRTUAL metadata column
    schema.n.comment
    schema.watermark.m.rowtime                     'f1.q2'; a name that is not a plain word is in backquotes
    schema.watermark.m.strategy.expression         as written
    schema.watermark.m.strategy.datatype           the type of its value, if known when the table was stored
    schema.primary-key.name
    schema.primary-key.columns                     'id;region', names quoted like those of rowtime
    partition.keys                                 of PARTITIONED BY, like those of the primary key
    options.<key>                                  the options of WITH, `${env:X}` unexpanded. They have a prefix of
                                                   their own: 'comment' and 'schema' are options of some connectors

    view.query                                     the view's text
    view.columns                                   its columns' names, like those of the primary key
    function.path                                  'package.module.attribute'

Version 0, the first draft of FLIP-66, is read as well and never written: no version and no kind, at most one
watermark without a number (`schema.watermark.rowtime`, `schema.watermark.strategy.expression`), no datatype.
A property that is not in this list is an error: a typing mistake, or written by a later version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from datasources.errors import InternalError, SqlError
from datasources.sql.definitions.property_reader import PropertyReader
from datasources.sql.statements.catalog_objects import (
    Column,
    ComputedColumn,
    FunctionDefinition,
    MetadataColumn,
    PartitionKeys,
    PhysicalColumn,
    PrimaryKey,
    TableDefinition,
    ViewDefinition,
    WatermarkSpec,
)
from datasources.sql.text.quoting import path_text
from datasources.sql.types.type_names import sql_text

Definition = TableDefinition | ViewDefinition | FunctionDefinition

VERSION: Final = 1
_VERSION_KEY: Final = "tidemark.catalog.version"
_KIND_KEY: Final = "tidemark.catalog.kind"
_NAME_KEY: Final = "tidemark.catalog.name"
_DIALECT_KEY: Final = "sql-dialect"
_OPTIONS: Final = "options."
_PARTITIONS: Final = "partition.keys"
_DEFAULT_DIALECT: Final = "spark"
_DIALECTS: Final = (_DEFAULT_DIALECT, "flink")
_FIRST_DRAFT: Final = {
    "schema.watermark.rowtime": "schema.watermark.0.rowtime",
    "schema.watermark.strategy.expression": "schema.watermark.0.strategy.expression",
}


def properties_of(definition: Definition, *, datatypes: Sequence[str] = ()) -> dict[str, str]:
    """Return the properties of a definition, in the newest version.

    Args:
        definition: a permanent one.
        datatypes: of the watermarks' expressions, in their order; empty = not known.
    """
    if definition.is_temporary:
        raise InternalError(f"'{definition.name}' is temporary and has no properties")
    if isinstance(definition, TableDefinition):
        kind, own = "table", _of_table(definition, datatypes)
    elif isinstance(definition, ViewDefinition):
        kind, own = "view", _of_view(definition)
    else:
        kind, own = "function", {"function.path": definition.path}
    return {_VERSION_KEY: str(VERSION), _KIND_KEY: kind, _NAME_KEY: definition.name, **own}


def definition_of(properties: Mapping[str, str], *, name: str = "") -> Definition:
    """Return the definition that properties of any version hold.

    ``name`` is for properties of version 0, which have none.

    Raises:
        SqlError: they were written by a newer version, or are not what any version writes; it names the property.
    """
    reader = PropertyReader(_upgraded(properties, name))
    kind = reader.required(_KIND_KEY)
    reader.required(_VERSION_KEY)
    if kind not in _READERS:
        raise SqlError(f"property '{_KIND_KEY}' = '{kind}': it is one of {', '.join(map(repr, _READERS))}.")
    definition = _READERS[kind](reader)
    reader.refuse_rest()
    return definition


def _of_table(table: TableDefinition, datatypes: Sequence[str]) -> dict[str, str]:
    found: dict[str, str | None] = {"comment": table.comment, **_of_dialect(table.dialect)}
    for index, column in enumerate(table.columns):
        found |= {f"schema.{index}.{key}": value for key, value in _of_column(column).items()}
    for index, watermark in enumerate(table.watermarks):
        head = f"schema.watermark.{index}"
        found[f"{head}.rowtime"] = path_text(watermark.rowtime)
        found[f"{head}.strategy.expression"] = watermark.expression
        found[f"{head}.strategy.datatype"] = datatypes[index] if datatypes else None
    if table.primary_key is not None:
        found["schema.primary-key.name"] = table.primary_key.name
        found["schema.primary-key.columns"] = _names_text(table.primary_key.columns)
    if table.partition_keys is not None:
        found[_PARTITIONS] = _names_text(table.partition_keys.columns)
    found |= {f"{_OPTIONS}{key}": value for key, value in table.options.items()}
    return {key: value for key, value in found.items() if value is not None}


def _of_column(column: Column) -> dict[str, str | None]:
    found: dict[str, str | None] = {"name": column.name}
    if isinstance(column, ComputedColumn):
        found["expr"] = column.expression
    else:
        found["data-type"] = sql_text(column.type)
    if isinstance(column, MetadataColumn):
        found |= {"metadata": column.key or "", "virtual": "true" if column.is_virtual else None}
    return {**found, "comment": column.comment}


def _of_view(view: ViewDefinition) -> dict[str, str]:
    columns = {"view.columns": _names_text(view.columns)} if view.columns else {}
    comment = {} if view.comment is None else {"comment": view.comment}
    return {"view.query": view.query, **columns, **comment, **_of_dialect(view.dialect)}


def _of_dialect(dialect: str) -> dict[str, str]:
    return {} if dialect == _DEFAULT_DIALECT else {_DIALECT_KEY: dialect}


def _dialect(reader: PropertyReader) -> str:
    found = reader.optional(_DIALECT_KEY) or _DEFAULT_DIALECT
    if found not in _DIALECTS:
        raise SqlError(f"property '{_DIALECT_KEY}' = '{found}': it is one of {', '.join(map(repr, _DIALECTS))}.")
    return found


def _names_text(names: Sequence[str]) -> str:
    return ";".join(path_text((name,)) for name in names)


def _upgraded(properties: Mapping[str, str], name: str) -> dict[str, str]:
    """Return properties of the newest version."""
    text = properties.get(_VERSION_KEY, "0")
    if not text.isdecimal() or not text.isascii():
        raise SqlError(f"property '{_VERSION_KEY}' = '{text}': it is a whole number.")
    version = int(text)
    if version > VERSION:
        raise SqlError(
            f"it was written by a newer version of Tidemark (catalog version {version}; this one reads up to "
            f"{VERSION}). Use that version, or a newer one."
        )
    upgraded = dict(properties)
    if version == 0:
        upgraded = _from_first_draft(upgraded, name)
    return upgraded


def _from_first_draft(properties: Mapping[str, str], name: str) -> dict[str, str]:
    renamed = {_FIRST_DRAFT.get(key, key): value for key, value in properties.items()}
    return {_KIND_KEY: "table", _NAME_KEY: name, **renamed, _VERSION_KEY: "1"}


def _table(reader: PropertyReader) -> TableDefinition:
    return TableDefinition(
        name=reader.required(_NAME_KEY),
        columns=tuple(_column(reader, f"schema.{index}") for index in reader.numbers("schema")),
        watermarks=tuple(
            WatermarkSpec(
                rowtime=reader.path(f"schema.watermark.{index}.rowtime"),
                expression=_with_type(reader, f"schema.watermark.{index}.strategy"),
            )
            for index in reader.numbers("schema.watermark")
        ),
        primary_key=_primary_key(reader),
        partition_keys=_partition_keys(reader),
        options=reader.under(_OPTIONS),
        comment=reader.optional("comment"),
        dialect=_dialect(reader),
    )


def _with_type(reader: PropertyReader, head: str) -> str:
    reader.optional(f"{head}.datatype")
    return reader.required(f"{head}.expression")


def _column(reader: PropertyReader, head: str) -> Column:
    name = reader.required(f"{head}.name")
    comment = reader.optional(f"{head}.comment")
    expression = reader.optional(f"{head}.expr")
    if expression is not None:
        return ComputedColumn(name=name, expression=expression, comment=comment)
    kind = reader.type(f"{head}.data-type")
    key = reader.optional(f"{head}.metadata")
    if key is None:
        return PhysicalColumn(name=name, type=kind, comment=comment)
    is_virtual = reader.flag(f"{head}.virtual")
    return MetadataColumn(name=name, type=kind, key=key or None, is_virtual=is_virtual, comment=comment)


def _primary_key(reader: PropertyReader) -> PrimaryKey | None:
    columns = reader.names("schema.primary-key.columns")
    name = reader.optional("schema.primary-key.name") if columns else None
    return PrimaryKey(columns=columns, name=name) if columns else None


def _partition_keys(reader: PropertyReader) -> PartitionKeys | None:
    columns = reader.names(_PARTITIONS)
    return PartitionKeys(columns=columns) if columns else None


def _view(reader: PropertyReader) -> ViewDefinition:
    return ViewDefinition(
        name=reader.required(_NAME_KEY),
        query=reader.required("view.query"),
        columns=reader.names("view.columns"),
        comment=reader.optional("comment"),
        dialect=_dialect(reader),
    )


def _function(reader: PropertyReader) -> FunctionDefinition:
    return FunctionDefinition(name=reader.required(_NAME_KEY), path=reader.required("function.path"))


_READERS: Final[dict[str, Callable[[PropertyReader], Definition]]] = {
    "table": _table,
    "view": _view,
    "function": _function,
}
