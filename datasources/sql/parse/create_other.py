"""CREATE VIEW and CREATE FUNCTION.

A view with clauses that only Spark's views have (comments of columns, TBLPROPERTIES, ...) is Spark's, and so is a
function that is not in Python: a class of the JVM, or a SQL expression.
"""

from __future__ import annotations

import re
from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import TokenKind
from datasources.sql.parse.queries import QUERY_WORDS, read_query_span
from datasources.sql.parse.tokens.names import names_in_parentheses, object_name
from datasources.sql.statements.catalog_objects import FunctionDefinition, ViewDefinition
from datasources.sql.statements.statements import CreateFunction, CreateView, PassThrough

_PATH: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


def read_create_view(cursor: Cursor, *, or_replace: bool, is_temporary: bool) -> CreateView | PassThrough:
    """Read what follows CREATE [OR REPLACE] [TEMPORARY] VIEW.

    Raises:
        SqlError: the statement is ours and malformed.
    """
    if_not_exists = cursor.skip("IF", "NOT", "EXISTS")
    view_name, _ = object_name(cursor, "the name of the view")
    if _has_clause_of_spark(cursor):
        return PassThrough(source=cursor.source)
    columns = _read_columns(cursor)
    comment = cursor.string("the comment of the view") if cursor.skip("COMMENT") else None
    cursor.expect("AS", hint="Write CREATE VIEW name AS SELECT ...")
    span = read_query_span(cursor)
    view = ViewDefinition(
        name=view_name, query=cursor.source.of(span), columns=columns, comment=comment, is_temporary=is_temporary
    )
    return CreateView(
        source=cursor.source,
        hints=tuple(cursor.hints),
        view=view,
        or_replace=or_replace,
        if_not_exists=if_not_exists,
        query_span=span,
    )


def read_create_function(cursor: Cursor, *, or_replace: bool, is_temporary: bool) -> CreateFunction | PassThrough:
    """Read what follows CREATE [OR REPLACE] [TEMPORARY] FUNCTION.

    Raises:
        SqlError: the function is one in Python and the statement is malformed.
    """
    if not _is_python(cursor):
        return PassThrough(source=cursor.source)
    if_not_exists = cursor.skip("IF", "NOT", "EXISTS")
    function_name, _ = object_name(cursor, "the name of the function")
    cursor.expect("AS", hint="Write CREATE FUNCTION name AS 'package.module.attribute' LANGUAGE PYTHON.")
    span = cursor.token.span
    path = cursor.string("the path of a Python object")
    if _PATH.fullmatch(path) is None:
        raise cursor.error(
            span, f"'{path}' does not lead to an object in a module", "Write 'package.module.attribute'."
        )
    cursor.expect("LANGUAGE", "PYTHON")
    cursor.expect_end()
    return CreateFunction(
        source=cursor.source,
        hints=tuple(cursor.hints),
        function=FunctionDefinition(name=function_name, path=path, is_temporary=is_temporary),
        or_replace=or_replace,
        if_not_exists=if_not_exists,
    )


def read_create_function_of_flink(cursor: Cursor, *, or_replace: bool, is_temporary: bool) -> CreateFunction:
    """Read what follows CREATE [TEMPORARY] FUNCTION in the dialect of Flink.

    Raises:
        SqlError: the function is not one in Python, or the statement is malformed.
    """
    start = cursor.token
    statement = read_create_function(cursor, or_replace=or_replace, is_temporary=is_temporary)
    if not isinstance(statement, CreateFunction):
        raise cursor.error(
            start.span,
            "a function of Flink is a class of Java or Scala, which does not run in Spark",
            "Write it in Python, as a function of Arrow arrays: CREATE FUNCTION name AS 'package.module.attribute' "
            "LANGUAGE PYTHON (docs/sql.md, Python functions).",
        )
    return statement


def _has_clause_of_spark(cursor: Cursor) -> bool:
    """Return whether something before AS is a clause that only a view of Spark's has."""
    ahead = 0
    while (token := cursor.peek(ahead)).kind is not TokenKind.END:
        following = cursor.peek(ahead + 1)
        if token.word == "AS" and (following.word in QUERY_WORDS or following.text == "("):
            return False
        if token.word in ("TBLPROPERTIES", "USING") or (token.word, following.word) in _SPARK_PAIRS:
            return True
        if token.word == "COMMENT" and following.kind is TokenKind.STRING and _is_inside(cursor, ahead):
            return True
        ahead += 1
    return False


_SPARK_PAIRS: Final = frozenset(
    {
        *(("SCHEMA", each) for each in ("BINDING", "COMPENSATION", "TYPE", "EVOLUTION")),
        ("WITH", "SCHEMA"),
        ("WITH", "METRICS"),
        ("DEFAULT", "COLLATION"),
    }
)


def _is_inside(cursor: Cursor, ahead: int) -> bool:
    signs = [cursor.peek(index).text for index in range(ahead) if cursor.peek(index).kind is TokenKind.SYMBOL]
    return signs.count("(") > signs.count(")")


def _read_columns(cursor: Cursor) -> tuple[str, ...]:
    if not cursor.sees_symbol("("):
        return ()
    return names_in_parentheses(cursor, "the name of a column of the view")


def _is_python(cursor: Cursor) -> bool:
    ahead = 0
    while (token := cursor.peek(ahead)).kind is not TokenKind.END:
        if token.word == "LANGUAGE" and cursor.peek(ahead + 1).word == "PYTHON":
            return cursor.peek(ahead - 1).kind is TokenKind.STRING
        ahead += 1
    return False
