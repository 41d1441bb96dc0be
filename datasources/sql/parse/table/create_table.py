"""CREATE TABLE: ours, or Spark's.

Rules of this file. A table is Spark's if it has clauses that only Spark has: USING, STORED AS, LOCATION,
TBLPROPERTIES, PARTITIONED BY, ... or AS with a query, and it has no WITH ('key' = 'value'). All others are ours, also
without WITH: then the session reports the missing connector. A watermark or WITH beside USING is an error here,
because Spark's message would be misleading.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.parse.queries import QUERY_WORDS
from datasources.sql.parse.table.elements import Elements
from datasources.sql.parse.table.like import read_like
from datasources.sql.parse.tokens.names import object_name
from datasources.sql.parse.tokens.table_options import read_options
from datasources.sql.statements.catalog_objects import TableDefinition
from datasources.sql.statements.statements import CreateTable, CreateTableLike, PassThrough

_OF_SPARK: Final = frozenset({"USING", "TBLPROPERTIES", "LOCATION", "CLUSTERED", "CLUSTER", "OPTIONS", "AS"})
_OF_SPARK_BEFORE: Final = {"STORED": ("AS", "BY"), "PARTITIONED": ("BY",), "ROW": ("FORMAT",), "SKEWED": ("BY",)}
_NOTHING: Final = Token(TokenKind.END, "", 0, 0)
_ADVICE: Final = {
    "(": "A table has one list of columns; options stand in WITH (...).",
    "PARTITIONED": "Tables of Tidemark have no partitions of their own; leave the clause out.",
    "DISTRIBUTED": "Tables of Tidemark have no buckets of their own; leave the clause out.",
    "WATERMARK": "A watermark stands in the list of columns.",
    "AS": "Create the table first, then fill it: INSERT INTO ... SELECT ...",
    **dict.fromkeys((")", "]", ">"), "It closes nothing; remove it."),
}
_CLAUSES: Final = "COMMENT, WITH, LIKE or the end of the statement"


def read_create_table(cursor: Cursor, *, is_temporary: bool) -> CreateTable | PassThrough:
    """Read what follows CREATE [TEMPORARY] TABLE.

    Raises:
        SqlError: the statement is ours and malformed.
    """
    if_not_exists = cursor.skip("IF", "NOT", "EXISTS")
    table_name, name_span = object_name(cursor, "the name of the table")
    spark_clause = _spark_clause(cursor)
    if spark_clause is not None:
        _refuse_mixture(cursor, spark_clause)
        return PassThrough(source=cursor.source)
    elements = Elements()
    if cursor.sees_symbol("("):
        elements.read_list(cursor)
    clauses = _Clauses()
    clauses.read(cursor)
    table = TableDefinition(
        name=table_name,
        columns=tuple(elements.columns),
        watermarks=tuple(elements.watermarks),
        primary_key=elements.primary_key,
        options=clauses.options,
        comment=clauses.comment,
        is_temporary=is_temporary,
    )
    return CreateTable(
        source=cursor.source,
        hints=tuple(cursor.hints),
        table=table,
        if_not_exists=if_not_exists,
        like=clauses.like,
        name_span=name_span,
        option_spans=clauses.spans,
    )


class _Clauses:
    """The clauses after the columns, each at most once, in any order."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        self.spans: dict[str, Span] = {}
        self.comment: str | None = None
        self.like: CreateTableLike | None = None
        self._seen: set[str] = set()

    def read(self, cursor: Cursor) -> None:
        while not cursor.is_at_end:
            clause = cursor.token
            if clause.word not in ("COMMENT", "WITH", "LIKE"):
                raise cursor.unexpected(_CLAUSES, _advice(cursor, clause))
            if clause.word in self._seen:
                raise cursor.error(clause.span, f"{clause.word} is there already", "Make one clause of the two.")
            self._seen.add(clause.word)
            cursor.next()
            self._read_one(cursor, clause)

    def _read_one(self, cursor: Cursor, clause: Token) -> None:
        if clause.word == "COMMENT":
            cursor.skip_symbol("=")
            self.comment = cursor.string("the comment of the table")
        elif clause.word == "WITH":
            self.options, self.spans = read_options(cursor, "WITH")
        else:
            self.like = read_like(cursor, clause)


def _advice(cursor: Cursor, clause: Token) -> str:
    advice = _ADVICE.get(clause.text.upper())
    if advice is not None:
        return advice
    if clause.word and cursor.peek().text == "(":
        return "Options stand in WITH ('key' = 'value', ...)."
    return ""


def _spark_clause(cursor: Cursor) -> Token | None:
    """Return the first word outside of all brackets that makes the table one of Spark's."""
    outer = _outer(cursor.rest)
    for token, following in pairwise((*outer, _NOTHING)):
        if token.kind is TokenKind.WORD and _is_of_spark(token.word, following):
            return token
    return None


def _outer(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens outside of all parentheses, and the outermost parentheses."""
    outer: list[Token] = []
    depth = 0
    for token in tokens:
        text = token.text
        depth -= text == ")"
        if depth <= 0:
            outer.append(token)
        depth += text == "("
    return outer


def _is_of_spark(word: str, following: Token) -> bool:
    if word == "AS":
        return following.word in QUERY_WORDS or following.text == "("
    return word in _OF_SPARK or following.word in _OF_SPARK_BEFORE.get(word, ())


def _refuse_mixture(cursor: Cursor, spark_clause: Token) -> None:
    """Refuse what only our tables have in a table that is Spark's by another word."""
    tokens = cursor.rest
    if spark_clause.word == "AS":
        tokens = tuple(each for each in tokens if each.start < spark_clause.start)
    outer = {each.start for each in _outer(tokens)}
    for token, following in pairwise((*tokens, _NOTHING)):
        is_with = token.start in outer and token.word == "WITH" and following.text == "("
        if is_with or (token.word == "WATERMARK" and following.word == "FOR"):
            raise _mixture(cursor, token, spark_clause)


def _mixture(cursor: Cursor, ours: Token, spark_clause: Token) -> SqlError:
    if spark_clause.word == "AS":
        return cursor.error(
            spark_clause.span,
            f"{ours.word} makes this a table of Tidemark's, which cannot be created from a query",
            "Create the table first, then fill it: INSERT INTO ... SELECT ...",
        )
    hint = "Leave the clause out."
    if spark_clause.word == "USING":
        hint = "Write WITH ('connector' = 'the format') instead of USING."
    return cursor.error(
        spark_clause.span, f"{spark_clause.word} makes this a table of Spark's, which has no {ours.word}", hint
    )
