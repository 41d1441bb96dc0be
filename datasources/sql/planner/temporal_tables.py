"""Properties of a table as a side of a temporal join: versioning, changelog columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from datasources.formats.format_table import FORMATS
from datasources.options import lower_keys
from datasources.sql.planner.connectors import Connector
from datasources.sql.query.block.temporal_request import TableTraits
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedMetadata, ResolvedTable

ROW_KIND: Final = "__tidemark_row_kind"
"""The column with the kind of change, where the connector knows it."""
SEQUENCE: Final = "__tidemark_sequence"
"""The column with a change's position in its log, if the connector has one."""

_KEYS: Final = {ROW_KIND: "row_kind", SEQUENCE: "_seq"}
CHANGELOG_NAMES: Final = (*_KEYS, *_KEYS.values())
"""What those columns may be called."""


def traits_of(table: ResolvedTable, connector: Connector, options: Mapping[str, str]) -> TableTraits:
    """Return a table as a side of a join.

    The statement's options go before the table's own.
    """
    given = {**connector.options, **lower_keys(table.options), **lower_keys(options)}
    value_format = FORMATS.get(given.get("value.format", given.get("format", "")))
    emits_changes = given.get("scan.upsert", "").lower() == "true" or (
        value_format is not None and value_format.is_changelog
    )
    return TableTraits(
        connector=connector.name,
        primary_key=table.primary_key,
        rowtimes=tuple(watermark.column for watermark in table.watermarks),
        proctimes=tuple(column.name for column in table.columns if column.proctime),
        is_changelog=connector.is_changelog or (connector.is_ours and emits_changes) or _has_own_kind(table, connector),
        has_history=connector.has_history,
        can_wait=connector.is_ours,
    )


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


def with_changelog(table: ResolvedTable, connector: Connector) -> ResolvedTable:
    """Return the table with `ROW_KIND` and `SEQUENCE`, as far as the connector has such metadata."""
    known = {name: key for name, key in _KEYS.items() if key in connector.metadata_types}
    types = connector.metadata_types
    columns = [ResolvedColumn(name=name, spark_type=types[key], metadata_key=key) for name, key in known.items()]
    metadata = [ResolvedMetadata(name=name, key=key, source_type=types[key]) for name, key in known.items()]
    return replace(table, columns=(*table.columns, *columns), metadata=(*table.metadata, *metadata))
