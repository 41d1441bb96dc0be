"""Joins on equal keys of two changing tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.change_operator import OperatorState
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints, with_weights
from datasources.spark.operators.changelog.join.join_sides import JoinSide, changed_pairs, join_sides
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS, add_count, conformed, merge_into


class JoinKind(StrEnum):
    """Which rows a join returns.

    INNER has the pairs of rows with equal keys. LEFT, RIGHT and FULL also have the rows of one or both tables without a
    match, with NULL for the other table's columns. SEMI has the left rows with a match, ANTI those without, EXISTENCE
    all left rows and whether they have one.
    """

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    EXISTENCE = "existence"


_WITH_PAIRS = frozenset({JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL})


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinOperator:
    """Joins two tables on equal keys. A `ChangeOperator` with the left and the right table as inputs.

    A row that a table has n times has n times the matches. The state holds both tables, each row once.

    Attributes:
        kind: which rows are returned.
        left: columns of the left table.
        right: columns of the right table; in the result they follow those of the left, so no name may be in both.
        left_keys: columns of the left table; none: every pair of rows matches (the hash is then constant).
        right_keys: as many columns of the right table, of the same types. Equal keys have equal hashes.
        null_safe: for each key, whether NULL equals NULL. A row with a NULL in another key matches nothing. It may
            have any hash that its values determine; one shared by all of them would make a single large page.
        exists_column: EXISTENCE: name of the BOOLEAN column after those of the left table.
    """

    kind: JoinKind
    left: pa.Schema
    right: pa.Schema
    left_keys: Sequence[str]
    right_keys: Sequence[str]
    null_safe: Sequence[bool]
    exists_column: str = "exists"

    def __post_init__(self) -> None:
        """Raise a ValueError unless the keys form pairs of one type and the result's names are unique."""
        if not len(self.left_keys) == len(self.right_keys) == len(self.null_safe):
            raise ValueError("left_keys, right_keys and null_safe have different lengths")
        for one, other in zip(self.left_keys, self.right_keys, strict=True):
            if self.left.field(one).type != self.right.field(other).type:
                raise ValueError(f"keys {one} and {other} have different types")
        if len(set(self.output.names)) != len(self.output.names):
            raise ValueError(f"a column's name occurs twice: {', '.join(self.output.names)}")

    @property
    def output(self) -> pa.Schema:
        """The columns of the result, without the weight."""
        fields = list(self.left)
        if self.kind in _WITH_PAIRS:
            fields += list(self.right)
        if self.kind is JoinKind.EXISTENCE:
            fields.append(pa.field(self.exists_column, pa.bool_()))
        return pa.schema([pa.field(field.name, field.type) for field in fields])

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of the state: the rows of both tables."""
        return ("left", "right")

    @property
    def settings(self) -> Mapping[str, object]:
        """What the state depends on."""
        return {
            "join": self.kind.value,
            "left columns": [f"{field.name} {field.type}" for field in self.left],
            "right columns": [f"{field.name} {field.type}" for field in self.right],
            "left keys": list(self.left_keys),
            "right keys": list(self.right_keys),
            "null-safe keys": [bool(each) for each in self.null_safe],
        }

    @property
    def is_net(self) -> bool:
        """Not where a row without a match may equal a pair, or one of the other table."""
        is_padded = self.kind in {JoinKind.LEFT, JoinKind.RIGHT}
        has_null_pairs = not self.null_safe or any(self.null_safe)
        return self.kind is not JoinKind.FULL and not (is_padded and has_null_pairs)

    @property
    def placement(self) -> tuple[str, ...]:
        """The keys of a table whose rows all are in the result; of a FULL join, where there is none, those of both."""
        if self.kind is JoinKind.FULL:
            return (*self.left_keys, *self.right_keys)
        return tuple(self.right_keys if self.kind is JoinKind.RIGHT else self.left_keys)

    def advance(self, state: OperatorState, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the changes of one micro-batch for one bucket; see `ChangeOperator.advance`."""
        changes = [conformed(rows, schema) for rows, schema in zip(inputs, (self.left, self.right), strict=True)]
        hashes = [ints(rows, HASH_COLUMN) for rows in changes]
        pages = [state.pages(name) for name in self.state_names]
        left = merge_into(pages[0], changes[0], also=hashes[1])
        right = merge_into(pages[1], changes[1], also=hashes[0])
        add_count(state, MISSING_REMOVALS, left.missing + right.missing)
        keys = list(zip(self.left_keys, self.right_keys, strict=True))
        return pa.concat_tables(self._result(*join_sides(left, right, keys, self.null_safe)))

    def _result(self, left: JoinSide, right: JoinSide) -> list[pa.Table]:
        if self.kind is JoinKind.EXISTENCE:
            return [self._flagged(left, right, is_match=True), self._flagged(left, right, is_match=False)]
        if self.kind not in _WITH_PAIRS:
            rows, counts = _filtered(left, right, is_match=self.kind is JoinKind.SEMI)
            return [self._table(left, rows, counts)]
        lefts, rights, pair_weights = changed_pairs(left, right)
        parts = [self._pairs(left, lefts, right, rights, pair_weights)]
        if self.kind in {JoinKind.LEFT, JoinKind.FULL}:
            parts.append(self._table(left, *_filtered(left, right, is_match=False)))
        if self.kind in {JoinKind.RIGHT, JoinKind.FULL}:
            parts.append(self._table(right, *_filtered(right, left, is_match=False)))
        return parts

    def _flagged(self, left: JoinSide, right: JoinSide, *, is_match: bool) -> pa.Table:
        rows, counts = _filtered(left, right, is_match=is_match)
        table = left.merged.rows.take(pa.array(rows))
        return self._completed(table.append_column(self.exists_column, pa.repeat(is_match, len(rows))), counts)

    def _pairs(self, left: JoinSide, lefts: Ints, right: JoinSide, rights: Ints, counts: Ints) -> pa.Table:
        one = left.merged.rows.select(self.left.names).take(pa.array(lefts))
        other = right.merged.rows.select(self.right.names).take(pa.array(rights))
        hashes = pa.array(left.merged.hashes[lefts])
        table = pa.Table.from_arrays([*one.columns, *other.columns, hashes], names=[*self.output.names, HASH_COLUMN])
        return with_weights(table, counts)

    def _table(self, side: JoinSide, rows: Ints, counts: Ints) -> pa.Table:
        return self._completed(side.merged.rows.take(pa.array(rows)), counts)

    def _completed(self, rows: pa.Table, counts: Ints) -> pa.Table:
        """Return rows of one table as changes of the result, with NULL for the other table's columns."""
        present = set(rows.column_names)
        columns = [
            rows.column(field.name) if field.name in present else pa.nulls(rows.num_rows, field.type)
            for field in [*self.output, pa.field(HASH_COLUMN, pa.int64())]
        ]
        return with_weights(pa.Table.from_arrays(columns, names=[*self.output.names, HASH_COLUMN]), counts)


def _filtered(side: JoinSide, other: JoinSide, *, is_match: bool) -> tuple[Ints, Ints]:
    """Return the changes of the rows of one side that have a match in the other, or of those that have none."""
    before, after = (each == is_match for each in side.has_match(other))
    counts = np.where(after, side.merged.after, 0) - np.where(before, side.merged.before, 0)
    changed = np.flatnonzero(counts)
    return changed, counts[changed]
