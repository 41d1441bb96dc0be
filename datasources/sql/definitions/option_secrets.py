"""Secrets in table options: referenced by `${env:X}` or `${file:X}`, or kept out of everything durable.

Rules of this file. The catalog and SHOW keep a reference as written; it is expanded only when a scan is built. A
literal secret stays in memory, is shown as `******`, and is rejected by durable catalogs. No error message contains a
value.

`${env:NAME}` is an environment variable of the driver's process. `${file:PATH}` is the text of a file that the driver
can read, without one trailing line break. Both may occur anywhere in any option's value, repeatedly; their values are
not expanded again. Other texts in `${...}` are left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from datasources.errors import OptionError
from datasources.grammar.lexer import TokenKind, meaningful, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.near_matches import near_matches
from datasources.secret_keys import is_secret_key, secret_values
from datasources.sql.text.error_location import Site
from datasources.sql.text.substitute import splice

MASK: Final = "******"
"""Replacement of a secret where options are shown."""

_REFERENCE: Final = re.compile(r"\$\{(env|file):([^{}]*)\}")
_BEGINS: Final = re.compile(r"\$\{(?:env|file):")
_PASSWORD_IN_JAAS: Final = re.compile(
    r"""password\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;]*))""", re.IGNORECASE
)


def is_literal_secret(key: str, value: str) -> bool:
    """Return whether an option holds a secret that is written out, not named by a reference.

    A password inside a URL or a key inside a connection string counts under any option name.
    """
    if any(_is_written_out(password) for password in secret_values(value)):
        return True
    if not is_secret_key(key):
        return False
    passwords = _groups(_PASSWORD_IN_JAAS, value) if "jaas" in key.lower() else ()
    return any(map(_is_written_out, passwords)) if passwords else _is_written_out(value)


def shown(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options as they may be shown: `******` for each secret that is written out."""
    return {key: MASK if is_literal_secret(key, value) else value for key, value in options.items()}


def expand(options: Mapping[str, str], *, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the options with every `${env:X}` and `${file:X}` replaced by its value.

    Raises:
        OptionError: a variable is not set, a file cannot be read, or a reference is malformed; it names the option
            and the variable or file.
    """
    variables = os.environ if environment is None else environment
    return {key: _expanded(key, value, variables) for key, value in options.items()}


def refuse_masked(options: Mapping[str, str], *, source: SqlText | None = None, spans: Mapping[str, Span]) -> None:
    """Refuse options that were copied from where secrets are shown as `******`.

    Raises:
        SqlError: naming the option.
    """
    for key, value in options.items():
        if value == MASK:
            raise Site(clause="WITH", source=source, span=spans.get(key)).error(
                f"option '{key}' = '{MASK}' is shown instead of a secret, it is not its value",
                "Write '${env:NAME}' or '${file:PATH}', or the value itself.",
            )


def refuse_literal_secrets(
    options: Mapping[str, str], *, source: SqlText | None = None, spans: Mapping[str, Span]
) -> None:
    """Refuse options that must not be written to a durable catalog.

    Raises:
        SqlError: naming the option, never its value.
    """
    for key, value in options.items():
        if is_literal_secret(key, value):
            raise Site(clause="WITH", source=_masked(source, spans), span=spans.get(key)).error(
                f"option '{key}' holds a secret, and this catalog is kept in files",
                f"Write '{key}' = '${{env:NAME}}' or '${{file:PATH}}', or create a TEMPORARY table.",
            )


def masked_source(source: SqlText, options: Mapping[str, str], spans: Mapping[str, Span]) -> SqlText:
    """Return a statement in which secrets are asterisks: an error that shows one of its lines shows no secret.

    Every character keeps its position. If an option is a secret, the values of all options are masked, because a reader
    of a single line cannot see where a value ends.
    """
    has_secret = any(is_literal_secret(key, value) for key, value in options.items())
    return _masked(source, spans) or source if has_secret else source


def _masked(source: SqlText | None, spans: Mapping[str, Span]) -> SqlText | None:
    if source is None:
        return None
    keys = {span.start for span in spans.values()}
    tokens = meaningful(tokenize(source))
    values = [
        value.span
        for key, value in zip(tokens, tokens[2:], strict=False)
        if key.start in keys and value.kind is TokenKind.STRING
    ]
    return replace(source, text=splice(source.text, {span: _asterisks(source.of(span)) for span in values}))


def _asterisks(literal: str) -> str:
    opening = literal.find(literal[-1]) + 1
    return literal[:opening] + re.sub(r"[^\r\n]", "*", literal[opening:-1]) + literal[-1]


def _expanded(key: str, value: str, variables: Mapping[str, str]) -> str:
    pieces: list[str] = []
    done = 0
    for match in _BEGINS.finditer(value):
        reference = _REFERENCE.match(value, match.start())
        if reference is None or not reference.group(2):
            raise OptionError(
                f"option '{key}': a reference that begins with '{match.group()}' is not complete. Write "
                "'${env:NAME}' for an environment variable or '${file:PATH}' for the text of a file."
            )
        pieces += [value[done : match.start()], _read(key, reference.group(1), reference.group(2), variables)]
        done = reference.end()
    return "".join((*pieces, value[done:]))


def _read(key: str, kind: str, name: str, variables: Mapping[str, str]) -> str:
    if kind == "file":
        return _file(key, name)
    if name not in variables:
        raise OptionError(
            f"option '{key}' names the environment variable '{name}', which is not set.{near_matches(name, variables)} "
            "Set it in the driver's process."
        )
    return variables[name]


def _file(key: str, name: str) -> str:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise OptionError(
            f"option '{key}' names the file '{name}', which cannot be read: {reason}. The driver reads it when the "
            "table is read; give an absolute path."
        ) from None
    return text.removesuffix("\n").removesuffix("\r")


def _is_written_out(value: str) -> bool:
    return bool(_REFERENCE.sub("", value).strip())


def _groups(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """Return what the one group of each match that is there holds."""
    return tuple(group for match in pattern.finditer(text) for group in match.groups() if group is not None)
