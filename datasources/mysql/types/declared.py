"""Column types from information_schema.COLUMNS."""

from __future__ import annotations

import re
from typing import Final

from datasources.errors import SchemaError
from datasources.mysql.types.charsets import BINARY
from datasources.mysql.types.column import ColumnType, Kind

_INTEGERS: Final = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}
_TEXTS: Final = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext"})
_BYTES: Final = frozenset({"varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
_TIMES: Final = {"time": Kind.TIME, "datetime": Kind.DATETIME, "timestamp": Kind.TIMESTAMP}
_SIMPLE: Final = {
    "float": Kind.FLOAT,
    "double": Kind.DOUBLE,
    "date": Kind.DATE,
    "year": Kind.YEAR,
    "json": Kind.JSON,
    "vector": Kind.VECTOR,
}
_GEOMETRIES: Final = frozenset(
    {
        "geometry",
        "point",
        "linestring",
        "polygon",
        "multipoint",
        "multilinestring",
        "multipolygon",
        "geomcollection",
        "geometrycollection",
    }
)
_MEMBER: Final = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_ESCAPED: Final = re.compile(r"''|\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "r": "\r", "0": "\0"}
_NUMBERS: Final = re.compile(r"\w+\s*\((\d+)(?:,(\d+))?\)")


def column_type_of(column_type: str, charset: str | None, *, column: str) -> ColumnType:
    """Return the type of a column as information_schema.COLUMNS describes it.

    Args:
        column_type: COLUMN_TYPE, such as ``decimal(10,2) unsigned`` or ``enum('a','b')``.
        charset: CHARACTER_SET_NAME; None for columns without text.
        column: the column's name, for the error.

    Raises:
        SchemaError: the type has no exact counterpart.
    """
    text = column_type.strip()
    word = re.split(r"[\s(/]", text, maxsplit=1)[0].lower()
    if "/*!100301 compressed*/" in text.lower():
        raise _refused(column, column_type, "remove COMPRESSED from the column")
    if word in ("enum", "set"):
        return ColumnType(kind=Kind(word), members=members_of(text), charset=charset or BINARY)
    if word in _TEXTS and charset is not None:
        return ColumnType(kind=Kind.TEXT, charset=charset)
    if word in _BYTES or word in _TEXTS:
        return ColumnType(kind=Kind.BINARY)
    if word in _GEOMETRIES:
        return ColumnType(kind=Kind.GEOMETRY)
    if word in _SIMPLE:
        return ColumnType(kind=_SIMPLE[word])
    return _with_numbers(word, text, column, column_type)


def members_of(column_type: str) -> tuple[str, ...]:
    """Return the members of an ENUM or SET in the order of their numbers.

    A character beyond U+FFFF is ``?`` in information_schema, whose texts are utf8mb3.
    """
    return tuple(_ESCAPED.sub(_unescaped, quoted) for quoted in _MEMBER.findall(column_type))


def _unescaped(match: re.Match[str]) -> str:
    return "'" if match[1] is None else _ESCAPES.get(match[1], match[1])


def _with_numbers(word: str, text: str, column: str, column_type: str) -> ColumnType:
    match = _NUMBERS.match(text)
    numbers = [] if match is None else [int(number) for number in match.groups(default="0")]
    if "mariadb-5.3" in text and numbers:
        raise _refused(column, column_type, "ALTER TABLE ... FORCE writes its times in the form of today")
    if word in _INTEGERS:
        return ColumnType(kind=Kind.INTEGER, width=_INTEGERS[word], is_unsigned="unsigned" in text.lower())
    if word == "decimal":
        return ColumnType(kind=Kind.DECIMAL, precision=numbers[0], scale=numbers[1])
    if word in _TIMES:
        return ColumnType(kind=_TIMES[word], scale=numbers[0] if numbers else 0)
    if word == "bit":
        return ColumnType(kind=Kind.BIT, width=numbers[0])
    if word == "binary":
        return ColumnType(kind=Kind.BINARY, width=numbers[0])
    raise _refused(column, column_type, "leave the column out of the columns that are read")


def _refused(column: str, column_type: str, remedy: str) -> SchemaError:
    return SchemaError(
        f"column '{column}' has the type {column_type}, which the binlog does not describe well enough to read it "
        f"exactly; {remedy}."
    )
