"""Spark's DDL schema text to an Arrow schema and back, without a JVM.

Executors' Python workers have no JVM to ask, and a SQL parser costs them start-up time, so `name TYPE [NOT NULL]
[COMMENT 'text'], ...` is read by the type grammar that SQL tables have, in Spark's dialect. What Spark's own
`StructType.fromDDL` accepts is accepted with the same meaning, except: types that no decoded column can have, two
columns whose names differ in case only, and the names that Tidemark adds to rows. VARCHAR(n) and CHAR(n) are STRING,
as in every table schema of Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from datasources.arrow_types import SPELLINGS
from datasources.errors import SchemaError, SqlError
from datasources.formats.schema_text.ddl_types import arrow_field, field_name_text, type_text
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind, tokenize
from datasources.grammar.scalar_types import read_decimal, read_instant_or_local, sized
from datasources.grammar.source_text import Span, SqlText
from datasources.grammar.sql_types import SqlField
from datasources.grammar.type_grammar import TypeDialect, TypeReader

RESERVED_COLUMNS = frozenset({"_watermark", "_heartbeat", "_late"})
"""Names of the columns that Tidemark adds itself, in lower case."""

_NAMES: Final = (TokenKind.WORD, TokenKind.QUOTED)
_UNEXPECTED: Final = {TokenKind.WORD: re.compile("[^A-Za-z0-9_]"), TokenKind.SYMBOL: re.compile("[^<>(),:]")}
"""What cannot stand in a word, and beside one."""


def parse_schema(ddl: str) -> pa.Schema:
    """Return the Arrow schema of a DDL text such as `user BIGINT, price DOUBLE NOT NULL, ts TIMESTAMP`.

    Comments are kept as field metadata under the key `comment`.

    Raises:
        SchemaError: the text is malformed, a type is unknown or unsupported, a name is given twice in one struct
            (in any case), or a column has a reserved name; the message shows the place.
    """
    return pa.schema([arrow_field(each) for each in schema_fields(ddl)])


def schema_fields(ddl: str) -> list[SqlField]:
    """Return the fields of a DDL text with their SQL types; see `parse_schema`."""
    if not isinstance(ddl, str) or not ddl.strip():
        raise SchemaError("the schema is empty; give at least one column, as in 'id BIGINT, ts TIMESTAMP'")
    try:
        return list(_columns(SqlText(ddl, what="schema")))
    except SqlError as error:
        raise SchemaError(f"the schema is wrong at {error.message}") from None


def schema_ddl(schema: pa.Schema) -> str:
    """Return the canonical text of a schema: equal schemas give equal text, comments are left out.

    Raises:
        SchemaError: a column has a type without a counterpart in Spark.
    """
    return ", ".join(
        f"{field_name_text(f.name)} {type_text(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in schema
    )


def _columns(source: SqlText) -> Iterator[SqlField]:
    tokens = tokenize(source)
    for token in tokens:
        _require_ordinary(source, token)
    cursor = Cursor(source, tokens)
    reader = TypeReader(cursor, _SPARK)
    taken: set[str] = set()
    while True:
        token = cursor.token
        column = reader.field(taken)
        if column.name.lower() in RESERVED_COLUMNS:
            reason = f"'{column.name}' is the name of a column that Tidemark adds"
            raise cursor.error(token.span, reason, "Choose another one.")
        yield column
        if not cursor.skip_symbol(","):
            break
    cursor.expect_end("a comma, NOT NULL, COMMENT or the end of the schema")


def _require_ordinary(source: SqlText, token: Token) -> None:
    """Refuse a character that Spark's DDL has no use for outside of quotes."""
    unexpected = _UNEXPECTED[token.kind].search(token.text) if token.kind in _UNEXPECTED else None
    if unexpected is not None:
        at = token.start + unexpected.start()
        raise source.error(
            Span(at, at + 1),
            f"the character '{unexpected[0]}' cannot stand here",
            "Put a name that holds it in backquotes: `a-b`.",
        )


def _field_name(cursor: Cursor, what: str) -> str:
    if cursor.token.kind not in _NAMES:
        raise cursor.unexpected(what)
    return cursor.next().value


def _comment(cursor: Cursor) -> str | None:
    if not cursor.skip("COMMENT"):
        return None
    if cursor.token.kind is not TokenKind.STRING:
        raise cursor.unexpected("the comment's text in quotes")
    parts = []
    while cursor.token.kind is TokenKind.STRING:
        parts.append(cursor.next().value)
    return "".join(parts)


_SPARK: Final = TypeDialect(
    plain={
        **{each: each for each in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")},
        **SPELLINGS,
        "TIMESTAMP_LTZ": "TIMESTAMP_LTZ",
        "TIMESTAMP_NTZ": "TIMESTAMP",
        "STRING": "STRING",
        "BINARY": "BYTES",
    },
    scalars={
        "TIMESTAMP": read_instant_or_local,
        **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), read_decimal),
        **{each: sized("VARCHAR", low=0, is_required=True) for each in ("VARCHAR", "CHAR", "CHARACTER")},
    },
    composites=("ARRAY", "MAP", "STRUCT"),
    refused=dict.fromkeys(
        ("VOID", "INTERVAL", "VARIANT", "TIME", "GEOMETRY", "GEOGRAPHY", "OBJECT"),
        "such columns cannot be decoded; read it as STRING and convert it in the query",
    ),
    field_name=_field_name,
    comment=_comment,
    has_suffixes=False,
    row_brackets={"<": ">"},
    has_empty_rows=True,
)
