"""The key by which a table is divided into chunks: its columns identify rows and are never NULL."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

TableName = tuple[str, str]
"""Database and table."""

INVISIBLE_KEY: Final = "my_row_id"
"""The column that MySQL 8.0.30 and newer generate for tables without a key, if so configured."""

_PRIMARY: Final = "PRIMARY"
_INTEGERS: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})


class KeyKind(enum.Enum):
    """The kind of a key."""

    PRIMARY = "primary key"
    INVISIBLE = "generated invisible primary key"
    UNIQUE = "unique index"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """One column of a key.

    Attributes:
        name: Its name.
        data_type: Its type without arguments, lower case, such as ``varchar``.
        column_type: Its whole type, such as ``int unsigned``.
        charset: Character set of a text column, else None.
        collation: Collation of a text column, else None.
        has_index_order: Whether comparisons of the server have the order of an index.
    """

    name: str
    data_type: str
    column_type: str
    charset: str | None = None
    collation: str | None = None
    has_index_order: bool = True

    @property
    def is_integer(self) -> bool:
        """Whether its values are integers."""
        return self.data_type in _INTEGERS

    def __str__(self) -> str:
        return f"{self.name} {self.column_type}" + (f" {self.collation}" if self.collation else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A unique index.

    Attributes:
        name: Its name; ``PRIMARY`` is the primary key's.
        columns: Its columns, in order.
        is_complete: Whether it identifies rows and can be walked: no column can be NULL, none is a prefix or an
            expression, and it is an ordered index that statements may name.
        is_divisible: Whether ranges of it can be read one by one.
    """

    name: str
    columns: tuple[KeyColumn, ...]
    is_complete: bool
    is_divisible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableKey:
    """The key that identifies a table's rows.

    Attributes:
        kind: Its kind.
        name: The index's name; empty for none.
        columns: Its columns, in the index's order; empty for none.
    """

    kind: KeyKind
    name: str = ""
    columns: tuple[KeyColumn, ...] = ()

    def __str__(self) -> str:
        if self.kind is KeyKind.NONE:
            return "no key"
        return f"{self.kind.value} ({', '.join(map(str, self.columns))})"


def choose_key(indexes: Iterable[Index]) -> TableKey:
    """Return the primary key, else the best unique index without NULL, else none.

    One by which the table can be read in ranges is preferred to the primary key. The best index has the smallest number
    of columns, then the largest number of integers, then the first name, so that the choice is deterministic.
    """
    complete = [index for index in indexes if index.is_complete]
    candidates = [index for index in complete if index.is_divisible] or complete
    primary = next((index for index in candidates if index.name == _PRIMARY), None)
    if primary is not None:
        names = [column.name for column in primary.columns]
        kind = KeyKind.INVISIBLE if names == [INVISIBLE_KEY] else KeyKind.PRIMARY
        return TableKey(kind=kind, name=primary.name, columns=primary.columns)
    if not candidates:
        return TableKey(kind=KeyKind.NONE)
    best = min(candidates, key=lambda index: (len(index.columns), -_integers(index.columns), index.name))
    return TableKey(kind=KeyKind.UNIQUE, name=best.name, columns=best.columns)


def _integers(columns: Sequence[KeyColumn]) -> int:
    return sum(column.is_integer for column in columns)
