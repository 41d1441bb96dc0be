"""A column's type as far as row values depend on it, and which other types preserve the values.

Rules of this file. An unlisted type is unknown, and a column of it may change with any statement. A type
preserves the values of another one only if the server cannot change any of them without an error. Where the
server reports an error in strict mode only, the statement's sql_mode decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from datasources.mysql.types import ColumnType, Kind
from datasources.mysql.types.type_table import FAMILIES, Definition

_STRICT: Final = 1 << 21 | 1 << 22
"""Bits of sql_mode: STRICT_TRANS_TABLES, STRICT_ALL_TABLES."""
_MAX_BYTES_OF_CHARACTER: Final = 4
_INTEGERS: Final = {
    "TINYINT": 1,
    "BOOL": 1,
    "BOOLEAN": 1,
    "SMALLINT": 2,
    "MEDIUMINT": 3,
    "INT": 4,
    "INTEGER": 4,
    "BIGINT": 8,
}
_BYTES_OF_LENGTH: Final = {"TINY": 1, "": 2, "MEDIUM": 3, "LONG": 4}
_LARGE: Final = {
    f"{size}{word}": (family, (1 << 8 * width) - 1)
    for word, family in (("TEXT", "text"), ("BLOB", "blob"))
    for size, width in _BYTES_OF_LENGTH.items()
}
_DECIMALS: Final = frozenset({"DECIMAL", "DEC", "NUMERIC", "FIXED"})
_FAMILIES_OF: Final = {
    definition: tuple(family for family, row in FAMILIES.items() if row.definition is definition)
    for definition in Definition
}
_TIMES: Final = frozenset(map(str.upper, _FAMILIES_OF[Definition.FRACTION]))
_PLAIN: Final = frozenset(map(str.upper, _FAMILIES_OF[Definition.PLAIN]))
_SIZED: Final = frozenset({"CHAR", "VARCHAR", "BINARY", "VARBINARY", "BIT"})
_SIGNS: Final = frozenset({"SIGNED", "UNSIGNED", "ZEROFILL"})
_CHOICES: Final = frozenset({"ENUM", "SET"})
_DEFAULT_DIGITS: Final = (10, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredType:
    """A column's type.

    Attributes:
        family: the type's name without its size, lower case: ``int`` for all integers, ``text`` and ``blob`` for those
            of all sizes.
        size: bytes of an integer, a text or a blob; characters of CHAR and VARCHAR; bytes of BINARY and VARBINARY; bits
            of a BIT; digits of a DECIMAL; else 0.
        scale: digits behind the point, of a second's fraction too.
        is_unsigned: of a number.
        members: of ENUM and SET.
        is_not_null: whether it is NOT NULL.
        charset: of texts, ENUM and SET; None = not stated.
    """

    family: str
    size: int = 0
    scale: int = 0
    is_unsigned: bool = False
    members: tuple[str, ...] = ()
    is_not_null: bool = False
    charset: str | None = None

    @property
    def has_charset(self) -> bool:
        """Whether its values are texts of a character set."""
        return self.family in _OF_CHARSET

    @property
    def column_type(self) -> ColumnType:
        """The type as readers know it; a character set that is not stated does not matter to Spark's type."""
        kind = FAMILIES[self.family].kind
        if kind is Kind.DECIMAL:
            return ColumnType(kind=kind, precision=self.size, scale=self.scale)
        width = self.size if kind in (Kind.INTEGER, Kind.BIT) else 0
        return ColumnType(kind=kind, width=width, is_unsigned=self.is_unsigned, scale=self.scale, members=self.members)


_OF_CHARSET: Final = frozenset({"char", "varchar", "text", "enum", "set"})


def parse_type(tokens: list[str]) -> StoredType | None:
    """Return the type with which a definition begins; None if it is unknown.

    Args:
        tokens: behind the column's name; those behind the type are ignored, except UNSIGNED.
    """
    word, behind, arguments = tokens[0].upper(), tokens[1:], list[str]()
    if behind[:1] == ["("]:
        if ")" not in behind:
            return None
        end = behind.index(")")
        arguments, behind = [each for each in behind[1:end] if each != ","], behind[end + 1 :]
    if "(" in behind[1:2]:
        return None  # DOUBLE PRECISION (7,2)
    signs = list(takewhile(_SIGNS.__contains__, (token.upper() for token in behind)))
    return _parsed(word, arguments, is_unsigned=bool({"UNSIGNED", "ZEROFILL"}.intersection(signs)))


def _parsed(word: str, arguments: list[str], *, is_unsigned: bool) -> StoredType | None:
    if word in _CHOICES:
        return _choice(word, arguments)
    if not all(argument.isdecimal() for argument in arguments):
        return None
    numbers = [int(argument) for argument in arguments]
    if word in _INTEGERS:
        return StoredType(family="int", size=_INTEGERS[word], is_unsigned=is_unsigned)
    if word in _DECIMALS:
        digits, scale = (*numbers, *_DEFAULT_DIGITS[len(numbers) :])
        return StoredType(family="decimal", size=digits or _DEFAULT_DIGITS[0], scale=scale, is_unsigned=is_unsigned)
    return _sized(word, numbers) if numbers else _unsized(word, is_unsigned=is_unsigned)


def _sized(word: str, numbers: list[int]) -> StoredType | None:
    """Not FLOAT(7,2), which rounds, nor TEXT(300), whose size the server chooses."""
    if word in _TIMES:
        return StoredType(family=word.lower(), scale=numbers[0])
    return StoredType(family=word.lower(), size=numbers[0]) if word in _SIZED else None


def _unsized(word: str, *, is_unsigned: bool) -> StoredType | None:
    if word in _LARGE:
        family, size = _LARGE[word]
        return StoredType(family=family, size=size)
    if word in _SIZED:
        return StoredType(family=word.lower(), size=1)
    return StoredType(family=word.lower(), is_unsigned=is_unsigned) if word in _PLAIN | _TIMES else None


def _choice(word: str, arguments: list[str]) -> StoredType | None:
    """ENUM or SET; members with a backslash are not parsed: they are rare, and depend on the sql_mode."""
    if not all(each[:1] in ("'", '"') and "\\" not in each for each in arguments):
        return None
    members = tuple(each[1:-1].replace(2 * each[0], each[0]) for each in arguments)
    return StoredType(family=word.lower(), members=members)


def keeps_values(old: StoredType, new: StoredType, sql_mode: int) -> bool:
    """Return whether a type change preserves every value of a column.

    Args:
        old: its type before, with its character set.
        new: its type after, with its character set.
        sql_mode: of the statement's session.
    """
    is_strict = bool(sql_mode & _STRICT)
    if new.is_unsigned and not old.is_unsigned:
        return False
    if old.has_charset != new.has_charset:
        return False
    if old.has_charset and not (is_strict and _keeps_characters(old.charset, new.charset)):
        return False
    if old.family in _TIMES_LOWER and not is_strict:
        return False  # an invalid date becomes another one
    rule = _PRESERVING.get((old.family, new.family))
    return rule is not None and rule(old, new)


_TIMES_LOWER: Final = frozenset({"date", "datetime", "timestamp", "time"})
_IN_UTF8MB4: Final = frozenset({"ascii", "latin1", "utf8mb3"})


def _keeps_characters(old: str | None, new: str | None) -> bool:
    return old is not None and (new == old or (new == "utf8mb4" and old in _IN_UTF8MB4))


def _integer(old: StoredType, new: StoredType) -> bool:
    return new.size > old.size or (new.size == old.size and new.is_unsigned == old.is_unsigned)


def _decimal(old: StoredType, new: StoredType) -> bool:
    return new.scale >= old.scale and new.size - new.scale >= old.size - old.scale


def _longer(old: StoredType, new: StoredType) -> bool:
    return new.size >= old.size


def _same(old: StoredType, new: StoredType) -> bool:
    return (new.size, new.scale) == (old.size, old.scale)


def _finer(old: StoredType, new: StoredType) -> bool:
    return new.scale >= old.scale


def _longer_text(old: StoredType, new: StoredType) -> bool:
    """Whether a text's bytes suffice; characters of another character set may take more bytes."""
    return new.size >= old.size if new.charset == old.charset else new.size > old.size


def _fits_text(old: StoredType, new: StoredType) -> bool:
    return new.size >= _MAX_BYTES_OF_CHARACTER * old.size


def _appended(old: StoredType, new: StoredType) -> bool:
    return bool(old.members) and new.members[: len(old.members)] == old.members


_PRESERVING: Final[dict[tuple[str, str], Callable[[StoredType, StoredType], bool]]] = {
    **{(family, family): _same for family in _FAMILIES_OF[Definition.PLAIN]},
    ("int", "int"): _integer,
    ("decimal", "decimal"): _decimal,
    ("float", "double"): _same,
    ("bit", "bit"): _same,
    ("datetime", "datetime"): _finer,
    ("time", "time"): _finer,
    ("timestamp", "timestamp"): _same,  # with other digits it is converted through the session's zone
    ("char", "char"): _longer,
    ("varchar", "varchar"): _longer,
    ("varchar", "text"): _fits_text,
    ("text", "text"): _longer_text,
    ("binary", "binary"): _same,  # a longer one is filled with zeros
    ("varbinary", "varbinary"): _longer,
    ("varbinary", "blob"): _longer,
    ("blob", "blob"): _longer,
    ("enum", "enum"): _appended,
    ("set", "set"): _appended,
}
