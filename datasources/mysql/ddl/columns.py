"""Definitions of columns in ALTER TABLE, read by sqlglot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

__all__ = ["ColumnDefinition", "parse_column", "same_type"]

_INTEGERS: Final = frozenset(
    exp.DataType.Type[name]
    for name in (
        "TINYINT",
        "SMALLINT",
        "MEDIUMINT",
        "INT",
        "BIGINT",
        "UTINYINT",
        "USMALLINT",
        "UMEDIUMINT",
        "UINT",
        "UBIGINT",
    )
)
_DECIMALS: Final = frozenset({exp.DataType.Type.DECIMAL, exp.DataType.Type.UDECIMAL})
_DEFAULT_PRECISION: Final = ("10", "0")
_HARMLESS: Final = (
    exp.CommentColumnConstraint,
    exp.AutoIncrementColumnConstraint,
    exp.DefaultColumnConstraint,
    exp.OnUpdateColumnConstraint,
    exp.NotNullColumnConstraint,
)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """What a definition says.

    Attributes:
        type: its type.
        is_not_null: it says NOT NULL, or PRIMARY KEY.
        is_primary: it says PRIMARY KEY.
        is_null: it says NULL.
        has_value: rows that exist get a value: DEFAULT other than NULL, AUTO_INCREMENT, an expression.
        is_plain: it says nothing that could change values beyond type and NULL: no character set, no expression.
    """

    type: exp.DataType
    is_not_null: bool
    is_primary: bool
    is_null: bool
    has_value: bool
    is_plain: bool

    @property
    def is_timestamp(self) -> bool:
        """Whether the type is TIMESTAMP, which some settings make NOT NULL with a default."""
        return self.type.this in (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ)


def parse_column(tokens: list[str]) -> ColumnDefinition | None:
    """Return what a definition says; None if sqlglot cannot read it.

    Args:
        tokens: what stands behind the column's name, without FIRST and AFTER.
    """
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t (c {' '.join(tokens)})", read="mysql")
    except SqlglotError:
        return None
    columns = list(tree.find_all(exp.ColumnDef))
    if (
        not isinstance(tree, exp.Create)
        or len(columns) != 1
        or not isinstance(columns[0].args.get("kind"), exp.DataType)
    ):
        return None
    kinds = [constraint.args.get("kind") for constraint in columns[0].args.get("constraints") or []]
    return _definition(columns[0].args["kind"], kinds)


def _definition(column_type: exp.DataType, kinds: list[exp.Expression | None]) -> ColumnDefinition:
    not_null = [kind for kind in kinds if isinstance(kind, exp.NotNullColumnConstraint)]
    defaults = [kind for kind in kinds if isinstance(kind, exp.DefaultColumnConstraint)]
    gives = (exp.AutoIncrementColumnConstraint, exp.ComputedColumnConstraint, exp.GeneratedAsIdentityColumnConstraint)
    is_primary = any(isinstance(kind, exp.PrimaryKeyColumnConstraint) for kind in kinds)
    return ColumnDefinition(
        type=column_type,
        is_primary=is_primary,
        is_not_null=any(not kind.args.get("allow_null") for kind in not_null)
        or is_primary
        or str(column_type.this).upper().endswith("SERIAL"),
        is_null=any(kind.args.get("allow_null") for kind in not_null),
        has_value=any(not isinstance(kind.this, exp.Null) for kind in defaults)
        or any(isinstance(kind, gives) for kind in kinds),
        is_plain=all(isinstance(kind, _HARMLESS) for kind in kinds),
    )


def same_type(stated: exp.DataType, known: str) -> bool:
    """Return whether a type is the one that information_schema.COLUMNS calls by this COLUMN_TYPE."""
    definition = parse_column([known])
    return definition is not None and _normal(stated) == _normal(definition.type)


def _normal(column_type: exp.DataType) -> tuple[object, ...]:
    kind = column_type.this
    arguments = tuple(each.sql("mysql") for each in column_type.expressions)
    if kind is exp.DataType.Type.BOOLEAN:
        return (exp.DataType.Type.TINYINT,)
    if kind in _INTEGERS:
        return (kind,)  # what follows is a width to show
    if kind in _DECIMALS:
        return (kind, *arguments, *_DEFAULT_PRECISION[len(arguments) :])
    return (kind, *arguments)
