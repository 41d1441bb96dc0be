"""Properties of a table as a side of a temporal join: versioning, changelog columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from datasources.formats.format_table import FORMATS
from datasources.options import lower_keys
from datasources.sql.planner.connectors import Connector
from datasources.sql.query.block.relation import ROW_KIND_COLUMN
from datasources.sql.query.block.temporal_request import TableTraits
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedMetadata, ResolvedTable

ROW_KIND: Final = ROW_KIND_COLUMN
"""The column with the kind of change, where the connector knows it."""
SEQUENCE: Final = "__tidemark_sequence"
"""The column with a change's position in its log, if the connector has one."""
OFFSET: Final = "__tidemark_offset"
"""The column with the position of an upsert in its partition."""
PARTITION: Final = "__tidemark_log_partition"
"""The column with the partition of an upsert."""

_KEYS: Final = {ROW_KIND: "row_kind", SEQUENCE: "_seq"}
CHANGELOG_NAMES: Final = (*_KEYS, *_KEYS.values())
"""What those columns may be called."""
CHANGELOG_METADATA: Final[Mapping[str, str]] = MappingProxyType(_KEYS)
"""The changelog columns, and their metadata keys."""
UPSERT_METADATA: Final[Mapping[str, str]] = MappingProxyType(
    {ROW_KIND: "row_kind", OFFSET: "offset", PARTITION: "partition"}
)
"""The columns of an upsert that say which one of its key is the last."""


def traits_of(table: ResolvedTable, connector: Connector, options: Mapping[str, str]) -> TableTraits:
    """Return a table as a side of a join.

    The statement's options go before the table's own.
    """
    return TableTraits(
        connector=connector.name,
        primary_key=table.primary_key,
        rowtimes=tuple(watermark.column for watermark in table.watermarks),
        proctimes=tuple(column.name for column in table.columns if column.proctime),
        is_changelog=_emits_changes(table, connector, options) or _has_own_kind(table, connector),
        has_history=connector.has_history,
        can_wait=connector.is_ours,
    )


def is_table_that_changes(table: ResolvedTable, connector: Connector, options: Mapping[str, str]) -> bool:
    """Return whether a query over a table is one over its rows, which its events change.

    A table that declares a column with the row kind is one of events.
    """
    kind = _KEYS[ROW_KIND]
    declares_kind = any(column.metadata_key == kind for column in table.columns) or _has_own_kind(table, connector)
    return _emits_changes(table, connector, options) and not declares_kind


def is_upsert(table: ResolvedTable, connector: Connector, options: Mapping[str, str]) -> bool:
    """Return whether the events of a table are upserts and deletes by key, without before-images."""
    return _given(table, connector, options).get("scan.upsert", "").lower() == "true"


def _emits_changes(table: ResolvedTable, connector: Connector, options: Mapping[str, str]) -> bool:
    given = _given(table, connector, options)
    value_format = FORMATS.get(given.get("value.format", given.get("format", "")))
    is_changelog = is_upsert(table, connector, options) or (value_format is not None and value_format.is_changelog)
    return connector.is_changelog or (connector.is_ours and is_changelog)


def _given(table: ResolvedTable, connector: Connector, options: Mapping[str, str]) -> Mapping[str, str]:
    return {**connector.options, **lower_keys(table.options), **lower_keys(options)}


def _has_own_kind(table: ResolvedTable, connector: Connector) -> bool:
    """Whether the table has a changelog column of its own, because the connector has none."""
    kind = _KEYS[ROW_KIND]
    return kind not in connector.metadata_types and any(column.name.lower() == kind for column in table.columns)


def changelog_columns(names: Collection[str]) -> tuple[str | None, str | None]:
    """Return the columns with kind and span of a change among those that a table delivers.

    Where the connector knows neither, the table may have columns of its own for them, called as on DataFrames.
    """
    by_name = {name.lower(): name for name in names}
    kind, span = ((own, key) for own, key in _KEYS.items())
    return _first(by_name, kind), _first(by_name, span)


def _first(names: Mapping[str, str], wanted: Sequence[str]) -> str | None:
    return next((names[each] for each in wanted if each in names), None)


def with_metadata(table: ResolvedTable, connector: Connector, keys: Mapping[str, str]) -> ResolvedTable:
    """Return the table with metadata columns (name -> key), as far as the connector has such metadata."""
    known = {name: key for name, key in keys.items() if key in connector.metadata_types}
    types = connector.metadata_types
    columns = [ResolvedColumn(name=name, spark_type=types[key], metadata_key=key) for name, key in known.items()]
    metadata = [ResolvedMetadata(name=name, key=key, source_type=types[key]) for name, key in known.items()]
    return replace(table, columns=(*table.columns, *columns), metadata=(*table.metadata, *metadata))
