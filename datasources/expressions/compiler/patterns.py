r"""Regular expressions: the subset in which Java's engine and Python's agree, translated from one to the other.

Accepted: characters, escaped punctuation, ``. ^ $ \z | ( ) (?: )``, classes of characters and ranges, ``\d \w \s``
and their complements, and the quantifiers ``* + ? {m,n}``, greedy or lazy. Java's ``.`` and ``$`` know more line
ends than Python's; they are written out. Look-around, back references, ``\p``, ``\b``, flags, possessive
quantifiers, class intersection and quantifiers on groups that may be empty or that hold groups are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_LINE_ENDS: Final = r"\n\r\u0085\u2028\u2029"
_ANY: Final = r"[\s\S]"
_DOT: Final = f"[^{_LINE_ENDS}]"
_END: Final = r"(?=(?:\r\n|(?<!\r)\n|[\r\u0085\u2028\u2029])?\Z)"
_CLASS_ESCAPES: Final = "dDwWsS"
_CONTROLS: Final = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{([0-9]{1,3})(?:(,)([0-9]{0,3}))?\})")
_PUNCTUATION: Final = frozenset(r"\.[]{}()*+?^$|-/:,;=!<>@#%&~'\"`_ ")


class UnsupportedPattern(ValueError):
    """The pattern is outside the subset; the message names the construct."""


@dataclass(slots=True)
class _Piece:
    text: str
    nullable: bool
    has_group: bool
    is_group: bool = False


class _Translator:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0

    def run(self) -> str:
        piece = self._alternatives()
        if self.at < len(self.pattern):
            raise UnsupportedPattern("a ) without its (")
        return piece.text

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self) -> str:
        char = self._peek()
        if not char:
            raise UnsupportedPattern("an end in the middle of a construct")
        self.at += 1
        return char

    def _alternatives(self) -> _Piece:
        branches = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            branches.append(self._sequence())
        return _Piece(
            text="|".join(branch.text for branch in branches),
            nullable=any(branch.nullable for branch in branches),
            has_group=any(branch.has_group for branch in branches),
        )

    def _sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while self._peek() not in ("", "|", ")"):
            pieces.append(self._quantified(self._atom()))
        return _Piece(
            text="".join(piece.text for piece in pieces),
            nullable=all(piece.nullable for piece in pieces),
            has_group=any(piece.has_group for piece in pieces),
        )

    def _atom(self) -> _Piece:
        char = self._take()
        if char == "(":
            return self._group()
        if char == "[":
            return _Piece(self._class(), nullable=False, has_group=False)
        if char == "\\" and self._peek() == "z":
            self.at += 1
            return _Piece(r"\Z", nullable=True, has_group=False)
        if char in "^$":
            return _Piece(r"\A" if char == "^" else _END, nullable=True, has_group=False)
        if char in "*+?{":
            raise UnsupportedPattern(f"the quantifier {char} without anything before it")
        return _Piece(self._single(char), nullable=False, has_group=False)

    def _single(self, char: str) -> str:
        if char == ".":
            return _DOT
        if char == "\\":
            return self._escape()
        return re.escape(char)

    def _escape(self) -> str:
        char = self._take()
        if char in _CLASS_ESCAPES:
            return f"\\{char}"
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in _PUNCTUATION:
            return re.escape(char)
        raise UnsupportedPattern(f"the escape \\{char}")

    def _group(self) -> _Piece:
        captures = True
        if self._peek() == "?":
            self.at += 1
            if self._take() != ":":
                raise UnsupportedPattern("a group with look-around, a name or flags")
            captures = False
        inner = self._alternatives()
        if self._take() != ")":
            raise UnsupportedPattern("a ( without its )")
        self.groups += captures
        opening = "(" if captures else "(?:"
        return _Piece(
            text=f"{opening}{inner.text})",
            nullable=inner.nullable,
            has_group=captures or inner.has_group,
            is_group=True,
        )

    def _quantified(self, piece: _Piece) -> _Piece:
        match = _QUANTIFIER.match(self.pattern, self.at)
        if match is None:
            return piece
        if piece.nullable or (piece.is_group and piece.has_group and piece.text.count("(") > 1):
            raise UnsupportedPattern("a quantifier on something that may be empty or that holds groups")
        self.at = match.end()
        text = match[0]
        if self._peek() == "?":
            self.at += 1
            text += "?"
        if self._peek() in ("+", "*", "{", "?") and self._peek():
            raise UnsupportedPattern("two quantifiers in a row")
        low = 0 if match[0] in "*?" else 1 if match[0] == "+" else int(match[1])
        if match[1] and match[3] and int(match[3]) < low:
            raise UnsupportedPattern("a quantifier whose maximum is below its minimum")
        return _Piece(text=piece.text + text, nullable=low == 0, has_group=piece.has_group)

    def _class(self) -> str:
        negated = self._peek() == "^"
        self.at += negated
        items: list[str] = []
        while self._peek() != "]" or not items:
            items.append(self._class_item())
        self.at += 1
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def _class_item(self) -> str:
        first = self._class_char()
        if self._peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
            return first
        self.at += 1
        last = self._class_char()
        if first.startswith("\\") or last.startswith("\\"):
            raise UnsupportedPattern("a range whose ends are not plain characters")
        if first > last:
            raise UnsupportedPattern("a range that runs backwards")
        return f"{first}-{last}"

    def _class_char(self) -> str:
        char = self._take()
        if char == "\\":
            return self._escape()
        if char in "[]&^":
            raise UnsupportedPattern(f"an unescaped {char} inside a class")
        return "\\-" if char == "-" else char


def translate(pattern: str) -> tuple[str, int]:
    """Return Python's form of a Java pattern, and how many groups it captures.

    Raises:
        UnsupportedPattern: The pattern holds something in which the two engines may differ.
    """
    translator = _Translator(pattern)
    return translator.run(), translator.groups


def from_like(pattern: str) -> str:
    """Return the regular expression of a LIKE pattern without escapes.

    Raises:
        UnsupportedPattern: The pattern holds a backslash.
    """
    if "\\" in pattern:
        raise UnsupportedPattern("a backslash")
    first, *others = ("".join(_ANY if char == "_" else re.escape(char) for char in part) for part in pattern.split("%"))
    if not others:
        return rf"\A{first}\Z"
    # What lies between two % has a fixed length, so its first place is as good as any: to try the others as well
    # would be quadratic and more.
    between = "".join(f"(?>{_ANY}*?{part})" for part in others[:-1] if part)
    return rf"\A{first}{between}{_ANY}*{others[-1]}\Z"
