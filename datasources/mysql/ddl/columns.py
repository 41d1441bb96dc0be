"""Column definitions in ALTER TABLE, parsed by sqlglot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from datasources.mysql.ddl.stored_type import StoredType, parse_type

_VALUE_NEUTRAL: Final = (
    exp.CommentColumnConstraint,
    exp.AutoIncrementColumnConstraint,
    exp.DefaultColumnConstraint,
    exp.OnUpdateColumnConstraint,
    exp.NotNullColumnConstraint,
    exp.CharacterSetColumnConstraint,
    exp.CollateColumnConstraint,
)
_TIMESTAMPS: Final = frozenset({exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ})


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A parsed column definition.

    Attributes:
        type: its type, with the stated NOT NULL and character set; None = unknown.
        is_timestamp: the type is TIMESTAMP, which some settings make NOT NULL with a default.
        is_not_null: it has NOT NULL, or PRIMARY KEY.
        is_primary: it has PRIMARY KEY.
        is_null: it has NULL.
        fills_rows: existing rows get a value: DEFAULT other than NULL, AUTO_INCREMENT, an expression.
        is_auto_increment: it has AUTO_INCREMENT.
        is_plain: nothing but type and NULL can change values: it has no expression.
    """

    type: StoredType | None
    is_timestamp: bool
    is_not_null: bool
    is_primary: bool
    is_null: bool
    fills_rows: bool
    is_auto_increment: bool
    is_plain: bool


def parse_column(tokens: list[str]) -> ColumnDefinition | None:
    """Return a parsed definition; None if sqlglot cannot parse it.

    Args:
        tokens: behind the column's name, without FIRST and AFTER.
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
    return _definition(columns[0].args["kind"], kinds, parse_type(tokens))


def _definition(
    column_type: exp.DataType, kinds: list[exp.Expression | None], stored: StoredType | None
) -> ColumnDefinition:
    not_null = [kind for kind in kinds if isinstance(kind, exp.NotNullColumnConstraint)]
    defaults = [kind for kind in kinds if isinstance(kind, exp.DefaultColumnConstraint)]
    gives = (exp.AutoIncrementColumnConstraint, exp.ComputedColumnConstraint, exp.GeneratedAsIdentityColumnConstraint)
    is_primary = any(isinstance(kind, exp.PrimaryKeyColumnConstraint) for kind in kinds)
    is_not_null = (
        any(not kind.args.get("allow_null") for kind in not_null)
        or is_primary
        or str(column_type.this).upper().endswith("SERIAL")
    )
    return ColumnDefinition(
        type=None if stored is None else replace(stored, is_not_null=is_not_null, charset=_charset(kinds)),
        is_timestamp=column_type.this in _TIMESTAMPS,
        is_primary=is_primary,
        is_not_null=is_not_null,
        is_null=any(kind.args.get("allow_null") for kind in not_null),
        fills_rows=any(not isinstance(kind.this, exp.Null) for kind in defaults)
        or any(isinstance(kind, gives) for kind in kinds),
        is_auto_increment=any(isinstance(kind, exp.AutoIncrementColumnConstraint) for kind in kinds),
        is_plain=all(isinstance(kind, _VALUE_NEUTRAL) for kind in kinds),
    )


def _charset(kinds: list[exp.Expression | None]) -> str | None:
    """The character set that a definition states, by its name or by a collation."""
    for kind in kinds:
        if isinstance(kind, (exp.CharacterSetColumnConstraint, exp.CollateColumnConstraint)):
            name = str(kind.this.name).lower().split("_")[0]
            return "utf8mb3" if name == "utf8" else name
    return None
