"""Arguments that a text of Spark SQL needs more than once, or that have to be constants."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Refused, Value, spark_type

_NAME: Final = re.compile(r"[\w.`$]+")
_NUMBER: Final = re.compile(r"-?[0-9]+")
_HOLE: Final = "\0"


def is_cheap(value: Value) -> bool:
    """Return whether a value may be written twice: a literal or a column."""
    return value.constant is not None or _NAME.fullmatch(value.text) is not None


def bound(value: Value, body: Callable[[str], str]) -> str:
    """Return a text that names a value several times; one that is computed is computed once."""
    if is_cheap(value):
        return body(value.text)
    made = body(_HOLE)
    name = free_name("v", made)
    return f"transform(array({value.text}), {name} -> {made.replace(_HOLE, name)})[0]"


def free_name(wanted: str, text: str) -> str:
    """Return a name for a variable of a lambda that a text does not use, such as for a column."""
    while re.search(rf"\b{wanted}\b", text):
        wanted += "_"
    return wanted


def whole_number(value: Value) -> int | None:
    """Return the number that a literal with or without a sign is; None for everything else."""
    return int(value.text) if _NUMBER.fullmatch(value.text) else None


def constant_text(value: Value, what: str) -> str:
    """Return the text of a literal.

    Raises:
        Refused: it is none.
    """
    if value.constant is None or value.type.root == "NULL":
        raise Refused(f"{what} has to be a literal here", "Write it as 'text'.")
    return value.constant


def is_null(value: Value) -> bool:
    """Return whether a value is the word NULL, or a cast of it."""
    return value.type.root == "NULL" or value.text.startswith("CAST(NULL AS ")


def strict(kind: SqlType, text: Callable[[Sequence[Value], Call], str]) -> Callable[[Sequence[Value], Call], str]:
    """Return a rule for texts that gives NULL of a type where an argument is the word NULL."""

    def made(arguments: Sequence[Value], call: Call) -> str:
        if any(map(is_null, arguments)):
            return f"CAST(NULL AS {spark_type(kind)})"
        return text(arguments, call)

    return made
