"""How records are written: the options of the format, as Flink names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from datasources.errors import OptionError
from datasources.formats.api.flink_options import IGNORE_PARSE_ERRORS
from datasources.formats.api.format import FormatOption

CSV_OPTIONS: Final = (
    FormatOption(
        key="field-delimiter", type=str, description="The character between fields; `\\t` is a tab. Default: a comma."
    ),
    FormatOption(key="disable-quote-character", type=bool, description="Whether no character quotes fields."),
    FormatOption(key="quote-character", type=str, description='The character around fields. Default: `"`.'),
    FormatOption(
        key="allow-comments",
        type=bool,
        description="Whether lines that begin with `#` are left out. A record of such lines only is a bad one.",
    ),
    IGNORE_PARSE_ERRORS,
    FormatOption(
        key="array-element-delimiter",
        type=str,
        description="The text between the elements of an ARRAY and the fields of a STRUCT. Default: `;`.",
    ),
    FormatOption(
        key="escape-character",
        type=str,
        description="The character that lets the next one stand for itself, `n`, `r`, `t` and `0` for a control "
        "character. Default: there is none.",
    ),
    FormatOption(
        key="null-literal",
        type=str,
        description="The field that is null, with or without quotes. Default: no field is null.",
    ),
    FormatOption(
        key="write-bigdecimal-in-scientific-notation",
        type=bool,
        description="Flink's, of sinks: without effect on what is read.",
    ),
)
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))\Z", re.DOTALL)
_CONTROL: Final = {"t": "\t", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"'}
_LINE_ENDS: Final = "\r\n"
_LAST_BMP_CHARACTER: Final = "\uffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How records are written.

    Attributes:
        delimiter: the character between fields.
        quote: the character around fields; None = there is none.
        escape: the character that lets the next one stand for itself; None = there is none.
        has_comments: whether lines that begin with `#` are left out.
        element_delimiter: between the elements of an ARRAY and the fields of a STRUCT.
        null_literal: the text that is null; None = no text is.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    has_comments: bool = False
    element_delimiter: str = ";"
    null_literal: str | None = None


def dialect_of(options: Mapping[str, Any], format_name: str) -> Dialect:
    """Return how records are written.

    Args:
        options: the format's options that were set, by their keys.
        format_name: begins the options' names in errors.

    Raises:
        OptionError: an option is wrong, or contradicts another one.
    """
    has_quotes = not options.get("disable-quote-character", False)
    if not has_quotes and "quote-character" in options:
        raise OptionError(
            f"options '{format_name}.quote-character' and '{format_name}.disable-quote-character' contradict each "
            "other: set one of them."
        )
    dialect = Dialect(
        delimiter=_unescaped(_character(options, "field-delimiter", format_name) or ","),
        quote=(_character(options, "quote-character", format_name) or '"') if has_quotes else None,
        escape=_character(options, "escape-character", format_name),
        has_comments=options.get("allow-comments", False),
        element_delimiter=options.get("array-element-delimiter", ";"),
        null_literal=options.get("null-literal"),
    )
    _check(dialect, format_name)
    return dialect


def _character(options: Mapping[str, Any], key: str, format_name: str) -> str | None:
    text = options.get(key)
    if text is None:
        return None
    character = _unescaped(text) if key == "field-delimiter" else text
    if len(character) != 1 or character > _LAST_BMP_CHARACTER or character in _LINE_ENDS:
        raise OptionError(f"option '{format_name}.{key}' = '{text}': it is one character, and no end of a line.")
    return str(text)


def _unescaped(text: str) -> str:
    r"""Return the character that is written as in Java, such as `\t` and `\u0001`; other texts as they are."""
    match = _ESCAPED.match(text)
    if match is None:
        return text
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _CONTROL.get(letter, text)


def _check(dialect: Dialect, format_name: str) -> None:
    """Require that no character has two meanings; Flink does not, and then one of them never occurs."""
    used = [each for each in (dialect.delimiter, dialect.quote, dialect.escape) if each is not None]
    if len(set(used)) < len(used):
        raise OptionError(
            f"'{format_name}' has one character for two of 'field-delimiter', 'quote-character' and "
            "'escape-character': give each its own."
        )
    if not dialect.element_delimiter:
        raise OptionError(f"option '{format_name}.array-element-delimiter' is empty: give a text.")
