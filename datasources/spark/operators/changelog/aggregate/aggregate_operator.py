"""The operator: changes of a table to changes of its aggregates per group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.errors import InternalError, QueryError
from datasources.spark.operators.buckets.partition_keys import as_array, equal_codes
from datasources.spark.operators.changelog.aggregate.aggregate_call import AggregateCall
from datasources.spark.operators.changelog.aggregate.groups import NUMBER_COLUMN, Flags, Groups
from datasources.spark.operators.changelog.aggregate.layout import AggregateLayout, Selection
from datasources.spark.operators.changelog.aggregate.linear_results import linear_result
from datasources.spark.operators.changelog.aggregate.multisets import Entries, advance_values
from datasources.spark.operators.changelog.aggregate.partials import Arrays, Contribution, is_zero
from datasources.spark.operators.changelog.aggregate.value_results import extreme_values, value_result
from datasources.spark.operators.changelog.change_operator import OperatorState
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, ints, weights, with_change_columns
from datasources.spark.operators.changelog.value_codes import canonical_values

STATE_VERSION: Final = 1
GROUPS: Final = "groups"
"""The state with one row per group."""


class AggregateOperator:
    """Aggregates of the groups of one table; implements ChangeOperator.

    A row of the result is the keys of a group and its aggregates. A group has a row while the table has rows of it.
    Without keys all rows are one group, whose row appears with the first change and stays. A group with fewer than 0
    rows, because rows were removed that are not there yet, has none; `missing_rows` counts them.

    Args:
        keys: the columns to group by; their values are equal by GROUP BY's rule.
        calls: the aggregates.
        data: the columns of the input.
        is_insert_only: the input never removes rows; MIN, MAX and ANY_VALUE then store no values.
        key_texts: the keys as the query has them, for messages; empty: their names.
        is_by_group: all that is stored about a group is stored by its hash, so that it can be forgotten.

    Raises:
        QueryError: an aggregate is none of these columns; in `advance`, a result does not fit its type.
    """

    def __init__(  # noqa: PLR0913 - what an aggregation is
        self,
        keys: Sequence[str],
        calls: Sequence[AggregateCall],
        data: pa.Schema,
        *,
        is_insert_only: bool = False,
        key_texts: Sequence[str] = (),
        is_by_group: bool = False,
    ) -> None:
        for call in calls:
            call.require_valid(data)
        self._keys = tuple(keys)
        self._key_texts = tuple(key_texts) or self._keys
        self._calls = tuple(calls)
        self._data = data
        self._is_insert_only = is_insert_only
        self._layout = AggregateLayout.of(calls, data, is_insert_only=is_insert_only, is_by_group=is_by_group)

    @property
    def output(self) -> pa.Schema:
        """The keys, then one column per aggregate."""
        return pa.schema(
            [*(self._data.field(key) for key in self._keys), *((c.name, c.result_type) for c in self._calls)]
        )

    @property
    def state_names(self) -> tuple[str, ...]:
        """The groups, then the values that aggregates need."""
        return (GROUPS, *(_values_name(n) for n in range(len(self._layout.multisets))))

    @property
    def settings(self) -> Mapping[str, object]:
        """Keys, aggregates and the types of all columns that they use."""
        used = {name for call in self._calls for name in (call.argument, call.filter, *(o[0] for o in call.order))}
        return {
            "aggregate state version": STATE_VERSION,
            "group by": list(self._keys),
            "aggregates": [f"{call.shown} AS {call.name} {call.type}" for call in self._calls],
            "overflow": [call.overflow for call in self._calls],
            "columns": [f"{f.name} {f.type}" for f in self._data if f.name in {*self._keys, *used}],
            "insert-only": self._is_insert_only,
        }

    @property
    def is_net(self) -> bool:
        """A group has one row at most before and after, and none if they are equal."""
        return True

    @property
    def placement(self) -> tuple[str, ...]:
        """The keys."""
        return self._keys

    def advance(self, state: OperatorState, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the changes of one micro-batch for one bucket; see `ChangeOperator.advance`.

        Raises:
            QueryError: a result does not fit its type.
        """
        (rows,) = inputs
        if not rows.num_rows:
            return self._empty()
        return _Step(self, state, rows).run()

    def missing_rows(self, state: OperatorState) -> int:
        """Return how many rows were removed that are not there yet; reads all groups."""
        stored = state.pages(GROUPS).read_all()
        return 0 if stored is None else int(-np.minimum(ints(stored, _partial_name(0, 0)), 0).sum())

    def _empty(self) -> pa.Table:
        return with_change_columns(self.output).empty_table()


class _Step:
    """One micro-batch of one bucket."""

    def __init__(self, operator: AggregateOperator, state: OperatorState, rows: pa.Table) -> None:
        self._keys, self._calls, self._data = operator._keys, operator._calls, operator._data  # noqa: SLF001
        self._layout, self._output = operator._layout, operator.output  # noqa: SLF001
        self._key_texts = operator._key_texts  # noqa: SLF001
        self._state, self._rows, self._weights = state, rows, weights(rows)
        if operator._is_insert_only and (self._weights < 0).any():  # noqa: SLF001
            raise InternalError("rows are removed from the input of an aggregate that was planned for insertions only.")
        key_names = [f"key_{n}" for n in range(len(self._keys))]
        self._stored = state.pages(GROUPS).read(ints(rows, HASH_COLUMN))
        self._groups = Groups.of(rows, self._keys, self._stored, key_names)
        self._columns: dict[str, Any] = {}
        self._selected: dict[Selection, Ints] = {}

    def run(self) -> pa.Table:
        """Update the state and return the changes of the result."""
        entries = self._advance_values()
        old, new = self._partials(entries)
        old_extremes, new_extremes = self._extremes()
        sizes = self._entry_counts(entries)
        self._store(new, new_extremes, sizes)
        was_shown = np.arange(len(self._groups)) < self._groups.stored
        if self._keys:
            was_shown &= old[0][0] > 0
            is_shown = new[0][0] > 0
        else:
            was_shown &= old[0][0] >= 0
            is_shown = new[0][0] >= 0
        before = self._results(old, old_extremes, entries, was_shown, is_after=False)
        after = self._results(new, new_extremes, entries, is_shown, is_after=True)
        same = was_shown & is_shown & self._are_equal(before, after, entries)
        return self._changes(before, was_shown & ~same, after, is_shown & ~same)

    def _column(self, name: str) -> Any:
        if name not in self._columns:
            self._columns[name] = as_array(self._rows.column(name))
        return self._columns[name]

    def _weights_of(self, selection: Selection) -> Ints:
        """Return the weights of the rows, 0 for those that are not selected."""
        if selection not in self._selected:
            found = self._weights
            if selection.argument is not None and self._column(selection.argument).null_count:
                found = np.where(self._column(selection.argument).is_valid().to_numpy(zero_copy_only=False), found, 0)
            if selection.filter is not None:
                condition = self._column(selection.filter).fill_null(False).to_numpy(zero_copy_only=False)
                found = np.where(condition, found, 0)
            self._selected[selection] = found
        return self._selected[selection]

    def _advance_values(self) -> list[Entries]:
        found = []
        for n, spec in enumerate(self._layout.multisets):
            selection = Selection(None if spec.keeps_nulls else spec.columns[0], spec.filter)
            values = [self._column(name) for name in spec.columns]
            pages = self._state.pages(_values_name(n))
            found.append(advance_values(spec, pages, self._groups, values, self._weights_of(selection)))
        return found

    def _partials(self, entries: Sequence[Entries]) -> tuple[list[Arrays], list[Arrays]]:
        """Return all partials before and after the micro-batch."""
        appearances = {n: each.appearances for n, each in enumerate(entries) if self._layout.multisets[n].is_by_value}
        old, new = [], []
        for n, each in enumerate(self._layout.partials):
            stored = [self._stored_column(_partial_name(n, m), kind) for m, kind in enumerate(each.partial.types)]
            old.append(each.partial.stored(stored, len(self._groups) - self._groups.stored))
            rows = appearances[each.source] if isinstance(each.source, int) else self._contribution(each.source)
            new.append(each.partial.added(old[-1], rows))
        return old, new

    def _contribution(self, selection: Selection) -> Contribution:
        return Contribution(
            groups=self._groups.of_rows,
            weights=self._weights_of(selection),
            values=None if selection.argument is None else self._column(selection.argument),
            count=len(self._groups),
        )

    def _extremes(self) -> tuple[list[Any], list[Any]]:
        old, new = [], []
        added = len(self._groups) - self._groups.stored
        for n, each in enumerate(self._layout.extremes):
            assert each.selection.argument is not None  # as `require_valid` checks
            values, chosen = canonical_values(self._column(each.selection.argument)), self._weights_of(each.selection)
            stored = self._stored_column(_extreme_name(n), values.type)
            old.append(pa.concat_arrays([stored, pa.nulls(added, values.type)]))
            new.append(extreme_values(self._groups, stored, values, chosen, is_max=each.is_max))
        return old, new

    def _entry_counts(self, entries: Sequence[Entries]) -> list[Ints]:
        """Return per multiset how many values of each group are stored."""
        new = np.zeros(len(self._groups) - self._groups.stored, dtype=np.int64)
        return [
            np.concatenate([self._stored_column(_entries_name(n), pa.int64()).to_numpy(), new]) + each.stored
            for n, each in enumerate(entries)
        ]

    def _stored_column(self, name: str, kind: pa.DataType) -> Any:
        return pa.array([], type=kind) if self._stored is None else as_array(self._stored.column(name))

    def _store(self, partials: Sequence[Arrays], extremes: Sequence[Any], sizes: Sequence[Ints]) -> None:
        """Store the groups, without those of which nothing is left."""
        groups = self._groups
        columns = {HASH_COLUMN: pa.array(groups.hashes), NUMBER_COLUMN: pa.array(groups.numbers)}
        columns |= {f"key_{n}": column for n, column in enumerate(groups.keys)}
        empty: Flags = np.full(len(groups), bool(self._keys), dtype=np.bool_)
        for n, (each, arrays) in enumerate(zip(self._layout.partials, partials, strict=True)):
            columns |= {_partial_name(n, m): column for m, column in enumerate(each.partial.columns(arrays))}
            empty &= is_zero(arrays)
        columns |= {_extreme_name(n): column for n, column in enumerate(extremes)}
        for n, size in enumerate(sizes):
            columns[_entries_name(n)] = pa.array(size)
            empty &= size == 0
        table = pa.table(columns)
        self._state.pages(GROUPS).replace(groups.hashes, table.filter(pa.array(~empty)) if empty.any() else table)

    def _results(
        self,
        partials: Sequence[Arrays],
        extremes: Sequence[Any],
        entries: Sequence[Entries],
        shown: Flags,
        *,
        is_after: bool,
    ) -> list[Any]:
        """Return the result of each aggregate per group; arbitrary where not shown."""
        results = []
        for call, layout in zip(self._calls, self._layout.calls, strict=True):
            if layout.multiset is not None:
                results.append(value_result(call, entries[layout.multiset], is_after=is_after))
            elif layout.extreme is not None:
                results.append(extremes[layout.extreme].cast(call.result_type))
            else:
                kind = self._data.field(call.argument).type if call.argument else None
                states = [partials[n] for n in layout.partials]
                results.append(linear_result(call, kind, states, shown, self._overflow_report(call)))
        return results

    def _are_equal(self, before: Sequence[Any], after: Sequence[Any], entries: Sequence[Entries]) -> Flags:
        """Return for which groups all results are equal by GROUP BY's rule."""
        equal: Flags = np.ones(len(self._groups), dtype=np.bool_)
        for call, layout, old, new in zip(self._calls, self._layout.calls, before, after, strict=True):
            if layout.multiset is not None and call.is_list:
                equal &= ~entries[layout.multiset].changed(counts=not call.is_set)
            else:
                equal &= _equal_values(old, new)
        return equal

    def _overflow_report(self, call: AggregateCall) -> Any:
        def report(too_large: Flags) -> None:
            if too_large.any():
                key = self._groups.shown(self._key_texts, int(np.argmax(too_large)))
                text = call.text or f"{call.shown} AS {call.name}"
                raise QueryError(
                    f"{text} does not fit {call.type} for {key}: cast the argument to a wider type, use "
                    f"TRY_{call.function.upper()} to get NULL, or remove rows from the group with a filter."
                )

        return report

    def _changes(self, before: Sequence[Any], removed: Flags, after: Sequence[Any], added: Flags) -> pa.Table:
        gone, come = pa.array(np.flatnonzero(removed)), pa.array(np.flatnonzero(added))
        columns = [pa.concat_arrays([key.take(gone), key.take(come)]) for key in self._groups.keys]
        columns += [pa.concat_arrays([old.take(gone), new.take(come)]) for old, new in zip(before, after, strict=True)]
        hashes = np.concatenate([self._groups.hashes[removed], self._groups.hashes[added]])
        signs = np.concatenate([np.full(len(gone), -1), np.full(len(come), 1)]).astype(np.int64)
        return pa.table([*columns, pa.array(hashes), pa.array(signs)], schema=with_change_columns(self._output))


def _equal_values(old: Any, new: Any) -> Flags:
    if pa.types.is_nested(old.type):
        codes = equal_codes([pa.chunked_array([old, new])], 2 * len(old))
        return np.asarray(codes[: len(old)] == codes[len(old) :])
    if pa.types.is_null(old.type):
        return np.ones(len(old), dtype=np.bool_)
    old, new = canonical_values(old), canonical_values(new)
    same = pc.equal(old, new)
    if pa.types.is_floating(old.type):
        same = pc.or_(same, pc.and_(pc.is_nan(old), pc.is_nan(new)))
    both_null = pc.and_(pc.is_null(old), pc.is_null(new))
    return np.asarray(pc.or_(pc.fill_null(same, False), both_null).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _partial_name(partial: int, column: int) -> str:
    return f"partial_{partial}_{column}"


def _extreme_name(extreme: int) -> str:
    return f"extreme_{extreme}"


def _entries_name(multiset: int) -> str:
    return f"entries_{multiset}"


def _values_name(multiset: int) -> str:
    return f"values_{multiset}"
