"""How information_schema.COLUMNS writes types: what each makes of COLUMN_TYPE."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from datasources.errors import SchemaError
from datasources.mysql.types.charsets import BINARY
from datasources.mysql.types.column import ColumnType, Kind

_MEMBER: Final = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_ESCAPED: Final = re.compile(r"''|\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "r": "\r", "0": "\0"}
_NUMBERS: Final = re.compile(r"\w+\s*\((\d+)(?:,(\d+))?\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A column's type as information_schema describes it.

    Attributes:
        text: COLUMN_TYPE, such as ``decimal(10,2) unsigned`` or ``enum('a','b')``.
        charset: CHARACTER_SET_NAME; None for columns without text.
        column: the column's name, for errors.
    """

    text: str
    charset: str | None
    column: str

    @property
    def numbers(self) -> list[int]:
        """The numbers in parentheses, as two; empty if there are none."""
        match = _NUMBERS.match(self.text)
        return [] if match is None else [int(number) for number in match.groups(default="0")]

    def refused(self, remedy: str) -> SchemaError:
        """Return the error for a type that cannot be read exactly."""
        return SchemaError(
            f"column '{self.column}' has the type {self.text}, which the binlog does not describe well enough to read "
            f"it exactly; {remedy}."
        )


Declared = Callable[[Declaration], ColumnType]


def plain(kind: Kind) -> Declared:
    """A type without arguments that matter."""
    return lambda _: ColumnType(kind=kind)


def integer(width: int) -> Declared:
    """An integer of so many bytes."""
    return lambda d: ColumnType(kind=Kind.INTEGER, width=width, is_unsigned="unsigned" in d.text.lower())


def decimal(declaration: Declaration) -> ColumnType:
    """Return a DECIMAL."""
    precision, scale = declaration.numbers
    return ColumnType(kind=Kind.DECIMAL, precision=precision, scale=scale)


def timed(kind: Kind) -> Declared:
    """A time with digits of a fraction."""

    def declared(declaration: Declaration) -> ColumnType:
        numbers = declaration.numbers
        if numbers and "mariadb-5.3" in declaration.text:
            raise declaration.refused("ALTER TABLE ... FORCE writes its times in the form of today")
        return ColumnType(kind=kind, scale=numbers[0] if numbers else 0)

    return declared


def wide(kind: Kind) -> Declared:
    """A type whose number is its width."""
    return lambda declaration: ColumnType(kind=kind, width=declaration.numbers[0])


def chosen(kind: Kind) -> Declared:
    """An ENUM or SET."""
    return lambda d: ColumnType(kind=kind, members=members_of(d.text), charset=d.charset or BINARY)


def text(declaration: Declaration) -> ColumnType:
    """Return a text; without a character set it is bytes."""
    if declaration.charset is None:
        return ColumnType(kind=Kind.BINARY)
    return ColumnType(kind=Kind.TEXT, charset=declaration.charset)


def members_of(column_type: str) -> tuple[str, ...]:
    """Return the members of an ENUM or SET in the order of their numbers.

    A character beyond U+FFFF is ``?`` in information_schema, whose texts are utf8mb3.
    """
    return tuple(_ESCAPED.sub(_unescaped, quoted) for quoted in _MEMBER.findall(column_type))


def _unescaped(match: re.Match[str]) -> str:
    return "'" if match[1] is None else _ESCAPES.get(match[1], match[1])
