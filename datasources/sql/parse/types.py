"""The types of SQL tables: Flink's names, and Spark's spellings of the same types (LONG, TIMESTAMP_NTZ).

TIMESTAMP is Flink's: without a zone. The grammar is `datasources.grammar.type_grammar`.
"""

from __future__ import annotations

from typing import Final

from datasources.arrow_types import SPELLINGS
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.grammar.scalar_types import (
    read_decimal,
    read_double,
    read_interval,
    read_precise_timestamp,
    read_time,
    sized,
)
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.grammar.type_grammar import TypeDialect, TypeReader
from datasources.sql.parse.tokens.names import name

_REFUSED: Final = {
    "RAW": "a serialised Java object cannot be read here; declare it as BYTES",
    "SYMBOL": "no column can have this type",
    "NULL": "no column can have this type; give the type that its values would have",
    "JSON": "JSON is text here: declare it as STRING, or as ROW<...> with the fields that it has",
    "TEXT": "the type of text is STRING",
    "DATETIME": "a date with a time is TIMESTAMP(3)",
    "UUID": "there is no such type; declare it as STRING",
    "VARIANT": "there is no such type; declare it as STRING",
    "SERIAL": "there is no such type; declare it as BIGINT",
    "TIMESTAMPTZ": "a moment in time is TIMESTAMP_LTZ(3)",
    "TIMETZ": "times with a zone do not exist here",
}


def parse_type(source: SqlText) -> SqlType:
    """Return the type that a whole text names.

    Raises:
        SqlError: the text is not exactly one type.
    """
    cursor = Cursor(source)
    result = read_type(cursor)
    cursor.expect_end("the end of the type")
    return result


def read_type(cursor: Cursor, what: str = "a type") -> SqlType:
    """Read a type with its NOT NULL.

    Args:
        cursor: the statement.
        what: what is wanted, for errors: "the type of 'ts'".

    Raises:
        SqlError: there is no such type, its parameters are out of range, or types are nested too deeply.
    """
    return TypeReader(cursor, _DIALECT).read(what)


def is_type_name(word: str) -> bool:
    """Tell whether an upper-case word begins a type."""
    return word in _DIALECT.known or word in _REFUSED


def _field_name(cursor: Cursor, what: str) -> str:
    # In STRUCT<a: INT> a colon follows the name at once.
    is_spark = cursor.peek().text == ":" and cursor.token.kind in (TokenKind.WORD, TokenKind.QUOTED)
    return cursor.next().value if is_spark else name(cursor, what)


def _comment(cursor: Cursor) -> str | None:
    has_comment = cursor.skip("COMMENT") or cursor.token.kind is TokenKind.STRING
    return cursor.string("the comment of a field") if has_comment else None


_DIALECT: Final = TypeDialect(
    plain={
        **{
            each: each
            for each in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "STRING", "BYTES", "DATE")
        },
        **SPELLINGS,
    },
    scalars={
        **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), read_decimal),
        **dict.fromkeys(("CHAR", "CHARACTER"), sized("CHAR", varying="VARCHAR")),
        **{each: sized(each) for each in ("VARCHAR", "BINARY", "VARBINARY")},
        "DOUBLE": read_double,
        "TIME": read_time,
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"), read_precise_timestamp),
        "INTERVAL": read_interval,
    },
    composites=("ARRAY", "MULTISET", "MAP", "ROW", "STRUCT"),
    refused=_REFUSED,
    field_name=_field_name,
    comment=_comment,
    has_suffixes=True,
    row_brackets={"<": ">", "(": ")"},
    has_empty_rows=False,
)
