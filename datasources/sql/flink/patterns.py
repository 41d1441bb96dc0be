r"""LIKE, SIMILAR TO, and what can be seen of a regular expression.

Flink's LIKE has no escape character unless ESCAPE names one; Spark's is a backslash then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from datasources.sql.flink.logical_types import BOOLEAN, is_family
from datasources.sql.flink.typed_value import ADDITIVE, PREDICATE, Refused, Value, shown_type, text_literal

_ESCAPES: Final = "!^~|#@$&"
_POSIX: Final = {
    "ALPHA": "\\p{Alpha}", "UPPER": "\\p{Upper}", "LOWER": "\\p{Lower}", "DIGIT": "\\d", "SPACE": " ",
    "WHITESPACE": "\\s", "ALNUM": "\\p{Alnum}",
}  # fmt: skip
_SIMILAR: Final = re.compile(r"\[:(?P<posix>[A-Za-z]+):\]|(?P<other>.)", re.DOTALL)
_REGEX: Final = re.compile(
    r"""\\Q.*?(?:\\E|\Z) | \\.
      | (?P<open>\((?!\?)|\(\?<(?![=!])) | (?P<pure>\(\?) | (?P<close>\))
      | (?P<class>\[\^?\]?) | (?P<either>\|) | .""",
    re.DOTALL | re.VERBOSE,
)
_OPTIONAL: Final = re.compile(r"[?*]|\{0")
_IN_CLASS: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|(?P<open>\[)|(?P<close>\])|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RegexGroup:
    """A group of a regular expression that has a number; `can_be_missing`: a match may be without it."""

    can_be_missing: bool


def like(value: Value, pattern: Value, escape: Value | None) -> Value:
    """Return `value LIKE pattern [ESCAPE escape]`.

    Raises:
        Refused: the operands are no text, or the escape is no single character or misused.
    """
    _require_text(value, pattern)
    if escape is not None and escape.constant != "":
        return _escaped_like(value, pattern, escape)
    if pattern.constant is None:
        doubled = f"replace({pattern.text}, {text_literal(chr(92))}, {text_literal(chr(92) * 2)})"
        return _made(f"{value.inside(ADDITIVE)} LIKE {doubled}", value, pattern)
    if "\\" not in pattern.constant:
        return _made(f"{value.inside(ADDITIVE)} LIKE {pattern.text}", value)
    unused = next((each for each in _ESCAPES if each not in pattern.constant), None)
    if unused is None:
        raise Refused("the pattern has every character that could be its escape", "Name one with ESCAPE.")
    return _made(f"{value.inside(ADDITIVE)} LIKE {pattern.text} ESCAPE '{unused}'", value)


def _escaped_like(value: Value, pattern: Value, escape: Value) -> Value:
    if escape.constant is None or len(escape.constant) != 1:
        raise Refused("ESCAPE takes one character", "Write LIKE 'a!_b' ESCAPE '!'.")
    sign = re.escape(escape.constant)
    if pattern.constant is not None and not re.fullmatch(rf"(?:{sign}[_%{sign}]|[^{sign}])*", pattern.constant):
        raise Refused(f"'{escape.constant}' of the pattern escapes nothing", "Behind it are only _, % and itself.")
    return _made(f"{value.inside(ADDITIVE)} LIKE {pattern.inside(ADDITIVE)} ESCAPE {escape.text}", value, pattern)


def similar(value: Value, pattern: Value, escape: Value | None) -> Value:
    """Return `value SIMILAR TO pattern [ESCAPE escape]`.

    Raises:
        Refused: the pattern is no literal, or malformed.
    """
    _require_text(value, pattern)
    if pattern.constant is None or pattern.type.root == "NULL":
        raise Refused("the pattern of SIMILAR TO has to be a literal here", "Use REGEXP(text, pattern).")
    regex = _regex(pattern.constant, "" if escape is None else (escape.constant or ""))
    regex_groups(regex)
    return _made(f"{value.inside(ADDITIVE)} RLIKE {text_literal(regex)}", value)


def _regex(pattern: str, escape: str) -> str:
    """A dot, `^` and `$` mean what they do in a regular expression; `_` is no line break."""
    found: list[str] = []
    in_class = is_escaped = False
    for match in _SIMILAR.finditer(pattern):
        each = match.group()
        if is_escaped:
            found.append("\\" + each)
            is_escaped = False
        elif escape and each == escape:
            is_escaped = True
        elif in_class:
            found.append(_POSIX.get((match["posix"] or "").upper(), "\\\\" if each == "\\" else each))
            in_class = each != "]"
        else:
            found.append({"%": "(?s:.*)", "_": ".", "\\": "\\\\"}.get(each, each))
            in_class = each == "["
    return f"\\A(?:{''.join(found)})\\z"


def regex_groups(pattern: str) -> tuple[RegexGroup, ...]:
    """Return the numbered groups of a regular expression of Java's.

    Raises:
        Refused: its brackets do not match.
    """
    return _GroupReader(pattern).read()


@dataclass(slots=True)
class _OpenGroup:
    """A group that is being read: its number, that of those inside, and whether it has `|`."""

    number: int | None
    inner: list[int] = field(default_factory=list)
    has_choice: bool = False


class _GroupReader:
    """Reads the brackets of a regular expression."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._can_be_missing: list[bool] = []
        self._open = [_OpenGroup(None)]

    def read(self) -> tuple[RegexGroup, ...]:
        """Return the groups."""
        while self._position < len(self._pattern):
            match = _REGEX.match(self._pattern, self._position)
            assert match is not None
            self._position = match.end()
            if match["class"]:
                self._skip_class()
            elif match["open"] or match["pure"]:
                self._begin(has_number=match["open"] is not None)
            elif match["close"]:
                self._end()
            elif match["either"]:
                self._open[-1].has_choice = True
        if len(self._open) > 1:
            raise _malformed(self._pattern)
        self._mark(self._open[0].inner, self._open[0].has_choice)
        return tuple(map(RegexGroup, self._can_be_missing))

    def _begin(self, *, has_number: bool) -> None:
        self._open.append(_OpenGroup(len(self._can_be_missing) if has_number else None))
        if has_number:
            self._can_be_missing.append(False)

    def _end(self) -> None:
        group = self._open.pop()
        if not self._open:
            raise _malformed(self._pattern)
        is_optional = _OPTIONAL.match(self._pattern, self._position) is not None
        self._mark(group.inner, is_optional or group.has_choice)
        if group.number is not None:
            self._mark([group.number], is_optional)
            group.inner.append(group.number)
        self._open[-1].inner += group.inner

    def _mark(self, numbers: list[int], can_be_missing: bool) -> None:  # noqa: FBT001 - what is marked
        for each in numbers:
            self._can_be_missing[each] |= can_be_missing

    def _skip_class(self) -> None:
        depth = 1
        while depth:
            match = _IN_CLASS.match(self._pattern, self._position)
            if match is None:
                raise _malformed(self._pattern)
            self._position = match.end()
            depth += bool(match["open"]) - bool(match["close"])


def _malformed(pattern: str) -> Refused:
    return Refused(
        f"the brackets of the pattern '{pattern}' do not match", "A bracket that is text follows a backslash."
    )


def _require_text(*values: Value) -> None:
    for each in values:
        if not is_family(each.type, "text"):
            raise Refused(f"a pattern is compared with text, and this is {shown_type(each.type)}", "CAST it to STRING.")


def _made(text: str, *operands: Value) -> Value:
    return Value(
        text=text,
        type=BOOLEAN,
        level=PREDICATE,
        depth=max(each.depth for each in operands),
        is_aggregate=any(each.is_aggregate for each in operands),
    )
