"""The types of Avro 1.12, as an Avro schema declares them.

A named type may contain itself, so types are compared by identity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

MAX_DEPTH: Final = 64
"""How deeply types may be nested in a schema without repeating one."""


class AvroKind(Enum):
    """The kinds of types, by their names in a schema."""

    NULL = "null"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"
    RECORD = "record"
    ENUM = "enum"
    ARRAY = "array"
    MAP = "map"
    UNION = "union"
    FIXED = "fixed"


NAMED: Final = frozenset((AvroKind.RECORD, AvroKind.ENUM, AvroKind.FIXED))


@dataclass(frozen=True, slots=True)
class LogicalType:
    """What the values of a type mean. Precision and scale are those of a decimal."""

    name: str
    precision: int = 0
    scale: int = 0

    @property
    def is_decimal(self) -> bool:
        """Whether values are decimals."""
        return self.name == "decimal"

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})" if self.is_decimal else self.name


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a field, as JSON has it; `Default(None)` is null."""

    value: object


@dataclass(slots=True, eq=False)
class AvroField:
    """A field of a record.

    Attributes:
        name: of the field.
        type: of its values.
        aliases: other names that a writer may have for it.
        default: what a record without it has; None = there is none.
    """

    name: str
    type: AvroType
    aliases: tuple[str, ...] = ()
    default: Default | None = None


@dataclass(slots=True, eq=False)
class AvroType:
    """A type.

    Attributes:
        kind: which one.
        logical: what the values mean; None = nothing else than what the kind says.
        name: of a named type, with its namespace.
        aliases: full names that a writer may have for it.
        size: of a fixed, in bytes.
        symbols: of an enum.
        default_symbol: of an enum, for symbols of a writer that it lacks.
        items: an array's element, a map's value, or a union's branches.
        fields: of a record.
    """

    kind: AvroKind
    logical: LogicalType | None = None
    name: str = ""
    aliases: tuple[str, ...] = ()
    size: int = 0
    symbols: tuple[str, ...] = ()
    default_symbol: str | None = None
    items: tuple[AvroType, ...] = ()
    fields: list[AvroField] = field(default_factory=list)

    @property
    def is_null(self) -> bool:
        """Whether null is its only value."""
        return self.kind is AvroKind.NULL

    @property
    def is_union(self) -> bool:
        """Whether values are those of several types."""
        return self.kind is AvroKind.UNION

    @property
    def branches(self) -> tuple[AvroType, ...]:
        """The types of a union; of any other type, itself."""
        return self.items if self.is_union else (self,)

    def __str__(self) -> str:
        if self.is_union:
            return f"[{', '.join(map(str, self.items))}]"
        if self.kind in NAMED:
            text = f"{self.kind.value} {self.name}"
        elif self.items:
            text = f"{self.kind.value} of {self.items[0]}"
        else:
            text = self.kind.value
        return text if self.logical is None else f"{text} ({self.logical})"


def base_name(name: str) -> str:
    """Return a full name without its namespace."""
    return name.rpartition(".")[2]
