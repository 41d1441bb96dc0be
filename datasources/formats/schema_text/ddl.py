"""Spark's DDL schema text to an Arrow schema and back, without a JVM.

Executors' Python workers have no JVM to ask, and a SQL parser costs them start-up time, so the few rules of
`name TYPE [NOT NULL] [COMMENT 'text'], ...` are here. What Spark's own `StructType.fromDDL` accepts is accepted with
the same meaning, except: types that no decoded column can have, two columns whose names differ in case only, and the
names that Tidemark adds to rows. VARCHAR(n) and CHAR(n) are STRING, as in every table schema of Spark.
"""

from __future__ import annotations

import difflib
import re

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.schema_text.ddl_tokens import Token, TokenKind, malformed, tokenize, unquoted
from datasources.formats.schema_text.ddl_types import (
    KNOWN_NAMES,
    PARAMETERLESS,
    UNSUPPORTED,
    field_name_text,
    list_of,
    map_of,
    timestamp_ntz,
    type_text,
)

__all__ = ["RESERVED_COLUMNS", "parse_schema", "schema_ddl"]

RESERVED_COLUMNS = frozenset({"_watermark", "_heartbeat", "_late"})
"""Names of the columns that Tidemark adds itself, in lower case."""

_MAX_PRECISION = 38
_MAX_NESTING = 100
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)|''|\"\"", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def parse_schema(ddl: str) -> pa.Schema:
    """Return the Arrow schema of a DDL text such as `user BIGINT, price DOUBLE NOT NULL, ts TIMESTAMP`.

    Comments are kept as field metadata under the key `comment`.

    Raises:
        SchemaError: the text is malformed, a type is unknown or unsupported, a name is given twice in one struct
            (in any case), or a column has a reserved name; the message shows the place.
    """
    if not isinstance(ddl, str) or not ddl.strip():
        raise SchemaError("the schema is empty; give at least one column, as in 'id BIGINT, ts TIMESTAMP'")
    return pa.schema(_Parser(ddl).columns())


def schema_ddl(schema: pa.Schema) -> str:
    """Return the canonical text of a schema: equal schemas give equal text, comments are left out.

    Raises:
        SchemaError: a column has a type without a counterpart in Spark.
    """
    return ", ".join(
        f"{field_name_text(f.name)} {type_text(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in schema
    )


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, ddl: str) -> None:
        self._ddl = ddl
        self._tokens = tokenize(ddl)
        self._at = 0
        self._depth = 0

    def columns(self) -> list[pa.Field]:
        """Parse the whole text."""
        fields = [self._field(set(), is_column=True)]
        names = {fields[0].name.lower()}
        while self._skip(","):
            fields.append(self._field(names, is_column=True))
        if self._token.kind is not TokenKind.END:
            raise self._unexpected("a comma, NOT NULL, COMMENT or the end of the text")
        return fields

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _skip(self, text: str) -> bool:
        token = self._token
        wanted = TokenKind.WORD if text[0].isalpha() else TokenKind.SYMBOL
        if token.kind is wanted and token.text.upper() == text:
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._skip(text):
            raise self._unexpected(f"'{text}'")

    def _unexpected(self, wanted: str) -> SchemaError:
        return self._error(self._token, f"expected {wanted}, found {self._token.shown}")

    def _error(self, token: Token, problem: str) -> SchemaError:
        return malformed(self._ddl, token.start, token.end, problem)

    def _field(self, taken: set[str], *, is_column: bool) -> pa.Field:
        if self._token.kind not in {TokenKind.WORD, TokenKind.QUOTED}:
            raise self._unexpected("the name of a column" if is_column else "the name of a field")
        token = self._next()
        name = unquoted(token)
        self._check_name(token, name, taken, is_column=is_column)
        taken.add(name.lower())
        if not is_column:
            self._skip(":")
        arrow = self._type(name)
        nullable = not self._skip("NOT")
        if not nullable:
            self._expect("NULL")
        comment = self._comment()
        return pa.field(name, arrow, nullable, None if comment is None else {"comment": comment})

    def _check_name(self, token: Token, name: str, taken: set[str], *, is_column: bool) -> None:
        if name.lower() in taken:
            raise self._error(token, f"'{name}' is there already (upper and lower case are not told apart); rename one")
        if is_column and name.lower() in RESERVED_COLUMNS:
            raise self._error(token, f"'{name}' is the name of a column that Tidemark adds; choose another one")

    def _comment(self) -> str | None:
        if not self._skip("COMMENT"):
            return None
        if self._token.kind is not TokenKind.STRING:
            raise self._unexpected("the comment's text in quotes")
        parts = []
        while self._token.kind is TokenKind.STRING:
            parts.append(_string_value(self._next().text))
        return "".join(parts)

    def _type(self, name: str) -> pa.DataType:
        if self._token.kind is not TokenKind.WORD:
            raise self._unexpected(f"the type of '{name}'")
        token = self._next()
        type_name = token.text.upper()
        if type_name in {"ARRAY", "MAP", "STRUCT"}:
            return self._nested(token, type_name)
        if type_name in {"DECIMAL", "DEC", "NUMERIC"}:
            return self._decimal(token)
        if type_name in {"VARCHAR", "CHAR", "CHARACTER"}:
            return self._sized_text(token)
        return self._simple(token, type_name)

    def _simple(self, token: Token, type_name: str) -> pa.DataType:
        arrow = PARAMETERLESS.get(type_name)
        if arrow is None:
            raise self._error(token, _unknown_type(token.text))
        if type_name == "TIMESTAMP" and self._skip("WITHOUT"):
            self._expect("TIME")
            self._expect("ZONE")
            return timestamp_ntz
        if self._token.text == "(":
            raise self._unexpected(f"no parameter: {type_name} is written without one")
        return arrow

    def _nested(self, token: Token, type_name: str) -> pa.DataType:
        self._depth += 1
        if self._depth > _MAX_NESTING:
            raise self._error(token, f"types are nested more than {_MAX_NESTING} deep")
        self._expect("<")
        if type_name == "STRUCT":
            arrow = pa.struct(self._struct_fields())
        elif type_name == "ARRAY":
            arrow = list_of(self._type("the element"))
        else:
            key = self._type("the key")
            self._expect(",")
            arrow = map_of(key, self._type("the value"))
        self._expect(">")
        self._depth -= 1
        return arrow

    def _struct_fields(self) -> list[pa.Field]:
        if self._token.text == ">":
            return []
        names: set[str] = set()
        fields = [self._field(names, is_column=False)]
        while self._skip(","):
            fields.append(self._field(names, is_column=False))
        return fields

    def _decimal(self, token: Token) -> pa.DataType:
        precision, scale = 10, 0
        if self._skip("("):
            precision = self._whole_number()
            scale = self._whole_number() if self._skip(",") else 0
            self._expect(")")
        if not 1 <= precision <= _MAX_PRECISION:
            raise self._error(token, f"a decimal has 1 to {_MAX_PRECISION} digits, not {precision}")
        if scale > precision:
            raise self._error(token, f"the scale {scale} is greater than the precision {precision}")
        return pa.decimal128(precision, scale)

    def _sized_text(self, token: Token) -> pa.DataType:
        if not self._skip("("):
            raise self._error(token, f"{token.text.upper()} needs a length, as in {token.text.upper()}(10)")
        self._whole_number()
        self._expect(")")
        return pa.string()

    def _whole_number(self) -> int:
        if self._token.kind is not TokenKind.NUMBER or not self._token.text.isdigit():
            raise self._unexpected("a whole number")
        return int(self._next().text)


def _unknown_type(text: str) -> str:
    name = text.upper()
    if name in UNSUPPORTED:
        return f"columns of type {name} cannot be decoded; read it as STRING and convert it in the query"
    near = difflib.get_close_matches(name, KNOWN_NAMES, n=1)
    return f"there is no type '{text}'" + (
        f"; did you mean {near[0]}?" if near else f"; types: {', '.join(KNOWN_NAMES)}"
    )


def _string_value(text: str) -> str:
    if text[0] in "rR":
        return text[2:-1]
    return _ESCAPE.sub(_unescape, text[1:-1])


def _unescape(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if escaped is None:
        return match.group()[0]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return _ESCAPED.get(escaped, escaped)
