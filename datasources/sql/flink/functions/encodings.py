"""Encodings, URLs and hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import bound
from datasources.sql.flink.functions.binding import constant_text, is_null, whole_number
from datasources.sql.flink.functions.signature import Function, function, overloads
from datasources.sql.flink.logical_types import BYTES, STRING
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Refused, Value, text_literal

_UNICODE: Final = frozenset({"UTF-8", "UTF-16", "UTF-16BE", "UTF-16LE"})
_NARROW: Final = {"US-ASCII": "[^\\x00-\\x7F]", "ISO-8859-1": "[^\\x00-\\xFF]"}
"""Character sets of a byte, and the characters that they do not have."""
_UNKNOWN: Final = "\ufffd"
_SIZES: Final = (224, 256, 384, 512)
_HASHES: Final = {"MD5": 32, "SHA1": 40}

_URL: Final = "(?s)^[\\x00-\\x20]*(?i:https?|ftp|file|jar|mailto):"
_AUTHORITY: Final = "//([^/?#]*)"
_PATH: Final = "(?://[^/?#]*)?([^?#]*)"
_SEGMENTS: Final = {
    "PROTOCOL": "(?s)^[\\x00-\\x20]*((?i:https?|ftp|file|jar|mailto)):",
    "AUTHORITY": _URL + _AUTHORITY,
    "USERINFO": _URL + "//([^/?#@]*)@",
    "HOST": _URL + "//(?:[^/?#@]*@)?(\\[[^\\]/?#]*\\]|[^/?#:@]*)",
    "PATH": _URL + _PATH,
    "FILE": _URL + "(?://[^/?#]*)?([^#]*)",
    "QUERY": _URL + "[^?#]*\\?([^#]*)",
    "REF": _URL + "[^#]*#(.*)$",
}
"""Where java.net.URL finds them."""


def _charset(value: Value, function_name: str) -> str:
    name = constant_text(value, f"the character set of {function_name}").upper()
    if name not in _UNICODE and name not in _NARROW:
        known = ", ".join(sorted({*_UNICODE, *_NARROW}))
        raise Refused(f"{function_name} does not have the character set '{name}' here", f"There are {known}.")
    return name


def _encode(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    text, name = arguments[0].text, _charset(arguments[1], "ENCODE")
    if name in _NARROW:
        text = f"regexp_replace({text}, {text_literal(_NARROW[name])}, '?')"
    return f"encode({text}, '{name}')"


def _decode(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, name = arguments[0].text, _charset(arguments[1], "DECODE")
    if name == "UTF-8":
        return f"make_valid_utf8(CAST({text} AS STRING))"
    if name == "US-ASCII":
        return f"regexp_replace(decode({text}, 'ISO-8859-1'), {text_literal(_NARROW[name])}, '{_UNKNOWN}')"
    return f"decode({text}, '{name}')"


def _parse_url(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    url, segment, *rest = arguments
    name = constant_text(segment, "the segment of PARSE_URL")
    if name not in _SEGMENTS or (rest and name != "QUERY"):
        return "CAST(NULL AS STRING)"
    if not rest:
        return _first_group(url, _SEGMENTS[name])
    key = constant_text(rest[0], "the key of PARSE_URL")
    # The key is a regular expression in Flink; one of ordinary characters is the same as a text.
    return _first_group(url, f"{_URL}[^?#]*\\?(?:[^#]*?&)??{key}=([^&#]*)")


def _first_group(value: Value, pattern: str) -> str:
    quoted = text_literal(pattern)
    return f"get(regexp_extract_all({value.text}, {quoted}, 1), 0)"


def _unhex(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    """Where the number of digits is not even, Flink makes the first a byte of zero."""

    def made(x: Value) -> str:
        uneven = f"WHEN {x.text} RLIKE '^[0-9A-Fa-f]' THEN unhex(concat('00', substr({x.text}, 2)))"
        return f"CASE WHEN length({x.text}) % 2 = 0 THEN unhex({x.text}) {uneven} END"

    return bound(arguments[0], made)


def _sha2(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    text, size = arguments
    if is_null(size):
        return "CAST(NULL AS STRING)"
    if whole_number(size) not in _SIZES:
        raise Refused("the length of SHA2 has to be 224, 256, 384 or 512")
    return f"sha2({text.text}, {size.text})"


def _hash(name: str, length: int, text: str) -> Function:
    kind = SqlType("CHAR", (length,))
    return overloads(name, ("text", kind, text), ("binary", kind, text))


ENCODINGS: Final[tuple[Function, ...]] = (
    overloads("UNHEX", ("text", BYTES, _unhex), differs="Spark reads the first digit where their number is not even"),
    overloads("HEX", ("integer", STRING, "hex({0})"), ("text", STRING, "hex({0})")),
    overloads("TO_BASE64", ("text", STRING, "base64({0})"), ("binary", STRING, "base64({0})")),
    function("FROM_BASE64", "text", STRING, "CAST(to_binary({0}, 'base64') AS STRING)"),
    overloads("ENCODE", ("text text", BYTES, _encode)),
    overloads("DECODE", ("binary text", STRING, _decode)),
    function("URL_ENCODE", "text", STRING, "url_encode({0})"),
    function("URL_DECODE", "text", STRING, "try_url_decode({0})", differs="Spark's fails at malformed text"),
    overloads(
        "PARSE_URL",
        ("text text text?", STRING, _parse_url),
        differs="Spark's fails at a malformed URL; Flink's is NULL",
    ),
    *(_hash(name, length, f"{name.lower()}({{0}})") for name, length in _HASHES.items()),
    *(_hash(f"SHA{size}", size // 4, f"sha2({{0}}, {size})") for size in _SIZES),
    overloads(
        "SHA2", ("text INT", SqlType("VARCHAR", (128,)), _sha2), ("binary INT", SqlType("VARCHAR", (128,)), _sha2)
    ),
)
