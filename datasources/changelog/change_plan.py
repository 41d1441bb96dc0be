"""What a node of a query becomes: a streaming plan of changes."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from datasources.durations import format_duration_ms
from datasources.spark.operators.changelog.changes import WEIGHT_COLUMN
from datasources.spark.operators.changelog.state_ttl import StateTtl
from datasources.spark.plans.catalyst import attribute_id, items


class ChangelogMode(enum.Enum):
    """What changes a node emits, as Flink's EXPLAIN shows it."""

    INSERT_ONLY = "I"
    RETRACT = "I,UB,UA,D"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlan:
    """A node over streams of changes.

    Attributes:
        plan: of Spark: the attributes of the node, in any order and perhaps further ones, and the weight.
        mode: whether rows are removed.
        key: ids of the attributes of which no two rows have the same values; empty: there is one row at most; None: not
            known.
        shown: the operators, as EXPLAIN shows them.
    """

    plan: Any
    mode: ChangelogMode
    key: frozenset[int] | None
    shown: str

    @property
    def is_insert_only(self) -> bool:
        """Whether no row is removed."""
        return self.mode is ChangelogMode.INSERT_ONLY

    @property
    def weight(self) -> Any:
        """The attribute with the weight."""
        return next(each for each in items(self.plan.output()) if each.name() == WEIGHT_COLUMN)


def kept_key(key: frozenset[int] | None, attributes: Iterable[Any]) -> frozenset[int] | None:
    """Return the key if all of its attributes are among these."""
    return key if key is not None and key <= {attribute_id(each) for each in attributes} else None


def shown_above(line: str, mode: ChangelogMode, inputs: Sequence[ChangePlan]) -> str:
    """Return an operator above its inputs, as EXPLAIN shows it."""
    lines = [f"{line} changelogMode=[{mode.value}]"]
    for number, each in enumerate(inputs, start=1):
        first, *others = each.shown.splitlines()
        is_last = number == len(inputs)
        lines += [f"{'+- ' if is_last else ':- '}{first}", *(f"{'   ' if is_last else ':  '}{one}" for one in others)]
    return "\n".join(lines)


def shown_ttl(ttl: StateTtl | None) -> str:
    """Return the TTL of an operator's state, as EXPLAIN shows it behind the operator; nothing for one that is kept."""
    if ttl is None or not ttl.forgets:
        return ""
    return f" stateTtl=[{format_duration_ms(ttl.ttl_us // 1_000)}]"


def mode_of(inputs: Iterable[ChangePlan]) -> ChangelogMode:
    """Return the mode of a node that passes changes on."""
    is_insert_only = all(each.is_insert_only for each in inputs)
    return ChangelogMode.INSERT_ONLY if is_insert_only else ChangelogMode.RETRACT
