"""The columns and functions that an expression names, with their spans: the input of checks and rewrites.

Rules of this file: sqlglot only reads. The text is never regenerated from its tree; spans are character offsets into
the original text.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from datasources.grammar.source_text import Span

_WITH_UNIT: Final = frozenset({"timestampadd", "timestampdiff", "dateadd", "date_add", "datediff", "date_diff"})
_UNIT_ARGUMENTS: Final = 3


class ExpressionSyntax(Exception):
    """A text is not one expression.

    Attributes:
        reason: why, a clause.
        span: where in the text.
    """

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason, span)
        self.reason = reason
        self.span = span


@dataclass(frozen=True, slots=True)
class Reference:
    """A column, or a field of one: `a.b.c`.

    Attributes:
        path: the names as written, without quotes.
        head: span of the first name.
        span: the whole span.
    """

    path: tuple[str, ...]
    head: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A function with parentheses.

    Attributes:
        name: lower case, without a qualifier.
        span: from the name to the closing parenthesis.
        has_arguments: whether the parentheses are not empty.
    """

    name: str
    span: Span
    has_arguments: bool


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression names, in the order of the text.

    Attributes:
        references: columns.
        calls: functions.
        variables: names of lambda variables, lower case; inside of its lambda one hides a column of its name.
        has_star: whether a function is called with `*`: all columns, whichever they are.
    """

    references: tuple[Reference, ...]
    calls: tuple[Call, ...]
    variables: frozenset[str] = frozenset()
    has_star: bool = False


class _Parser(SparkParser):
    # Calls arrive as names and arguments as they were written; and `current_time` may be a column.
    FUNCTIONS: ClassVar = {}
    NO_PAREN_FUNCTIONS: ClassVar = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        name: parser for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items() if name in ("CASE", "IF")
    }


class _Tokenizer(Spark.Tokenizer):
    COMMANDS: ClassVar = set()  # a column may be called `show`


class _Dialect(Spark):
    Tokenizer = _Tokenizer
    Parser = _Parser


@functools.lru_cache(maxsize=2_048)
def names_of(text: str) -> Names:
    """Return the names in an expression.

    Raises:
        ExpressionSyntax: the text is empty, does not parse, is more than one expression, or holds a query.
    """
    whole = Span(0, max(1, len(text)))
    try:
        tokens = _Dialect().tokenize(text)
        # Not as a statement, where `set`, `comment` or `desc` would begin something else.
        trees = _Dialect().parser().parse_into(exp.Condition, tokens, text)
    except SqlglotError as error:
        raise _syntax(text, error) from None
    except RecursionError:
        raise ExpressionSyntax("the expression is nested too deeply", whole) from None
    if not text.strip():
        raise ExpressionSyntax("the expression is empty", whole)
    tree = trees[0] if len(trees) == 1 else None
    stars = [] if tree is None else list(tree.find_all(exp.Star))
    if tree is None or any(not isinstance(star.parent, exp.Anonymous) for star in stars):
        raise ExpressionSyntax("this is not one expression", whole)
    if tree.find(exp.Query) is not None:
        raise ExpressionSyntax("a query cannot stand in an expression of a table", whole)
    variables = frozenset(v.name.lower() for each in tree.find_all(exp.Lambda) for v in each.expressions)
    references = tuple(sorted(_references(tree), key=lambda reference: reference.head))
    return Names(references, tuple(_calls(tokens)), variables, has_star=bool(stars))


def _references(tree: exp.Expr) -> Iterator[Reference]:
    for column in tree.find_all(exp.Column):
        names = [part for part in column.parts if isinstance(part, exp.Identifier)]
        if not names or _is_unit(column) or _is_argument_name(column):
            continue
        names += _trailing(column)
        head = _span(names[0])
        yield Reference(tuple(name.name for name in names), head, head.to(_span(names[-1])))


def _trailing(column: exp.Expr) -> list[exp.Identifier]:
    """Return the names of a path that has more parts than a column of sqlglot can have."""
    names: list[exp.Identifier] = []
    node = column
    while isinstance(node.parent, exp.Dot) and node.parent.this is node:
        node = node.parent
        if not isinstance(node.expression, exp.Identifier):
            break
        names.append(node.expression)
    return names


def _is_unit(column: exp.Column) -> bool:
    """Whether it is the unit in `timestampadd(SECOND, 5, ts)`."""
    call = column.parent
    return (
        isinstance(call, exp.Anonymous)
        and call.name.lower() in _WITH_UNIT
        and len(call.expressions) == _UNIT_ARGUMENTS
        and call.expressions[0] is column
    )


def _is_argument_name(column: exp.Column) -> bool:
    """Whether it is the name in `f(name => value)`."""
    return isinstance(column.parent, exp.Kwarg) and column.arg_key == "this"


def _span(name: exp.Expr) -> Span:
    return Span(int(name.meta["start"]), int(name.meta["end"]) + 1)


def _calls(tokens: list[Token]) -> Iterator[Call]:
    for index, (name, opening) in enumerate(itertools.pairwise(tokens)):
        if opening.token_type is not TokenType.L_PAREN or not (name.text[:1].isalpha() or name.text[:1] == "_"):
            continue
        if name.token_type is TokenType.STRING:
            continue
        closing = _closing(tokens, index + 1)
        yield Call(name.text.lower(), Span(name.start, tokens[closing].end + 1), closing > index + 2)


def _closing(tokens: list[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return index
    return len(tokens) - 1


def _syntax(text: str, error: SqlglotError) -> ExpressionSyntax:
    details = getattr(error, "errors", None) or [{}]
    first = details[0]
    highlight = str(first.get("highlight") or "")
    end = _offset(text, first.get("line"), first.get("col"))
    start = max(0, end - max(1, len(highlight)))
    return ExpressionSyntax("the expression does not parse", Span(start, max(start + 1, min(end, len(text)))))


def _offset(text: str, line: int | None, column: int | None) -> int:
    """Return the offset after the character at a line and column counted from 1; the end of the text without them."""
    if line is None or column is None:
        return len(text)
    starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
    return min(len(text), starts[min(line, len(starts)) - 1] + column)
