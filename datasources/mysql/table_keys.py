"""Keys and columns of tables, as information_schema lists them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.mysql.snapshot.bounds_key import Index, KeyColumn

__all__ = ["ColumnFacts", "TableParts", "read_parts"]

_INDEXES: Final = """
SELECT table_schema, table_name, index_name, column_name, nullable = 'YES' OR sub_part IS NOT NULL
FROM information_schema.statistics WHERE non_unique = 0 AND table_schema IN ({marks}){more}
ORDER BY table_schema, table_name, index_name, seq_in_index"""
_COLUMNS: Final = """
SELECT table_schema, table_name, column_name, data_type, column_type, character_set_name, collation_name, extra
FROM information_schema.columns WHERE table_schema IN ({marks}){more}
ORDER BY table_schema, table_name, ordinal_position"""

Name = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """One column.

    Attributes:
        column: What it would be as a part of a key.
        is_invisible: Whether ``SELECT *`` leaves it out.
    """

    column: KeyColumn
    is_invisible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableParts:
    """What a table is made of.

    Attributes:
        columns: Its columns by name, in the table's order.
        indexes: Its unique indexes.
    """

    columns: Mapping[str, ColumnFacts]
    indexes: tuple[Index, ...]


def read_parts(cursor: Any, databases: Sequence[str], table: str | None = None) -> Mapping[Name, TableParts]:
    """Return the parts of all tables of some databases.

    Args:
        cursor: Of a connection that may see them.
        databases: Names of databases.
        table: Only tables of this name.

    Returns:
        By database and table; tables that the login cannot see are not there.
    """
    if not databases:
        return {}
    marks, more = ", ".join(["%s"] * len(databases)), "" if table is None else " AND table_name = %s"
    values = [*databases] if table is None else [*databases, table]
    cursor.execute(_COLUMNS.format(marks=marks, more=more), values)
    columns: dict[Name, dict[str, ColumnFacts]] = defaultdict(dict)
    for database, name, *facts in cursor.fetchall():
        columns[database, name][facts[0]] = _column(*facts)
    cursor.execute(_INDEXES.format(marks=marks, more=more), values)
    members: dict[Name, dict[str, list[tuple[str | None, bool]]]] = defaultdict(lambda: defaultdict(list))
    for database, name, index, column, is_partial in cursor.fetchall():
        members[database, name][index].append((column, bool(is_partial)))
    return {
        table: TableParts(
            columns=its, indexes=tuple(_index(name, parts, its) for name, parts in members[table].items())
        )
        for table, its in columns.items()
    }


def _column(  # noqa: PLR0913, PLR0917 - a row of the catalog
    name: str, kind: str, whole: str | bytes, charset: str | None, collation: str | None, extra: str | None
) -> ColumnFacts:
    text = whole.decode() if isinstance(whole, bytes) else whole
    column = KeyColumn(name=name, data_type=kind.lower(), column_type=text, charset=charset, collation=collation)
    return ColumnFacts(column=column, is_invisible="INVISIBLE" in (extra or "").upper())


def _index(name: str, members: Iterable[tuple[str | None, bool]], columns: Mapping[str, ColumnFacts]) -> Index:
    """Return an index of (column or None for an expression, whether that tells not enough) pairs."""
    parts = list(members)
    known = tuple(columns[column].column for column, _ in parts if column is not None and column in columns)
    is_complete = len(known) == len(parts) and not any(is_partial for _, is_partial in parts)
    return Index(name=name, columns=known, is_complete=is_complete)
