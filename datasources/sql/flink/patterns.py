r"""LIKE and SIMILAR TO.

Flink's LIKE has no escape character unless ESCAPE names one; Spark's is a backslash then.
"""

from __future__ import annotations

from typing import Final

from datasources.sql.flink.logical_types import BOOLEAN, is_family
from datasources.sql.flink.typed_value import ADDITIVE, PREDICATE, Refused, Value, shown_type, text_literal

_ESCAPES: Final = "!^~|#@$&"


def like(value: Value, pattern: Value, escape: Value | None) -> Value:
    """Return `value LIKE pattern [ESCAPE escape]`.

    Raises:
        Refused: the operands are no text, or the escape is no single character.
    """
    _require_text(value, pattern)
    if escape is not None:
        if escape.constant is None or len(escape.constant) != 1:
            raise Refused("ESCAPE takes one character", "Write LIKE 'a!_b' ESCAPE '!'.")
        return _made(f"{value.inside(ADDITIVE)} LIKE {pattern.inside(ADDITIVE)} ESCAPE {escape.text}", value)
    if pattern.constant is None:
        doubled = f"replace({pattern.text}, {text_literal(chr(92))}, {text_literal(chr(92) * 2)})"
        return _made(f"{value.inside(ADDITIVE)} LIKE {doubled}", value)
    if "\\" not in pattern.constant:
        return _made(f"{value.inside(ADDITIVE)} LIKE {pattern.text}", value)
    unused = next((each for each in _ESCAPES if each not in pattern.constant), None)
    if unused is None:
        raise Refused("the pattern has every character that could be its escape", "Name one with ESCAPE.")
    return _made(f"{value.inside(ADDITIVE)} LIKE {pattern.text} ESCAPE '{unused}'", value)


def similar(value: Value, pattern: Value, escape: Value | None) -> Value:
    """Return `value SIMILAR TO pattern [ESCAPE escape]`.

    Raises:
        Refused: the pattern is no literal.
    """
    _require_text(value, pattern)
    if pattern.constant is None:
        raise Refused("the pattern of SIMILAR TO has to be a literal here", "Use REGEXP(text, pattern).")
    escaping = "" if escape is None else (escape.constant or "")
    return _made(f"{value.inside(ADDITIVE)} RLIKE {text_literal(_regex(pattern.constant, escaping))}", value)


def _regex(pattern: str, escape: str) -> str:
    found: list[str] = []
    in_class = is_escaped = False
    for each in pattern:
        if is_escaped:
            found.append("\\" + each)
            is_escaped = False
        elif escape and each == escape:
            is_escaped = True
        elif in_class:
            found.append(each)
            in_class = each != "]"
        else:
            found.append(
                {"%": "(?s:.*)", "_": "(?s:.)", ".": "\\.", "^": "\\^", "$": "\\$", "\\": "\\\\"}.get(each, each)
            )
            in_class = each == "["
    return f"\\A(?:{''.join(found)})\\z"


def _require_text(*values: Value) -> None:
    for each in values:
        if not is_family(each.type, "text"):
            raise Refused(f"a pattern is compared with text, and this is {shown_type(each.type)}", "CAST it to STRING.")


def _made(text: str, value: Value) -> Value:
    return Value(text=text, type=BOOLEAN, level=PREDICATE, depth=value.depth, is_aggregate=value.is_aggregate)
