"""Casts and literals whose types SQL and Spark spell differently."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span, SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.text.calls import Call
from datasources.sql.text.query_tree import Region
from datasources.sql.text.word_cursor import Words
from datasources.sql.types.type_names import spark_ddl

_MICROSECONDS: Final = 6
_OURS: Final = frozenset({"VARCHAR", "CHAR", "BYTES", "VARBINARY", "ROW", "MULTISET"})
_TIMES: Final = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
_ZONE: Final = re.compile(r"(?:Z|[+-]\d{1,2}:?\d{2}|[A-Za-z]+/[A-Za-z_/]+|UTC|GMT)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CastSpelling:
    """What changes in a cast.

    Attributes:
        target: span of its type.
        name: the type in Spark's DDL.
        before, after: what goes around the whole cast; "" = nothing.
    """

    target: Span
    name: str
    before: str = ""
    after: str = ""


def cast_spelling(words: Words, call: Call, *, is_ours: bool) -> CastSpelling | None:
    """Return how Spark writes a CAST or TRY_CAST to a type of SQL's; None if Spark reads it as it is meant.

    Args:
        words: the text.
        call: the cast.
        is_ours: whether TIMESTAMP is a wall clock here; else it is Spark's.
    """
    cut = next((at for at in words.top_level(call.inside) if words.word(at) == "AS"), None)
    if cut is None or cut == call.inside.first or cut + 1 >= call.inside.last:
        return None
    target = Region(cut + 1, call.inside.last)
    sql_type = _type(words.text(target))
    if sql_type is None or not _is_respelled(sql_type, is_ours=is_ours):
        return None
    precision = sql_type.parameters[0] if sql_type.parameters else _MICROSECONDS
    is_cut = sql_type.root in _TIMES and precision < _MICROSECONDS
    fraction = "1" if precision == 0 else f"0.{'0' * (precision - 1)}1"
    return CastSpelling(
        target=words.span(target),
        name=spark_ddl(sql_type),
        before="transform(array(" if is_cut else "",
        after=f"), __t -> __t - make_dt_interval(0, 0, 0, extract(SECOND FROM __t) % {fraction}))[0]" if is_cut else "",
    )


def is_local_literal(words: Words, at: int) -> bool:
    """Whether a token is the text of `TIMESTAMP '...'` without a zone: a wall clock."""
    token = words[at]
    is_literal = token.kind is TokenKind.STRING and words.word(at - 1) == "TIMESTAMP"
    return is_literal and not _ZONE.search(token.value.strip())


def _type(text: str) -> SqlType | None:
    """The type that is written, None if it is one of Spark's own."""
    from datasources.sql.parse import parse_type

    try:
        return parse_type(SqlText(text))
    except SqlError:
        return None  # Spark has types of its own, such as VARIANT; Spark validates them


def _is_respelled(sql_type: SqlType, *, is_ours: bool) -> bool:
    inner = [*sql_type.arguments, *(each.type for each in sql_type.fields)]
    if sql_type.root in _TIMES:
        return bool(sql_type.parameters) or sql_type.root == "TIMESTAMP_LTZ" or is_ours
    if sql_type.root in {"VARCHAR", "CHAR"} and sql_type.parameters:
        return False
    return sql_type.root in _OURS or any(_is_respelled(each, is_ours=is_ours) for each in inner)
