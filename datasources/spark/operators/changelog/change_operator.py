"""What an operator over changes implements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from datasources.spark.operators.changelog.pages.state_pages import StatePages


class OperatorState(Protocol):
    """The state of one bucket of an operator."""

    def pages(self, name: str) -> StatePages:
        """Return the rows stored under one of the operator's `state_names`."""
        ...


class ChangeOperator(Protocol):
    """Turns changes of its input tables into changes of its result.

    It is picklable and has no state of its own. The sum of its results over micro-batches depends on the sum of its
    inputs only: neither on their order nor on how they are distributed over micro-batches.
    """

    @property
    def output(self) -> pa.Schema:
        """The columns of the result, without the weight."""
        ...

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of its state."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """What the layout and the meaning of the state depend on, with user-facing names, as JSON primitives."""
        ...

    @property
    def is_net(self) -> bool:
        """Whether results are consolidated: no row occurs twice, no weight is 0."""
        ...

    @property
    def placement(self) -> tuple[str, ...]:
        """Columns of the result: rows that are equal in them come from one bucket; empty: all rows do."""
        ...

    def advance(self, state: OperatorState, inputs: Sequence[pa.Table]) -> pa.Table:
        """Process the changes of one micro-batch for one bucket.

        Args:
            state: of the bucket; read and replaced by hash.
            inputs: one table per input: the input's columns, then HASH_COLUMN (of the operator's keys of this input)
                and WEIGHT_COLUMN. If rows are removed it is consolidated: no row occurs twice, no weight is 0. Without
                changes it is empty.

        Returns:
            The changes of the result: the columns of ``output``, HASH_COLUMN with the hash of the keys that they come
            from, WEIGHT_COLUMN; equal rows may occur repeatedly unless ``is_net``.
        """
        ...
