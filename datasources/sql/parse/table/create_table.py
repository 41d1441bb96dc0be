"""CREATE TABLE: ours, or Spark's.

Rules of this file. A table is Spark's if it has clauses that only Spark has: USING, STORED AS, LOCATION,
TBLPROPERTIES, ... PARTITIONED BY and AS with a query make it Spark's if it has no WITH ('key' = 'value'). All others
are ours, also without WITH: then the session reports the missing connector. A watermark or WITH beside USING is an
error here, because Spark's message would be misleading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token, TokenKind
from datasources.grammar.source_text import Span
from datasources.sql.parse.queries import QUERY_WORDS, read_query_span
from datasources.sql.parse.table.elements import Elements
from datasources.sql.parse.table.like import read_like
from datasources.sql.parse.tokens.names import names_in_parentheses, object_name
from datasources.sql.parse.tokens.table_options import read_options
from datasources.sql.statements.catalog_objects import PartitionKeys, TableDefinition
from datasources.sql.statements.statements import CreateTable, CreateTableLike, PassThrough

_OF_SPARK: Final = frozenset({"USING", "TBLPROPERTIES", "LOCATION", "CLUSTERED", "CLUSTER", "OPTIONS"})
_OF_SPARK_BEFORE: Final = {"STORED": ("AS", "BY"), "ROW": ("FORMAT",), "SKEWED": ("BY",)}
_NAMES: Final = (TokenKind.WORD, TokenKind.QUOTED)
_NOTHING: Final = Token(TokenKind.END, "", 0, 0)
_ADVICE: Final = {
    "(": "A table has one list of columns; options stand in WITH (...).",
    "DISTRIBUTED": "Tables of Tidemark have no buckets of their own; leave the clause out.",
    "WATERMARK": "A watermark stands in the list of columns.",
    **dict.fromkeys((")", "]", ">"), "It closes nothing; remove it."),
}
_CLAUSES: Final = "COMMENT, PARTITIONED BY, WITH, LIKE, AS or the end of the statement"


def read_create_table(cursor: Cursor, *, is_temporary: bool) -> CreateTable | PassThrough:
    """Read what follows CREATE [TEMPORARY] TABLE.

    Raises:
        SqlError: the statement is ours and malformed.
    """
    if_not_exists = cursor.skip("IF", "NOT", "EXISTS")
    table_name, name_span = object_name(cursor, "the name of the table")
    spark_clause = _spark_clause(cursor.rest)
    if spark_clause is not None:
        _refuse_mixture(cursor, spark_clause)
        return PassThrough(source=cursor.source)
    elements = Elements()
    column_order: tuple[str, ...] = ()
    if _begins_name_list(cursor):
        column_order = names_in_parentheses(cursor, "the name of a column of the query")
    elif cursor.sees_symbol("("):
        elements.read_list(cursor)
    clauses = _Clauses()
    clauses.read(cursor)
    table = TableDefinition(
        name=table_name,
        columns=tuple(elements.columns),
        watermarks=tuple(elements.watermarks),
        primary_key=elements.primary_key,
        partition_keys=clauses.partition_keys,
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
        query_span=clauses.query_span,
        column_order=column_order,
        name_span=name_span,
        option_spans=clauses.spans,
    )


class _Clauses:
    """The clauses after the columns, each at most once, in any order; a query comes last."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        self.spans: dict[str, Span] = {}
        self.comment: str | None = None
        self.partition_keys: PartitionKeys | None = None
        self.like: CreateTableLike | None = None
        self.query_span: Span | None = None
        self._seen: set[str] = set()
        self._readers = {
            "AS": self._read_query,
            "COMMENT": self._read_comment,
            "LIKE": self._read_like,
            "PARTITIONED": self._read_partition_keys,
            "WITH": self._read_options,
        }

    def read(self, cursor: Cursor) -> None:
        while not cursor.is_at_end:
            clause = cursor.token
            read = self._readers.get(clause.word)
            if read is None:
                raise cursor.unexpected(_CLAUSES, _advice(cursor, clause))
            if clause.word in self._seen:
                raise cursor.error(clause.span, f"{clause.word} is there already", "Make one clause of the two.")
            self._seen.add(clause.word)
            cursor.next()
            read(cursor, clause)

    def _read_comment(self, cursor: Cursor, _: Token) -> None:
        cursor.skip_symbol("=")
        self.comment = cursor.string("the comment of the table")

    def _read_partition_keys(self, cursor: Cursor, clause: Token) -> None:
        cursor.expect("BY", hint="Write PARTITIONED BY (column, ...).")
        if cursor.sees_symbol("(") and cursor.peek(2).kind in _NAMES:
            raise cursor.error(
                cursor.peek(2).span,
                "a partition key has no type here",
                "Declare it in the list of columns, and name it: PARTITIONED BY (column, ...).",
            )
        names = names_in_parentheses(cursor, "the name of a column")
        self.partition_keys = PartitionKeys(columns=names, span=clause.span.to(cursor.previous.span))

    def _read_options(self, cursor: Cursor, _: Token) -> None:
        self.options, self.spans = read_options(cursor, "WITH")

    def _read_like(self, cursor: Cursor, clause: Token) -> None:
        self.like = read_like(cursor, clause)

    def _read_query(self, cursor: Cursor, clause: Token) -> None:
        if self.like is not None:
            raise cursor.error(
                clause.span, "LIKE and AS exclude each other", "The columns are those of a table, or of a query."
            )
        self.query_span = read_query_span(cursor)


def _advice(cursor: Cursor, clause: Token) -> str:
    advice = _ADVICE.get(clause.text.upper())
    if advice is not None:
        return advice
    if clause.word and cursor.peek().text == "(":
        return "Options stand in WITH ('key' = 'value', ...)."
    return ""


def _spark_clause(tokens: Sequence[Token]) -> Token | None:
    """Return the first word outside of all brackets that makes the table one of Spark's."""
    outer = list(_before_query(_outer(tokens)))
    first = next((token for token, following in outer if _is_of_spark(token, following)), None)
    if first is not None or any(token.word == "WITH" and following.text == "(" for token, following in outer):
        return first
    return next((token for token, following in outer if _is_partitioned_by(token, following)), None) or _query_word(
        tokens
    )


def _before_query(outer: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Return the tokens before AS with a query, each with the following one."""
    for token, following in pairwise((*outer, _NOTHING)):
        if _begins_query(token, following):
            return
        yield token, following


def _query_word(tokens: Sequence[Token]) -> Token | None:
    """Return the word AS before a query."""
    return next((token for token, next_ in pairwise((*_outer(tokens), _NOTHING)) if _begins_query(token, next_)), None)


def _begins_query(token: Token, following: Token) -> bool:
    return token.word == "AS" and (following.word in QUERY_WORDS or following.text == "(")


def _is_partitioned_by(token: Token, following: Token) -> bool:
    return token.word == "PARTITIONED" and following.word == "BY"


def _is_of_spark(token: Token, following: Token) -> bool:
    word = token.word
    return word in _OF_SPARK or following.word in _OF_SPARK_BEFORE.get(word, ())


def _begins_name_list(cursor: Cursor) -> bool:
    """Tell whether a list of names comes next, which a table has that is created from a query: (a, b)."""
    if not cursor.sees_symbol("(") or _query_word(cursor.rest) is None:
        return False
    ahead = 1
    while cursor.peek(ahead).kind in _NAMES and cursor.peek(ahead + 1).text == ",":
        ahead += 2
    return cursor.peek(ahead).kind in _NAMES and cursor.peek(ahead + 1).text == ")"


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


def _refuse_mixture(cursor: Cursor, spark_clause: Token) -> None:
    """Refuse what only our tables have in a table that is Spark's by another word."""
    tokens = cursor.rest
    query = _query_word(tokens)
    if query is not None:
        tokens = tuple(each for each in tokens if each.start < query.start)
    outer = {each.start for each in _outer(tokens)}
    for token, following in pairwise((*tokens, _NOTHING)):
        is_with = token.start in outer and token.word == "WITH" and following.text == "("
        if is_with or (token.word == "WATERMARK" and following.word == "FOR"):
            raise _mixture(cursor, token, spark_clause)


def _mixture(cursor: Cursor, ours: Token, spark_clause: Token) -> SqlError:
    hint = "Leave the clause out."
    if spark_clause.word == "USING":
        hint = "Write WITH ('connector' = 'the format') instead of USING."
    elif spark_clause.word in ("AS", "PARTITIONED"):
        hint = "Write WITH ('connector' = '...', ...) as well."
    return cursor.error(
        spark_clause.span, f"{spark_clause.word} makes this a table of Spark's, which has no {ours.word}", hint
    )
