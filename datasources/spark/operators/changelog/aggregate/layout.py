"""What a set of aggregates stores: partials and extremes with each group, and values in pages of their own.

Aggregates share what they have in common: SUM(x), AVG(x) and COUNT(x) one count and one sum, MIN(x) and MAX(x) one
multiset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import pyarrow as pa

from datasources.spark.operators.changelog.aggregate.aggregate_call import LINEAR, AggregateCall
from datasources.spark.operators.changelog.aggregate.multisets import MultisetSpec
from datasources.spark.operators.changelog.aggregate.partials import Partial, PartialKind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows that contribute: with an argument that is not NULL and a filter that is true; None: without condition."""

    argument: str | None
    filter: str | None


@dataclass(frozen=True, slots=True)
class StoredPartial:
    """A partial of the rows of a selection, or of the different values of a multiset (its index)."""

    source: Selection | int
    partial: Partial


@dataclass(frozen=True, slots=True)
class Extreme:
    """The smallest or largest value of a selection."""

    selection: Selection
    is_max: bool


@dataclass(frozen=True, slots=True)
class CallLayout:
    """What one aggregate is computed from, by index: partials, or an extreme, or a multiset."""

    partials: tuple[int, ...] = ()
    extreme: int | None = None
    multiset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateLayout:
    """What all aggregates are computed from; partial 0 is the number of rows."""

    partials: tuple[StoredPartial, ...]
    extremes: tuple[Extreme, ...]
    multisets: tuple[MultisetSpec, ...]
    calls: tuple[CallLayout, ...]

    @classmethod
    def of(
        cls, calls: Sequence[AggregateCall], data: pa.Schema, *, is_insert_only: bool, is_by_group: bool = False
    ) -> Self:
        """Return the layout of valid aggregates; ``is_by_group``: all values are stored by the hash of their group."""
        partials = [StoredPartial(Selection(None, None), Partial("count", None))]
        extremes: list[Extreme] = []
        multisets: list[MultisetSpec] = []
        layouts = []
        for call in calls:
            if call.function in LINEAR:
                source = _source(call, multisets, is_by_group=is_by_group)
                wanted = [StoredPartial(source, each) for each in _partials_of(call, data)]
                layouts.append(CallLayout(partials=tuple(_index(partials, each) for each in wanted)))
            elif is_insert_only and call.is_extreme:
                extreme = Extreme(Selection(call.argument, call.filter), is_max=call.function in {"max", "last"})
                layouts.append(CallLayout(extreme=_index(extremes, extreme)))
            else:
                layouts.append(CallLayout(multiset=_index(multisets, _multiset_of(call))))
        return cls(partials=tuple(partials), extremes=tuple(extremes), multisets=tuple(multisets), calls=tuple(layouts))


def _source(call: AggregateCall, multisets: list[MultisetSpec], *, is_by_group: bool) -> Selection | int:
    if not call.is_distinct or call.argument is None or call.function in {"bool_and", "bool_or"}:
        return Selection(call.argument, call.filter)
    return _index(multisets, MultisetSpec((call.argument,), call.filter, is_by_value=True, is_by_group=is_by_group))


def _partials_of(call: AggregateCall, data: pa.Schema) -> list[Partial]:
    kind = data.field(call.argument).type if call.argument else None
    second: dict[str, PartialKind] = {"sum": "sum", "avg": "sum", "bool_and": "trues", "bool_or": "trues"}
    counted = Partial("count", None)
    return [counted, Partial(second[call.function], kind)] if call.function in second else [counted]


def _multiset_of(call: AggregateCall) -> MultisetSpec:
    assert call.argument is not None  # as `require_valid` checks
    is_pick = call.function in {"first", "last"}
    return MultisetSpec(
        columns=(call.argument, *(column for column, _, _ in call.order)),
        filter=call.filter,
        keeps_nulls=is_pick and bool(call.order) and not call.ignore_nulls,
        order=tuple((is_ascending, is_first) for _, is_ascending, is_first in call.order),
    )


def _index(known: list[T], wanted: T) -> int:
    if wanted not in known:
        known.append(wanted)
    return known.index(wanted)
