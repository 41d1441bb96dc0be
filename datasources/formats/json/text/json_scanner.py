"""A complete parser of the JSON dialect of Spark's `from_json`, for texts that the faster parser rejects.

Rules of this file: no recursion, because a document may be a thousand levels deep and the interpreter's stack may
not; every error names the character where parsing failed and the text there.
"""

from __future__ import annotations

import re

from datasources.formats.values.excerpt import excerpt

MAX_DEPTH = 1_000
"""Objects and arrays that may be open at once. Source: Jackson's StreamReadConstraints, Spark's default."""
MAX_NAME_LENGTH = 50_000
"""Characters in the name of a member. Source: as above."""
MAX_NUMBER_LENGTH = 1_000
"""Digits in a number, those of its exponent included. Source: as above."""


class Members(list[tuple[str, object]]):
    """An object: its members in the order of the text."""

    __slots__ = ()


class Whole(str):
    """The text of a number without fraction and exponent."""

    __slots__ = ()


class Fraction(str):
    """The text of a number with fraction or exponent, or of NaN or an infinity."""

    __slots__ = ()


class Malformed(ValueError):
    """The text is no JSON document; the message has the position and the reason."""


def check_number(text: str) -> str:
    """Return the text of a number if it is not too long.

    Raises:
        Malformed: it has more than `MAX_NUMBER_LENGTH` digits; a zero alone before the point is not counted.
    """
    if len(text) > MAX_NUMBER_LENGTH:
        digits = sum(map(str.isdigit, text))
        starts_with_zero = text.lstrip("-")[:2] in {"0.", "0e", "0E"}
        if digits - starts_with_zero > MAX_NUMBER_LENGTH:
            raise Malformed(f"a number of {digits} digits is longer than {MAX_NUMBER_LENGTH} digits")
    return text


_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(
    r"""(?P<fraction>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)|NaN|[+-]?Infinity|[+-]INF)
      | (?P<whole>-?(?:0|[1-9][0-9]*))
      | (?P<word>true|false|null)""",
    re.VERBOSE,
)
_WORD_GOES_ON = re.compile(r"[\w.+$-]")
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]*'), "'": re.compile(r"[^'\\\x00-\x1f]*")}
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|(["'\\/bfnrt]))""")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def scan(text: str) -> object:
    """Return the tree of one document, in the form that `json_syntax.parse` describes.

    Raises:
        Malformed: the text is no document of the dialect, or exceeds one of its limits.
    """
    return _Scanner(text).document()


class _Scanner:
    """One pass over one text, with its own stack of open objects and arrays."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open: list[Members | list[object]] = []
        self._names: list[str] = []

    def document(self) -> object:
        """Read the whole text."""
        self._skip_space()
        value = self._value()
        while self._open:
            container = self._open[-1]
            value = self._next_member() if isinstance(container, Members) else self._next_item()
        self._skip_space()
        if self._at < len(self._text):
            raise self._wrong("the end of the document was expected")
        return value

    def _value(self) -> object:
        """Read a scalar, or open containers down to the first scalar or empty container, and attach it."""
        while True:
            opened = self._peek()
            if opened not in {"{", "["}:
                return self._attach(self._scalar())
            if len(self._open) >= MAX_DEPTH:
                raise Malformed(f"objects and arrays are nested more than {MAX_DEPTH} deep")
            self._at += 1
            self._open.append(Members() if opened == "{" else [])
            self._skip_space()
            if self._peek() == ("}" if opened == "{" else "]"):
                return self._close()
            if opened == "{":
                self._names.append(self._name())

    def _next_member(self) -> object:
        if self._continues("}"):
            self._names.append(self._name())
            return self._value()
        return self._close()

    def _next_item(self) -> object:
        return self._value() if self._continues("]") else self._close()

    def _continues(self, closing: str) -> bool:
        self._skip_space()
        found = self._peek()
        if found == closing:
            return False
        if found != ",":
            raise self._wrong(f"',' or '{closing}' was expected")
        self._at += 1
        self._skip_space()
        return True

    def _close(self) -> object:
        self._at += 1
        return self._attach(self._open.pop())

    def _attach(self, value: object) -> object:
        if self._open:
            container = self._open[-1]
            if isinstance(container, Members):
                container.append((self._names.pop(), value))
            else:
                container.append(value)
        return value

    def _name(self) -> str:
        if self._peek() not in {'"', "'"}:
            raise self._wrong("a name in quotes was expected")
        name = self._string()
        if len(name) > MAX_NAME_LENGTH:
            raise Malformed(f"a name is longer than {MAX_NAME_LENGTH} characters")
        self._skip_space()
        if self._peek() != ":":
            raise self._wrong("':' was expected")
        self._at += 1
        self._skip_space()
        return name

    def _scalar(self) -> object:
        if self._peek() in {'"', "'"}:
            return self._string()
        match = _SCALAR.match(self._text, self._at)
        if match is None or _WORD_GOES_ON.match(self._text, match.end()):
            raise self._wrong("a value was expected")
        self._at = match.end()
        found = match.group()
        if match.lastgroup == "word":
            return _WORDS[found]
        return Whole(check_number(found)) if match.lastgroup == "whole" else Fraction(check_number(found))

    def _string(self) -> str:
        quote = self._text[self._at]
        plain = _PLAIN[quote]
        self._at += 1
        parts: list[str] = []
        while True:
            match = plain.match(self._text, self._at)
            assert match is not None
            parts.append(match.group())
            self._at = match.end()
            if self._peek() == quote:
                self._at += 1
                return _join_surrogates("".join(parts))
            parts.append(self._escape())

    def _escape(self) -> str:
        match = _ESCAPE.match(self._text, self._at)
        if match is None:
            raise self._wrong("the string is not closed or holds a character that must be escaped")
        self._at = match.end()
        code, letter = match.groups()
        return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _wrong(self, problem: str) -> Malformed:
        if self._at >= len(self._text):
            return Malformed(f"malformed JSON: the text ends at character {self._at}; {problem}")
        return Malformed(f"malformed JSON at character {self._at + 1}, {excerpt(self._text, self._at)}: {problem}")


def _join_surrogates(text: str) -> str:
    """Join each pair of surrogates that was written as two escapes."""
    if text.isascii() or not any("\ud800" <= c <= "\udbff" for c in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
