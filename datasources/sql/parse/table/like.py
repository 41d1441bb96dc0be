"""`LIKE base (INCLUDING ALL EXCLUDING WATERMARKS OVERWRITING OPTIONS)`."""

from __future__ import annotations

import difflib
from typing import Final

from datasources.grammar.cursor import Cursor
from datasources.grammar.lexer import Token
from datasources.sql.parse.tokens.names import object_name
from datasources.sql.statements.statements import CreateTableLike, LikeOption, LikeRule

_PARTS: Final = ("ALL", "CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
_CAN_OVERWRITE: Final = ("GENERATED", "METADATA", "OPTIONS", "WATERMARKS")


def read_like(cursor: Cursor, start: Token) -> CreateTableLike:
    """Read what follows LIKE.

    Raises:
        SqlError: a rule or a part does not exist, or a part is repeated.
    """
    base, _ = object_name(cursor, "the name of the table that is copied")
    options: list[LikeOption] = []
    if cursor.skip_symbol("("):
        while not cursor.skip_symbol(")"):
            option = _read_option(cursor)
            if any(each.part == option.part for each in options):
                raise cursor.error(option.span, f"there is a rule for {option.part} already", "Leave one out.")
            options.append(option)
            cursor.skip_symbol(",")
    return CreateTableLike(base=base, options=tuple(options), span=start.span.to(cursor.previous.span))


def _read_option(cursor: Cursor) -> LikeOption:
    start = cursor.token
    rules = [each.value for each in LikeRule]
    if start.word not in rules:
        raise cursor.unexpected("INCLUDING, EXCLUDING, OVERWRITING or ')'", _near(start.word, rules))
    rule = LikeRule(cursor.next().word)
    parts = _CAN_OVERWRITE if rule is LikeRule.OVERWRITING else _PARTS
    part = cursor.token
    if part.word not in parts:
        raise cursor.unexpected(f"{', '.join(parts)} after {rule.value}", _near(part.word, parts))
    cursor.next()
    return LikeOption(rule, part.word, start.span.to(part.span))


def _near(word: str, known: list[str] | tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]}?" if near else ""
