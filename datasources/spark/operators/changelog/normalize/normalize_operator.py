"""Changes of a table from upserts and deletions by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.errors import RecordError
from datasources.spark.operators.changelog.change_operator import OperatorState
from datasources.spark.operators.changelog.changes import HASH_COLUMN, Ints, consolidated, ints, with_weights
from datasources.spark.operators.changelog.multiplicities import add_count, conformed, merged_rows
from datasources.spark.operators.changelog.row_groups import (
    Bools,
    hashed_codes,
    is_among,
    run_starts,
    sorted_unique,
)

MISSING_DELETES: Final = "deletes of missing keys"
"""Counter: keys of which a micro-batch has deletions alone, and which the table does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizeOperator:
    """Turns events of keys into changes of the table of the last rows. A `ChangeOperator` with one input.

    The event with the highest position in the log decides what the row of its key is: the event's row (upsert), or none
    (delete). An earlier micro-batch has lower positions than a later one. The state holds the table.

    The weight of an event is positive and otherwise ignored, so an event that is read twice counts once.

    Attributes:
        schema: columns of the table.
        keys: columns of the key. The hash is that of these columns.
        order_columns: integer columns of the input without NULLs, the position of an event in the log, most significant
            first. A key has one event at a position; deletes are equal whatever their other columns are.
        kind_column: column of the input, BOOLEAN without NULLs: whether the event is a delete. Of a delete only the key
            columns count.
        truncate_column: column of the input, BOOLEAN without NULLs: whether the event removes all rows with a lower
            position instead. Every bucket gets such an event, in which only the position counts. None: there are none.
    """

    schema: pa.Schema
    keys: Sequence[str]
    order_columns: Sequence[str]
    kind_column: str
    truncate_column: str | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError if there is no key or no order, or an internal column has a name of the table's."""
        if not self.keys or not self.order_columns:
            raise ValueError("normalizing needs key columns and order columns")
        both = {*self.input.names[len(self.schema) :]} & set(self.schema.names)
        if both:
            raise ValueError(f"columns of the event and of the table have the same name: {', '.join(sorted(both))}")

    @property
    def output(self) -> pa.Schema:
        """The columns of the result, without the weight."""
        return pa.schema([pa.field(each.name, each.type) for each in self.schema])

    @property
    def input(self) -> pa.Schema:
        """The columns of the input, without the hash and the weight: the table's, the position, the kind."""
        position = [pa.field(name, pa.int64()) for name in self.order_columns]
        kinds = [name for name in (self.kind_column, self.truncate_column) if name is not None]
        return pa.schema([*self.output, *position, *(pa.field(name, pa.bool_()) for name in kinds)])

    @property
    def state_names(self) -> tuple[str, ...]:
        """The name of the state: the last row of each key."""
        return ("rows",)

    @property
    def settings(self) -> Mapping[str, object]:
        """What the state depends on."""
        return {"columns": [f"{each.name} {each.type}" for each in self.schema], "keys": list(self.keys)}

    @property
    def is_net(self) -> bool:
        """Rows before and after are merged."""
        return True

    @property
    def placement(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.keys)

    def advance(self, state: OperatorState, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the events of one micro-batch for one bucket; see `ChangeOperator.advance`.

        Raises:
            RecordError: different events of a key have one position, which is the key's last in the micro-batch.
        """
        events, is_truncated = self._after_truncation(consolidated(conformed(inputs[0], self.input)))
        upserted = sorted_unique(ints(events, HASH_COLUMN)[~_booleans(events, self.kind_column)])
        events = self._last_events(events)
        is_delete = _booleans(events, self.kind_column)
        rows = events.select([*self.schema.names, HASH_COLUMN])
        added = rows.filter(pa.array(~is_delete))
        pages = state.pages("rows")
        old = pages.read_all() if is_truncated else pages.read(ints(events, HASH_COLUMN))
        old = rows.schema.empty_table() if old is None else old
        in_events, in_table = self._common_keys(old, rows)
        in_events |= is_truncated
        is_known = in_table | is_among(ints(events, HASH_COLUMN), upserted)
        add_count(state, MISSING_DELETES, int((is_delete & ~is_known).sum()))
        changes = _difference(old.filter(pa.array(in_events)), added)
        changed = sorted_unique(ints(changes, HASH_COLUMN))
        after = pa.concat_tables([old.filter(pa.array(~in_events)), added])
        pages.replace(changed, after.filter(pa.array(is_among(ints(after, HASH_COLUMN), changed))))
        return changes

    def _after_truncation(self, events: pa.Table) -> tuple[pa.Table, bool]:
        """Return the events after the last truncation, and whether there is one."""
        if self.truncate_column is None:
            return events, False
        is_truncation = _booleans(events, self.truncate_column)
        if not is_truncation.any():
            return events, False
        parts = [ints(events, name) for name in self.order_columns]
        order = np.lexsort([is_truncation, *parts[::-1]])
        last = int(np.flatnonzero(is_truncation[order])[-1])
        return events.take(pa.array(order[last + 1 :])), True

    def _last_events(self, events: pa.Table) -> pa.Table:
        """Return the event of each key that decides."""
        events = events.combine_chunks()
        codes = hashed_codes(events, self.keys)
        parts = [codes, *(ints(events, name) for name in self.order_columns)]
        is_upsert = ~_booleans(events, self.kind_column)  # last, so that one beside deletes is found by its neighbour
        order = np.lexsort([is_upsert, *parts[::-1]])
        is_last = np.append(run_starts(codes[order])[1:], [True])[: len(order)]
        self._require_one_event(events, order, parts, is_last)
        return events.take(pa.array(order[is_last]))

    def _require_one_event(self, events: pa.Table, order: Ints, parts: Sequence[Ints], is_last: Bools) -> None:
        """Raise if the event before the last of a key has its position and another row."""
        found = np.flatnonzero(is_last[1:]) + 1
        last, previous = order[found], order[found - 1]
        is_delete = _booleans(events, self.kind_column)
        is_tied = ~(is_delete[last] & is_delete[previous])
        for part in parts:
            is_tied &= part[last] == part[previous]
        if not is_tied.any():
            return
        first = int(last[np.argmax(is_tied)])
        position = ", ".join(f"{name} {ints(events, name)[first]}" for name in self.order_columns)
        raise RecordError(
            f"two different events have one key ({', '.join(self.keys)}) and one position ({position}), so neither is "
            f"the last. Check which columns give the position of an event in the log."
        )

    def _common_keys(self, old: pa.Table, events: pa.Table) -> tuple[Bools, Bools]:
        """Return which stored rows have an event, and which events have a stored row."""
        names = [*self.keys, HASH_COLUMN]
        both = pa.concat_tables([old.select(names), events.select(names)]).combine_chunks()
        codes = hashed_codes(both, self.keys)
        is_old = np.arange(len(codes)) < old.num_rows
        has_row, has_event = (np.zeros(len(codes), dtype=np.bool_) for _ in range(2))
        has_row[codes[is_old]] = True
        has_event[codes[~is_old]] = True
        return has_event[codes[is_old]], has_row[codes[~is_old]]


def _difference(removed: pa.Table, added: pa.Table) -> pa.Table:
    """Return the changes from rows to others; none for a row that is among both."""
    merged = merged_rows(_weighted(removed, -1), _weighted(added, 1))
    changed = np.flatnonzero(merged.weight)
    return with_weights(merged.rows.take(pa.array(changed)), merged.weight[changed])


def _weighted(rows: pa.Table, weight: int) -> pa.Table:
    return with_weights(rows, np.full(rows.num_rows, weight, dtype=np.int64))


def _booleans(rows: pa.Table, name: str) -> Bools:
    return np.asarray(rows.column(name).to_numpy(), dtype=np.bool_)
