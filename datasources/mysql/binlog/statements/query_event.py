"""The QUERY event: the statement, and the session variables by which it is decoded.

Source: MySQL's libbinlogevents (statement_events.h, Query_event::Query_event_status_vars), MariaDB's log_event.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from datasources.errors import RecordError, SchemaError
from datasources.mysql.binlog.events.cursor import ByteCursor
from datasources.mysql.types.charsets import BINARY, charset_of_collation, decode_bytes

_SQL_MODE: Final = 1
_CHARSET: Final = 4
_DATABASES: Final = 12
_TOO_MANY: Final = 254
_FIXED: Final = {0: 4, _SQL_MODE: 8, 3: 4, _CHARSET: 6, 7: 2, 8: 2, 9: 8, 10: 4, 13: 3, 16: 1, 17: 8, 18: 2, 19: 1}
_UTF8: Final = "utf-8"
_NOT_ASCII: Final = "swe7"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEvent:
    """A statement with its session.

    Attributes:
        text: the statement.
        database: the default database.
        sql_mode: bits of the session's sql_mode.
        databases: those whose tables the statement changes, triggers and functions included; None = unknown.
        is_certain: whether the text is the server's: its bytes are valid in the client's character set.
    """

    text: str
    database: str
    sql_mode: int
    databases: frozenset[str] | None
    is_certain: bool


def parse_query_event(body: bytes) -> QueryEvent:
    """Return the statement of a QUERY event.

    The body is the event without header and checksum.

    Raises:
        RecordError: the event is damaged.
    """
    cursor = ByteCursor(body, 8)
    schema_length = cursor.number(1)
    cursor.take(2)
    variables = _variables(cursor.take(cursor.number(2)))
    database = cursor.take(schema_length)
    cursor.take(1)
    mode, databases = variables.get(_SQL_MODE), variables.get(_DATABASES)
    text, is_certain = _decoded(body[cursor.at :], variables.get(_CHARSET))
    return QueryEvent(
        text=text,
        database=database.decode(_UTF8, "replace"),
        sql_mode=int.from_bytes(mode or b"", "little"),
        databases=None if databases is None else frozenset(databases.decode(_UTF8, "replace").split("\0")[:-1]),
        is_certain=is_certain and mode is not None,
    )


def _variables(data: bytes) -> dict[int, bytes]:
    """Return the variables up to the first unknown one, whose length is unknown too."""
    cursor, found = ByteCursor(data), dict[int, bytes]()
    while cursor.has_more:
        code = cursor.number(1)
        if code == _DATABASES:
            names = _database_names(cursor)
            if names is not None:
                found[code] = names
        elif code in _FIXED:
            found[code] = cursor.take(_FIXED[code])
        elif code in _LONG:
            _LONG[code](cursor)
        else:
            break
    return found


def _database_names(cursor: ByteCursor) -> bytes | None:
    count = cursor.number(1)
    if count == _TOO_MANY:
        return None
    names = bytearray()
    for _ in range(count):
        while (byte := cursor.take(1)) != b"\0":
            names += byte
        names += b"\0"
    return bytes(names)


def _counted(cursor: ByteCursor) -> None:
    cursor.take(cursor.number(1))


def _counted_and_ended(cursor: ByteCursor) -> None:
    cursor.take(cursor.number(1) + 1)


def _login(cursor: ByteCursor) -> None:
    _counted(cursor)
    _counted(cursor)


def _collations(cursor: ByteCursor) -> None:
    cursor.take(4 * cursor.number(1))


_LONG: Final[dict[int, Callable[[ByteCursor], None]]] = {
    2: _counted_and_ended,  # catalog
    5: _counted,  # time zone
    6: _counted,  # catalog
    11: _login,
    131: _collations,  # MariaDB's character_set_collations, where a statement names a character set
}


def _decoded(raw: bytes, charset: bytes | None) -> tuple[str, bool]:
    try:
        name = None if charset is None else charset_of_collation(int.from_bytes(charset[:2], "little"))
        if name is None or name == BINARY or (raw.isascii() and name != _NOT_ASCII):
            return raw.decode(_UTF8), name is not None  # with `binary` the server reads names as UTF-8
        return decode_bytes(raw, name), True
    except (UnicodeDecodeError, RecordError, SchemaError):
        return raw.decode(_UTF8, "replace"), False
