"""A table of MySQL as the target of changes: what is proven of it before the first batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from datasources.errors import OptionError
from datasources.grammar.spark_type_names import sql_name_of
from datasources.near_matches import near_matches
from datasources.sinks.change_sink import SinkTable
from datasources.sinks.mysql.column_checks import ColumnWriter, MySqlColumn, column_writer

_TABLE: Final = "SELECT TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
_TABLES: Final = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s"
_COLUMNS: Final = (
    "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, "
    "DATETIME_PRECISION, COLLATION_NAME, IS_NULLABLE, COLUMN_DEFAULT, EXTRA FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION"
)
_KEYS: Final = (
    "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS "
    "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX"
)
_TRANSACTIONAL: Final = "innodb"
_NO_PAD: Final = ("_0900_bin", "_nopad_bin")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTable:
    """A table that takes the changes of a sink's table.

    Attributes:
        names: of its columns that are written, in the order of the sink's table.
        writers: how they are written, in that order.
        key: names of the columns of its unique key.
        key_writers: how they are written.
    """

    names: tuple[str, ...]
    writers: tuple[ColumnWriter, ...]
    key: tuple[str, ...]
    key_writers: tuple[ColumnWriter, ...]


def target_table(cursor: Any, database: str, name: str, table: SinkTable) -> TargetTable:
    """Return what is known of a target.

    Raises:
        OptionError: it is not there, or does not take the table's columns and key; says what to change.
    """
    _require_table(cursor, database, name)
    cursor.execute(_COLUMNS, (database, name))
    columns = {column.name.lower(): column for column in map(_column, cursor.fetchall())}
    _require_columns(table, columns, name)
    cursor.execute(_KEYS, (database, name))
    _require_key(table, columns, _unique_keys(cursor.fetchall()), name)
    keys = {each.lower() for each in table.key}
    fields = list(table.schema.fields)
    writers = tuple(
        column_writer(each.name, each.dataType, columns[each.name.lower()], is_key=each.name.lower() in keys)
        for each in fields
    )
    names = tuple(columns[each.name.lower()].name for each in fields)
    return TargetTable(
        names=names,
        writers=writers,
        key=tuple(name for name in names if name.lower() in keys),
        key_writers=tuple(writer for writer in writers if writer.name.lower() in keys),
    )


def _require_table(cursor: Any, database: str, name: str) -> None:
    cursor.execute(_TABLE, (database, name))
    found = cursor.fetchone()
    if found is None:
        cursor.execute(_TABLES, (database,))
        near = near_matches(name, [row[0] for row in cursor.fetchall()])
        raise OptionError(
            f"the database '{database}' has no table '{name}', or the login may not see it.{near} Create it first, "
            f"with a primary key: the sink creates no tables for rows."
        )
    kind, engine = found
    if kind != "BASE TABLE":
        raise OptionError(f"'{database}.{name}' is no table but a {kind}: name a table.")
    if str(engine).lower() != _TRANSACTIONAL:
        raise OptionError(
            f"the table '{database}.{name}' has the engine {engine}, which has no transactions, so a batch could be "
            f"written in part: ALTER TABLE {name} ENGINE = InnoDB."
        )


def _require_columns(table: SinkTable, columns: Mapping[str, MySqlColumn], name: str) -> None:
    declared = {each.name.lower() for each in table.schema.fields}
    for each in table.schema.fields:
        if each.name.lower() not in columns:
            near = near_matches(each.name, [column.name for column in columns.values()])
            raise OptionError(
                f"the target '{name}' has no column '{each.name}'.{near} It has "
                f"{', '.join(column.name for column in columns.values())}. Add it there "
                f"({sql_name_of(each.dataType.simpleString())}), or leave it out here."
            )
    for key, column in columns.items():
        if column.is_required and key not in declared:
            raise OptionError(
                f"the target's column '{column.name}' is NOT NULL without a default, and '{table.name}' does not "
                f"declare it, so no row could be added: declare it, or give it a default there."
            )


def _require_key(
    table: SinkTable, columns: Mapping[str, MySqlColumn], unique: Mapping[str, frozenset[str]], name: str
) -> None:
    """Require that rows are found by the table's key and by nothing else.

    `ON DUPLICATE KEY UPDATE` changes the row that any unique key finds: with another one, of an e-mail, say, it would
    change the row of another key. A key with a number that the server gives finds none.
    """
    wanted = frozenset(each.lower() for each in table.key)
    shown = ", ".join(table.key)
    if wanted not in unique.values():
        raise OptionError(
            f"the target '{name}' has no unique key of exactly the columns ({shown}), the PRIMARY KEY of "
            f"'{table.name}', so an upsert would not find its row: ALTER TABLE {name} ADD UNIQUE ({shown}), or declare "
            f"the PRIMARY KEY that it has."
        )
    declared = {each.name.lower() for each in table.schema.fields}
    for index, keys in unique.items():
        given_by_server = any(key in columns and columns[key].is_numbered and key not in declared for key in keys)
        if keys != wanted and not given_by_server:
            raise OptionError(
                f"the target '{name}' has another unique key, '{index}' ({', '.join(sorted(keys))}): an upsert that it "
                f"finds would change the row of another key. Drop it there: ALTER TABLE {name} DROP INDEX {index}."
            )


def _unique_keys(rows: Iterable[Sequence[Any]]) -> dict[str, frozenset[str]]:
    """Return the columns of each unique key; of one over an expression or the head of a text something else."""
    found: dict[str, set[str]] = {}
    for index, column, length in rows:
        is_plain = column is not None and length is None
        found.setdefault(index, set()).add(column.lower() if is_plain else f"{column}({length})")
    return {index: frozenset(columns) for index, columns in found.items()}


def _column(row: Sequence[Any]) -> MySqlColumn:
    name, data_type, column_type, length, precision, scale, fraction, collation, nullable, default, extra = row
    additional = str(extra).lower()
    is_generated = "virtual generated" in additional or "stored generated" in additional
    has_default = default is not None or "default_generated" in additional or "auto_increment" in additional
    return MySqlColumn(
        name=name,
        data_type=_text(data_type).lower(),
        column_type=_text(column_type).lower(),
        length=length,
        precision=precision or 0,
        scale=scale or 0,
        fraction=fraction or 0,
        collation=collation,
        pads_texts=not str(collation).endswith(_NO_PAD),
        is_required=nullable == "NO" and not has_default and not is_generated,
        is_generated=is_generated,
        is_numbered="auto_increment" in additional,
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
