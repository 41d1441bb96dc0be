"""Keys and columns of tables, as information_schema lists them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.mysql.connection.server_dialect import parse_version
from datasources.mysql.tables.chunk_key import Index, KeyColumn, TableName
from datasources.mysql.tables.key_values import is_divisible

HISTORY_IN_BINLOG: Final = "its binlog has old rows among those of today, and deletes as updates"
"""Why a system-versioned table cannot be read."""

_INDEXES: Final = """
SELECT table_schema, table_name, index_name, column_name,
  nullable = 'YES' OR sub_part IS NOT NULL OR index_type <> 'BTREE' OR {hidden}
FROM information_schema.statistics WHERE non_unique = 0 AND table_schema IN ({databases}){more}
ORDER BY table_schema, table_name, index_name, seq_in_index"""
_COLUMNS: Final = """
SELECT table_schema, table_name, column_name, data_type, column_type, character_set_name, collation_name, extra
FROM information_schema.columns WHERE table_schema IN ({databases}){more}
ORDER BY table_schema, table_name, ordinal_position"""

# A server may hide the keys that it generates from the catalog. MariaDB has none, and ignores the comment.
_SHOW_GENERATED: Final = (
    "SET SESSION autocommit = 1 /*!80030 , SESSION show_gipk_in_create_table_and_information_schema = ON */"
)
# An index that is invisible to the optimizer cannot be named in a statement either.
_HIDDEN: Final = {False: "is_visible = 'NO'", True: "ignored = 'YES'"}

# MariaDB's index pads the values of a CHAR with such a collation with spaces, and its comparisons do not.
_NO_PAD: Final = re.compile("_nopad_|_0900_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnInfo:
    """One column."""

    column: KeyColumn
    is_invisible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCatalog:
    """Columns and unique indexes of a table."""

    columns: Mapping[str, ColumnInfo]
    indexes: tuple[Index, ...]


def read_catalog(cursor: Any, databases: Sequence[str], tables: Sequence[str] = ()) -> Mapping[TableName, TableCatalog]:
    """Return columns and indexes of all tables of some databases, with a constant number of statements.

    Only tables of the given names are read; empty = all.

    Returns:
        By database and table; tables that the login cannot see are left out.
    """
    if not databases:
        return {}
    cursor.execute(_SHOW_GENERATED)
    in_databases = placeholders(databases)
    more = f" AND table_name IN ({placeholders(tables)})" if tables else ""
    values = [*databases, *tables]
    is_mariadb = parse_version(cursor.connection.get_server_info()).is_mariadb
    cursor.execute(_COLUMNS.format(databases=in_databases, more=more), values)
    columns: dict[TableName, dict[str, ColumnInfo]] = defaultdict(dict)
    for database, name, *row in cursor.fetchall():
        columns[database, name][row[0]] = _column(*row, is_mariadb=is_mariadb)
    cursor.execute(_INDEXES.format(databases=in_databases, more=more, hidden=_HIDDEN[is_mariadb]), values)
    members: dict[TableName, dict[str, list[tuple[str | None, bool]]]] = defaultdict(lambda: defaultdict(list))
    for database, name, index, column, is_partial in cursor.fetchall():
        members[database, name][index].append((column, bool(is_partial)))
    return {
        table: TableCatalog(
            columns=its, indexes=tuple(_index(name, its_members, its) for name, its_members in members[table].items())
        )
        for table, its in columns.items()
    }


def placeholders(values: Sequence[str]) -> str:
    """Return a placeholder for each value, for IN (...)."""
    return ", ".join(["%s"] * len(values))


def _column(  # noqa: PLR0913, PLR0917 - a row of the catalog
    name: str,
    kind: str,
    whole: str | bytes,
    charset: str | None,
    collation: str | None,
    extra: str | None,
    *,
    is_mariadb: bool,
) -> ColumnInfo:
    text = whole.decode() if isinstance(whole, bytes) else whole
    column = KeyColumn(
        name=name,
        data_type=kind.lower(),
        column_type=text,
        charset=charset,
        collation=collation,
        has_index_order=not (is_mariadb and kind.lower() == "char" and _NO_PAD.search(collation or "")),
    )
    return ColumnInfo(column=column, is_invisible="INVISIBLE" in (extra or "").upper())


def _index(name: str, members: Iterable[tuple[str | None, bool]], columns: Mapping[str, ColumnInfo]) -> Index:
    """Return an index of pairs: column, None for an expression; and whether it is unusable."""
    pairs = list(members)
    known = tuple(columns[column].column for column, _ in pairs if column is not None and column in columns)
    is_complete = len(known) == len(pairs) and not any(is_partial for _, is_partial in pairs)
    return Index(
        name=name, columns=known, is_complete=is_complete, is_divisible=is_complete and all(map(is_divisible, known))
    )
