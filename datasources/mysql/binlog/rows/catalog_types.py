"""Columns that the binlog describes as another type, which only the server's catalog tells apart.

MariaDB describes an INET6 as a BINARY(16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pyarrow as pa

from datasources.mysql.binlog.rows.table_map import TableMap
from datasources.mysql.types.column import ColumnType, ZeroDates
from datasources.mysql.types.decoders.cells import Cells
from datasources.mysql.types.storage import ColumnStorage, Decoder, Described
from datasources.mysql.types.type_table import ROWS, TYPES

_AMBIGUOUS = frozenset(row.described.type for row in ROWS if row.described is not None)


def is_ambiguous(described: ColumnType) -> bool:
    """Return whether a column that is described so may have another type in the catalog."""
    return described in _AMBIGUOUS


def with_catalog_types(table: TableMap, catalog: Mapping[str, ColumnType]) -> TableMap:
    """Return the table with the catalog's types of the columns that are described as others.

    A column that is not described as the catalog's type would be had another type then, and stays as it is described.
    """
    columns = tuple(_typed(column, catalog.get(name)) for name, column in zip(table.names, table.columns, strict=True))
    return replace(table, columns=columns)


def _typed(column: ColumnStorage, own: ColumnType | None) -> ColumnStorage:
    described = None if own is None else TYPES[own.kind].described
    if own is None or described is None or described.type != column.type:
        return column
    return replace(column, type=own, decode=_converted(column.decode, described))


@cache
def _converted(decode: Decoder, described: Described) -> Decoder:
    """Return a decoder of the own type; cached, so that equal table maps are equal."""

    def converted(cells: Cells, _column: ColumnType, zero_dates: ZeroDates) -> pa.Array:
        return described.convert(decode(cells, described.type, zero_dates))

    return converted
