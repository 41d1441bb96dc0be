"""Column types from information_schema.COLUMNS."""

from __future__ import annotations

import re

from datasources.mysql.types.column import ColumnType
from datasources.mysql.types.declarations import Declaration
from datasources.mysql.types.type_table import DECLARED


def column_type_of(column_type: str, charset: str | None, *, column: str) -> ColumnType:
    """Return the type of a column as information_schema.COLUMNS describes it.

    Args:
        column_type: COLUMN_TYPE, such as ``decimal(10,2) unsigned`` or ``enum('a','b')``.
        charset: CHARACTER_SET_NAME; None for columns without text.
        column: the column's name, for the error.

    Raises:
        SchemaError: the type has no exact counterpart.
    """
    declaration = Declaration(text=column_type.strip(), charset=charset, column=column)
    if "/*!100301 compressed*/" in column_type.lower():
        raise declaration.refused("remove COMPRESSED from the column")
    word = re.split(r"[\s(/]", declaration.text, maxsplit=1)[0].lower()
    if word not in DECLARED:
        raise declaration.refused("leave the column out of the columns that are read")
    return DECLARED[word].declared[word](declaration)
