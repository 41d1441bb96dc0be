"""Functions of regular expressions. Both engines use Java's; a pattern is a literal here, so that it can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.sql.flink.functions.binding import bound, constant_text, is_null, whole_number
from datasources.sql.flink.functions.signature import Function, Text, overloads
from datasources.sql.flink.functions.strings import quoted_replacement
from datasources.sql.flink.logical_types import BOOLEAN, INT, STRING, array_of
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.patterns import RegexGroup, regex_groups
from datasources.sql.flink.typed_value import Refused, Value, spark_type

_WHAT: Final = "the pattern"
_NO_TEXT: Final = "CAST(NULL AS STRING)"
_NO_TEXTS: Final = f"CAST(NULL AS {spark_type(array_of(STRING))})"


def _groups(pattern: Value) -> tuple[RegexGroup, ...]:
    return regex_groups(constant_text(pattern, _WHAT))


def _checked(text: str) -> Text:
    def made(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
        _groups(arguments[1])
        return text.format(*(each.text for each in arguments))

    return made


def _regexp(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, pattern = arguments
    _groups(pattern)
    if not pattern.constant:
        return f"if({text.text} IS NULL, NULL, false)"
    return f"({text.text} RLIKE {pattern.text})"


def _replace(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, pattern, new = arguments
    _groups(pattern)
    return f"regexp_replace({text.text}, {pattern.text}, {quoted_replacement(new)})"


def _extract(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, pattern, *rest = arguments
    groups = _groups(pattern)
    number = 0 if not rest else _group_number(rest[0])
    if not 0 <= number <= len(groups):
        return _NO_TEXT
    can_be_missing = number > 0 and groups[number - 1].can_be_missing

    def found(value: str) -> str:
        taken = f"regexp_extract({value}, {pattern.text}, {number})"
        taken = f"nullif({taken}, '')" if can_be_missing else taken
        return f"CASE WHEN {value} RLIKE {pattern.text} THEN {taken} END"

    return bound(text, found)


def _extract_all(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, pattern, *rest = arguments
    groups = _groups(pattern)
    number = 1 if not rest else _group_number(rest[0])
    if not 0 <= number <= len(groups):
        return _NO_TEXTS
    if number and groups[number - 1].can_be_missing:
        raise Refused(
            f"group {number} of the pattern is not in every match", "Let the group match '' instead: ((?:a)?)"
        )
    return f"regexp_extract_all({text.text}, {pattern.text}, {number})"


def _group_number(value: Value) -> int:
    number = whole_number(value)
    if number is None and not is_null(value):
        raise Refused("the number of the group has to be a literal here")
    return -1 if number is None else number


REGEX: Final[tuple[Function, ...]] = (
    overloads("REGEXP", ("text text", BOOLEAN, _regexp)),
    overloads(
        "REGEXP_REPLACE",
        ("text text text", STRING, _replace),
        differs="'$1' and backslashes in the third argument have a meaning in Spark's, and are text in Flink's",
    ),
    overloads(
        "REGEXP_EXTRACT",
        ("text text INT?", STRING, _extract),
        differs="Spark's gives the first group without a third argument, and '' where nothing matches",
    ),
    overloads("REGEXP_EXTRACT_ALL", ("text text INT?", array_of(STRING), _extract_all)),
    overloads("REGEXP_COUNT", ("text text", INT, _checked("regexp_count({0}, {1})"))),
    overloads("REGEXP_INSTR", ("text text", INT, _checked("regexp_instr({0}, {1})"))),
    overloads(
        "REGEXP_SUBSTR",
        ("text text", STRING, _extract),
        differs="Spark's is NULL for a match of no characters, Flink's ''",
    ),
)
