"""Functions of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.sql.flink.functions.signature import Function, function, overloads
from datasources.sql.flink.logical_types import BOOLEAN, INT, STRING
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import ADDITIVE, Value, text_literal


def _regexp_extract(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    text, pattern, *rest = arguments
    group = rest[0].text if rest else "0"
    found = f"regexp_extract({text.text}, {pattern.text}, {group})"
    return f"CASE WHEN {text.inside(ADDITIVE)} RLIKE {pattern.inside(ADDITIVE)} THEN {found} END"


def _split_index(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, separator, index = arguments
    if index.constant is not None and separator.constant:
        number = int(index.constant)
        return (
            f"get(split({text.text}, {_quoted_pattern(separator)}), {number})"
            if number >= 0
            else "CAST(NULL AS STRING)"
        )
    return f"get(split({text.text}, {_quoted_pattern(separator)}), {index.text})"


def _quoted_pattern(separator: Value) -> str:
    if separator.constant is not None:
        special = set("\\^$.|?*+()[]{}")
        pattern = "".join("\\" + each if each in special else each for each in separator.constant)
        return text_literal(pattern)
    return f"concat('\\\\Q', {separator.text}, '\\\\E')"


STRINGS: Final[tuple[Function, ...]] = (
    function("UPPER", "STRING", STRING, "upper({0})"),
    function("LOWER", "STRING", STRING, "lower({0})"),
    *(function(name, "text", INT, "char_length({0})") for name in ("CHAR_LENGTH", "CHARACTER_LENGTH")),
    overloads(
        "REGEXP_EXTRACT",
        ("text text INT?", STRING, _regexp_extract),
        differs="Spark's gives the first group without a third argument, and '' where nothing matches",
    ),
    function("SPLIT_INDEX", "text text INT", STRING, _split_index),
    function("REGEXP", "text text", BOOLEAN, "({0} RLIKE {1})"),
    function("CONCAT", "STRING*", STRING, "concat({all})"),
)
