"""An expression in Spark SQL with Flink's type of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from datasources.errors import SchemaError
from datasources.grammar.literals import literal
from datasources.grammar.source_text import Span
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import BYTES, MILLISECONDS, STRING
from datasources.sql.types.type_names import spark_ddl, sql_text

OR, AND, NOT, PREDICATE, ADDITIVE, MULTIPLICATIVE, SIGN, ATOM = range(1, 9)
"""How strongly the outermost operator of a text binds, in Spark SQL."""
_INSTANT: Final = re.compile(r"\bTIMESTAMP\b")
"""Other rewrites of a query take the bare name for Flink's, which has no zone."""
_SHORT_NAMES: Final = {
    sql_text(STRING): "STRING",
    sql_text(BYTES): "BYTES",
    sql_text(MILLISECONDS): "INTERVAL SECOND(3)",
}
_SPARK_INTERVALS: Final = {
    "INTERVAL MONTH": "INTERVAL YEAR TO MONTH",
    "INTERVAL SECOND": "INTERVAL DAY TO SECOND",
}


class Refused(Exception):
    """An expression that has no meaning here.

    Attributes:
        reason: the reason, a clause.
        hint: what to do, sentences.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason, hint)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """An expression.

    Attributes:
        text: in Spark SQL; its type there is `spark_type(type)`.
        type: Flink's, with all parameters.
        level: how strongly its outermost operator binds.
        constant: the value of a literal, as in `syntax.Literal`; None for everything else.
        depth: how many operators that repeat their operands are in it.
        span: where it was written.
        is_aggregate: whether an aggregate function is called in it.
    """

    text: str
    type: SqlType
    level: int = ATOM
    constant: str | None = None
    depth: int = 0
    span: Span = field(default=Span(0, 0), compare=False)
    is_aggregate: bool = False

    def inside(self, level: int) -> str:
        """Return the text as an operand of an operator, in brackets where it needs them."""
        return self.text if self.level >= level else f"({self.text})"

    def of_type(self, kind: SqlType) -> Value:
        """Return the same text with another type, which Spark's type agrees with."""
        return replace(self, type=kind)


def spark_type(kind: SqlType) -> str:
    """Return the type that Spark gives to values of a type.

    Raises:
        Refused: it has none.
    """
    if kind.root == "NULL":
        return "VOID"
    if kind.root == "TIME":
        return "TIME(6)"
    try:
        text = _INSTANT.sub("TIMESTAMP_LTZ", spark_ddl(kind))
    except SchemaError as error:
        raise Refused(error.message) from None
    for short, long in _SPARK_INTERVALS.items():
        text = text.replace(short, long)
    return text


def shown_type(kind: SqlType) -> str:
    """Return a type as errors name it."""
    text = sql_text(kind)
    for long, short in _SHORT_NAMES.items():
        text = text.replace(long, short)
    return text


def text_literal(value: str) -> str:
    """Return a string literal of Spark SQL."""
    return literal(value)
