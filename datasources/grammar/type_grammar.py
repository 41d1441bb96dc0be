"""Types of SQL tables and of Spark's DDL texts: one grammar, `ROW<a INT, b ARRAY<STRING>> NOT NULL`.

Dialects differ in names and in what may follow a type; a `TypeDialect` is the table of that. Scalar types are read by
`scalar_types`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.scalar_types import ScalarReader, refuse_parameter
from datasources.grammar.sql_types import SqlField, SqlType

_MAX_NESTING: Final = 100
_SUFFIXES: Final = ("ARRAY", "MULTISET")


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeDialect:
    """Where the dialects differ.

    Attributes:
        plain: types that are one word: the word -> the canonical name, see `SqlType.root`.
        scalars: other types without parts: their first word -> how the rest is read.
        composites: words of ARRAY, MULTISET, MAP, ROW and STRUCT that it has.
        refused: types that other systems have, upper case -> why there are none here.
        field_name: reads the name of a field, which the second argument describes.
        comment: reads the comment of a field; None = it has none.
        has_suffixes: whether NOT NULL, NULL, ARRAY and MULTISET may follow each type; else NOT NULL follows fields.
        row_brackets: around the fields of a row: opening -> closing.
        has_empty_rows: whether a row may have no field.
    """

    plain: Mapping[str, str]
    scalars: Mapping[str, ScalarReader]
    composites: tuple[str, ...]
    refused: Mapping[str, str]
    field_name: Callable[[Cursor, str], str]
    comment: Callable[[Cursor], str | None]
    has_suffixes: bool
    row_brackets: Mapping[str, str]
    has_empty_rows: bool
    known: tuple[str, ...] = field(init=False)
    """The first words of all types."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", (*self.plain, *self.scalars, *self.composites))


class TypeReader:
    """Reads types of one dialect at a cursor."""

    __slots__ = ("_cursor", "_dialect")

    def __init__(self, cursor: Cursor, dialect: TypeDialect) -> None:
        self._cursor = cursor
        self._dialect = dialect

    def read(self, what: str = "a type", depth: int = 0) -> SqlType:
        """Read a type, with its NOT NULL where the dialect has it.

        Args:
            what: what is wanted, for errors: "the type of 'ts'".
            depth: in how many types this one is nested.

        Raises:
            SqlError: there is no such type, its parameters are out of range, or types are nested too deeply.
        """
        token = self._cursor.token
        if depth > _MAX_NESTING:
            raise self._too_deep(token)
        if token.word not in self._dialect.known:
            raise self._no_type(token, what)
        self._cursor.next()
        result = self._rest(token, depth)
        return self._with_suffixes(result, depth) if self._dialect.has_suffixes else result

    def field(self, taken: set[str], depth: int = 0) -> SqlField:
        """Read a field: `name TYPE NOT NULL COMMENT 'text'`, with a colon after the name where it is in a type.

        Args:
            taken: names of other fields in lower case; the name is added.
            depth: in how many types the field is; 0 = it is a column.

        Raises:
            SqlError: it is malformed, or its name is taken.
        """
        cursor = self._cursor
        kind = "field" if depth else "column"
        span = cursor.token.span
        name = self._dialect.field_name(cursor, f"the name of a {kind}")
        if name.lower() in taken:
            raise cursor.error(span, f"the {kind} '{name}' is there already", "Rename one of the two.")
        taken.add(name.lower())
        if depth:
            cursor.skip_symbol(":")
        field_type = self.read(f"the type of the {kind} '{name}'", depth)
        if not self._dialect.has_suffixes:
            field_type = self._with_nullability(field_type)
        return SqlField(name, field_type, self._dialect.comment(cursor))

    def _rest(self, token: Token, depth: int) -> SqlType:
        word = token.word
        if word in self._dialect.plain:
            refuse_parameter(self._cursor, word)
            return SqlType(self._dialect.plain[word])
        if word in self._dialect.scalars:
            return self._dialect.scalars[word](self._cursor, token)
        if word == "MAP":
            return self._map(depth + 1)
        return self._collection(word, depth + 1) if word in _SUFFIXES else self._row(word, depth + 1)

    def _collection(self, word: str, depth: int) -> SqlType:
        self._cursor.expect_symbol("<", f"Write {word}<the type of its elements>.")
        element = self.read("the type of the elements", depth)
        self._cursor.expect_symbol(">")
        return SqlType(word, arguments=(element,))

    def _map(self, depth: int) -> SqlType:
        self._cursor.expect_symbol("<", "Write MAP<the type of the keys, the type of the values>.")
        key = self.read("the type of the keys", depth)
        self._cursor.expect_symbol(",")
        value = self.read("the type of the values", depth)
        self._cursor.expect_symbol(">")
        return SqlType("MAP", arguments=(key, value))

    def _row(self, word: str, depth: int) -> SqlType:
        cursor, dialect = self._cursor, self._dialect
        opening = cursor.token
        if cursor.skip_symbol("<>"):
            return self._empty_row(word, opening)
        closing = dialect.row_brackets.get(opening.text)
        if closing is None:
            raise cursor.unexpected("'<'", f"Write {word}<name TYPE, ...>.")
        cursor.next()
        if dialect.has_empty_rows and cursor.skip_symbol(closing):
            return self._empty_row(word, opening)
        names: set[str] = set()
        fields = [self.field(names, depth)]
        while cursor.skip_symbol(","):
            fields.append(self.field(names, depth))
        cursor.expect_symbol(closing)
        return SqlType("ROW", fields=tuple(fields))

    def _empty_row(self, word: str, opening: Token) -> SqlType:
        if not self._dialect.has_empty_rows:
            raise self._cursor.error(opening.span, f"a {word} without fields does not exist", "Name a field.")
        return SqlType("ROW")

    def _with_suffixes(self, result: SqlType, depth: int) -> SqlType:
        """Read what may follow a type: `INT NOT NULL`, `INT NULL`, `INT ARRAY`, `INT MULTISET`."""
        for level in range(depth, _MAX_NESTING + 1):
            result = self._with_nullability(result)
            if self._cursor.token.word not in _SUFFIXES:
                return result
            if level < _MAX_NESTING:
                result = SqlType(self._cursor.next().word, arguments=(result,))
        raise self._too_deep(self._cursor.token)

    def _with_nullability(self, result: SqlType) -> SqlType:
        if self._cursor.skip("NOT"):
            self._cursor.expect("NULL", hint="A column that is never NULL is declared NOT NULL.")
            return replace(result, is_nullable=False)
        if self._dialect.has_suffixes:
            self._cursor.skip("NULL")
        return result

    def _too_deep(self, token: Token) -> SqlError:
        return self._cursor.error(token.span, f"types are nested more than {_MAX_NESTING} deep", "Flatten the type.")

    def _no_type(self, token: Token, what: str) -> SqlError:
        known, refused = self._dialect.known, self._dialect.refused
        if token.word in refused:
            reason = f"{token.text} is not a type of Tidemark's tables: {refused[token.word]}"
            return self._cursor.error(token.span, reason)
        if token.kind is not TokenKind.WORD:
            return self._cursor.unexpected(what)
        near = difflib.get_close_matches(token.word, known, n=1)
        advice = f"Did you mean {near[0]}?" if near else f"Types: {', '.join(sorted(known))}."
        return self._cursor.error(token.span, f"expected {what}, and there is no type '{token.text}'", advice)
