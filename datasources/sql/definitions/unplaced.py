"""Definitions without the places of the statement that made them: the statement is gone when they are used."""

from __future__ import annotations

from dataclasses import replace

from datasources.sql.definitions.properties import Definition
from datasources.sql.statements.catalog_objects import Column, ComputedColumn, TableDefinition

__all__ = ["unplaced"]


def unplaced(definition: Definition) -> Definition:
    """Return an equal definition without places."""
    if not isinstance(definition, TableDefinition):
        return definition
    key = definition.primary_key
    return replace(
        definition,
        columns=tuple(map(_column, definition.columns)),
        watermarks=tuple(
            replace(each, place=None, rowtime_place=None, expression_place=None) for each in definition.watermarks
        ),
        primary_key=None if key is None else replace(key, place=None),
        options=dict(definition.options),
    )


def _column(column: Column) -> Column:
    if isinstance(column, ComputedColumn):
        return replace(column, place=None, expression_place=None)
    return replace(column, place=None)
