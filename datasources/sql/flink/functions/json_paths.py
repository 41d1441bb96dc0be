r"""Paths in JSON, and the value at one.

Flink keeps a number as it was written and takes the last of equal keys; Spark's from_json has the keys, but formats
fractions. So they become strings with a mark before they are read, and a quote outside of a string, which only Spark
takes, becomes a mistake. A second mark tells a string that begins like an array or object from one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from datasources.expressions.json_query import ANY, JsonQuery
from datasources.sql.flink.typed_value import Refused, text_literal
from datasources.sql.text.quoting import name_text

NUMBER_MARK: Final = "\ue000"
STRING_MARK: Final = "\ue001"
_PATH: Final = re.compile(r"(?:(?P<mode>lax|strict)\s+)?\$(?P<steps>.*)", re.DOTALL)
_NAME: Final = r"""\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*) | \.?\['(?P<single>[^'\\]+)'\] | \.?\["(?P<double>[^"\\]+)"\]"""
_STEP: Final = re.compile(rf"{_NAME} | \[(?P<index>[0-9]+)\]", re.VERBOSE)
_STEP_TO_SEVERAL: Final = re.compile(rf"{_NAME} | \[(?P<index>-?[0-9]+)\] | (?P<any>\.\* | \.?\[\*\])", re.VERBOSE)
_STRING: Final = r'"(?:[^"\\]|\\.)*+"'
_FRACTION: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++)(?![0-9.eE+-])"
_UNQUOTED: Final = rf"\G((?:[^'\"0-9-]|{_STRING}|-?[0-9]++(?![0-9.eE]))*+)({_FRACTION}|')"
_BRACKET: Final = r'"(?=[{\[])'
_HINT: Final = "There are $, .name, ['name'] and [0]; functions, filters and * are not there."
_HINT_TO_SEVERAL: Final = (
    "There are $, .name, ['name'], [0], [-1], .* and [*]; functions, filters and .. are not there."
)


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path of names and indexes; `is_lax`: what is not there is empty, and no error."""

    steps: tuple[str | int, ...]
    is_lax: bool


def parse_path(text: str) -> JsonPath:
    """Return a path.

    Raises:
        Refused: it has more than names and indexes.
    """
    steps, is_lax = _read(text, _STEP, _HINT)
    return JsonPath(tuple(int(each["index"]) if each["index"] else _name(each) for each in steps), is_lax)


def parse_query(text: str) -> JsonQuery:
    """Return the path of JSON_QUERY, in which indexes may count from the end, and a step may lead to all there is.

    Raises:
        Refused: it has more than that.
    """
    steps, is_lax = _read(text, _STEP_TO_SEVERAL, _HINT_TO_SEVERAL)
    found = (ANY if each["any"] else int(each["index"]) if each["index"] else _name(each) for each in steps)
    return JsonQuery(steps=tuple(found), is_lax=is_lax)


def _read(text: str, step: re.Pattern[str], hint: str) -> tuple[list[re.Match[str]], bool]:
    """Return the steps of a path, and whether it is lax."""
    found = _PATH.fullmatch(text)
    if found is None:
        raise Refused(f"the path '{text}' is not supported", hint)
    steps: list[re.Match[str]] = []
    rest, position = found["steps"], 0
    while position < len(rest):
        matched = step.match(rest, position)
        if matched is None:
            raise Refused(f"the path '{text}' is not supported", hint)
        steps.append(matched)
        position = matched.end()
    return steps, found["mode"] == "lax"


def _name(step: re.Match[str]) -> str:
    return str(step["name"] or step["single"] or step["double"])


def value_at(document: str, path: JsonPath) -> str:
    """Return the text of the marked value at a path: NULL if there is none, it is null, or the document malformed."""
    marked = (
        f"regexp_replace({document}, {text_literal(_UNQUOTED)}, {text_literal(f'$1{chr(34)}{NUMBER_MARK}$2{chr(34)}')})"
    )
    marked = f"regexp_replace({marked}, {text_literal(_BRACKET)}, {text_literal(chr(34) + STRING_MARK)})"
    if not path.steps:
        return f"nullif(get_json_object({marked}, '$'), 'null')"
    kind = "STRING"
    for step in reversed(path.steps):
        kind = f"ARRAY<{kind}>" if isinstance(step, int) else f"STRUCT<{name_text(step)}: {kind}>"
    found = f"from_json({marked}, {text_literal(kind)})"
    for step in path.steps:
        found = f"get({found}, {step})" if isinstance(step, int) else f"{found}.{name_text(step)}"
    return found


def scalar_text(marked: str) -> str:
    """Return the text of a marked value that is no array and no object, NULL for others."""
    upper = text_literal(rf"^({NUMBER_MARK}-?[0-9.]+)[eE](?:(-)|\+?)0*([0-9]+)$")
    exponent = f"regexp_replace({marked}, {upper}, '$1E$2+$3')"
    signed = f"regexp_replace({exponent}, {text_literal(f'^({NUMBER_MARK}.*E-)' + chr(92) + '+')}, '$1')"
    plain = f"translate({signed}, '{NUMBER_MARK}{STRING_MARK}', '')"
    structure = text_literal(r"^[{\[]")
    return f"if({marked} RLIKE {structure}, NULL, {plain})"
