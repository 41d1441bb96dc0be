"""Outer, semi, anti and existence joins whose condition is more than equal keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.spark.operators.changelog.change_operator import OperatorState
from datasources.spark.operators.changelog.changes import HASH_COLUMN, WEIGHT_COLUMN, Ints, ints, with_weights
from datasources.spark.operators.changelog.multiplicities import MISSING_REMOVALS, MergedRows, add_count, conformed
from datasources.spark.operators.changelog.row_groups import (
    code_sums,
    first_positions,
    merged_codes,
    sorted_unique,
)

MATCHES_COLUMN: Final = "__tidemark_matches"
"""BIGINT, in the state: the sum of the weights of a row's matches."""


class Emits(StrEnum):
    """Which rows are returned: those with a match, those without, or all with a flag."""

    MATCHED = "matched"
    UNMATCHED = "unmatched"
    FLAG = "flag"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOperator:
    """Returns the rows of a table by whether they have a match. A `ChangeOperator` with two inputs.

    The first input is the table. The second are its rows in the inner join, as often as they are there: the caller
    joins, filters by the condition, and selects the table's columns. A LEFT join is that inner join and the unmatched
    rows with NULL beside them; a semi join are the matched, an anti join the unmatched rows, an existence join the
    flagged. Each row is returned as often as the table has it. The hash of both inputs is that of all columns.

    Attributes:
        schema: columns of both inputs.
        emits: which rows are returned.
        flag_column: FLAG: name of a last BOOLEAN column, whether the row has a match.
    """

    schema: pa.Schema
    emits: Emits
    flag_column: str = "exists"

    def __post_init__(self) -> None:
        """Raise a ValueError if the flag's name is that of a column."""
        if self.emits is Emits.FLAG and self.flag_column in self.schema.names:
            raise ValueError(f"there already is a column {self.flag_column}")

    @property
    def output(self) -> pa.Schema:
        """The columns of the result, without the weight."""
        fields = [pa.field(each.name, each.type) for each in self.schema]
        if self.emits is Emits.FLAG:
            fields.append(pa.field(self.flag_column, pa.bool_()))
        return pa.schema(fields)

    @property
    def state_names(self) -> tuple[str, ...]:
        """The name of the state: the rows of both inputs, each once, with the sums of their weights in both."""
        return ("rows",)

    @property
    def settings(self) -> Mapping[str, object]:
        """What the state depends on."""
        return {"columns": [f"{each.name} {each.type}" for each in self.schema], "emits": self.emits.value}

    @property
    def is_net(self) -> bool:
        """Rows are merged, and each has a flag or none."""
        return True

    @property
    def placement(self) -> tuple[str, ...]:
        """All columns of the table."""
        return tuple(self.schema.names)

    def advance(self, state: OperatorState, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the changes of one micro-batch for one bucket; see `ChangeOperator.advance`."""
        table, matches = (conformed(rows, self.schema) for rows in inputs)
        pages = state.pages("rows")
        hashes = sorted_unique(np.concatenate([ints(table, HASH_COLUMN), ints(matches, HASH_COLUMN)]))
        stored = pages.read(hashes)
        changes = pa.concat_tables([_with_matches(table, is_match=False), _with_matches(matches, is_match=True)])
        rows, matched = _merged(stored, changes)
        pages.replace(hashes, _stored(rows, matched))
        add_count(state, MISSING_REMOVALS, rows.missing)
        return pa.concat_tables([self._result(rows, matched, each) for each in self._shown()])

    def _shown(self) -> tuple[bool, ...]:
        return {Emits.MATCHED: (True,), Emits.UNMATCHED: (False,), Emits.FLAG: (True, False)}[self.emits]

    def _result(self, rows: MergedRows, matches: MergedRows, is_match: bool) -> pa.Table:  # noqa: FBT001 - a value
        """Return the changes of the rows that have a match, or of those that have none."""
        old = np.where((matches.before > 0) == is_match, rows.before, 0)
        new = np.where((matches.after > 0) == is_match, rows.after, 0)
        changed = np.flatnonzero(new - old)
        columns = list(rows.rows.select(self.schema.names).take(pa.array(changed)).columns)
        if self.emits is Emits.FLAG:
            columns.append(pa.repeat(is_match, len(changed)))
        columns.append(pa.array(rows.hashes[changed]))
        table = pa.Table.from_arrays(columns, names=[*self.output.names, HASH_COLUMN])
        return with_weights(table, (new - old)[changed])


def _with_matches(rows: pa.Table, *, is_match: bool) -> pa.Table:
    """Return changes with their weight as that of the rows or of their matches."""
    nothing = pa.array(np.zeros(rows.num_rows, dtype=np.int64))
    if not is_match:
        return rows.append_column(MATCHES_COLUMN, nothing)
    names = [*rows.column_names[:-1], WEIGHT_COLUMN, MATCHES_COLUMN]
    return pa.Table.from_arrays([*rows.columns[:-1], nothing, rows.column(WEIGHT_COLUMN)], names=names)


def _merged(stored: pa.Table | None, changes: pa.Table) -> tuple[MergedRows, MergedRows]:
    """Return the distinct rows with how often they are in the table, and with how often they have a match."""
    both = changes if stored is None else pa.concat_tables([stored, changes])
    both = both.combine_chunks()
    is_old = np.arange(both.num_rows) < both.num_rows - changes.num_rows
    data = both.drop_columns([WEIGHT_COLUMN, MATCHES_COLUMN])
    codes = merged_codes(data, [name for name in data.column_names if name != HASH_COLUMN])
    count = int(codes.max(initial=-1)) + 1
    rows = data.take(pa.array(first_positions(codes, count)))

    def merged(name: str) -> MergedRows:
        values = ints(both, name)
        old: Ints = code_sums(codes, np.where(is_old, values, 0), count)
        return MergedRows.of_sums(rows, old, code_sums(codes, values, count))

    return merged(WEIGHT_COLUMN), merged(MATCHES_COLUMN)


def _stored(rows: MergedRows, matches: MergedRows) -> pa.Table:
    kept = np.flatnonzero((rows.weight != 0) | (matches.weight != 0))
    table = with_weights(rows.rows.take(pa.array(kept)), rows.weight[kept])
    return table.append_column(MATCHES_COLUMN, pa.array(matches.weight[kept]))
