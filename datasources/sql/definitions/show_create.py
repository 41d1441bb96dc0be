"""SHOW CREATE TABLE, VIEW and FUNCTION: a definition as the statement that creates it.

A literal secret is shown as `******`, and a statement with that value is rejected; everything else parses back to an
equal definition.
"""

from __future__ import annotations

from dataclasses import replace

from datasources.sql.definitions.definition_text import function_text, table_text, view_text
from datasources.sql.definitions.option_secrets import shown
from datasources.sql.definitions.properties import Definition
from datasources.sql.statements.catalog_objects import TableDefinition, ViewDefinition

__all__ = ["show_create"]


def show_create(definition: Definition) -> str:
    """Return the statement that defines an object, without a semicolon."""
    if isinstance(definition, TableDefinition):
        return table_text(replace(definition, options=shown(definition.options)))
    if isinstance(definition, ViewDefinition):
        return view_text(definition)
    return function_text(definition)
