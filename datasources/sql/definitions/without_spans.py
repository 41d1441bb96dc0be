"""Definitions without spans: the statement text that they point into is gone when definitions are used."""

from __future__ import annotations

from dataclasses import replace

from datasources.sql.definitions.properties import Definition
from datasources.sql.statements.catalog_objects import Column, ComputedColumn, TableDefinition


def without_spans(definition: Definition) -> Definition:
    """Return an equal definition without spans."""
    if not isinstance(definition, TableDefinition):
        return definition
    key, partitions = definition.primary_key, definition.partition_keys
    return replace(
        definition,
        columns=tuple(map(_column, definition.columns)),
        watermarks=tuple(
            replace(each, span=None, rowtime_span=None, expression_span=None) for each in definition.watermarks
        ),
        primary_key=None if key is None else replace(key, span=None),
        partition_keys=None if partitions is None else replace(partitions, span=None),
        options=dict(definition.options),
    )


def _column(column: Column) -> Column:
    if isinstance(column, ComputedColumn):
        return replace(column, span=None, expression_span=None)
    return replace(column, span=None)
