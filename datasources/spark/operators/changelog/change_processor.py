"""An operator over changes as a processor of Spark's transformWithState."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.buckets.bucket_variables import NumberedTables, StoredText
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.changelog.change_batches import inputs_of, result_cells, without_cancelled
from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.changes import (
    HASH_COLUMN,
    NO_TIME,
    TIME_COLUMNS,
    consolidated,
    with_times,
)
from datasources.spark.operators.changelog.pages.page_directory import PageDirectory
from datasources.spark.operators.changelog.pages.state_pages import StatePages
from datasources.spark.operators.changelog.state_ttl import TIMES, StateTtl, TimedOperator

_MICROS: Final = 1_000
_CLEANED: Final = "cleaned"
RESULT_SCHEMA: Final = "rows BINARY, missing_rows BIGINT"


class ChangeProcessor(StatefulProcessor):
    """Runs an operator on every bucket of a partition; state that was made with other settings is refused.

    Args:
        operator: what is run.
        schemas: the data columns of the inputs.
        settings: of the state.
        has_times: whether the changes have times.
        ttl: of the state; None: it is kept.
    """

    def __init__(
        self,
        operator: ChangeOperator,
        schemas: tuple[pa.Schema, ...],
        settings: StoredSettings,
        *,
        has_times: bool = False,
        ttl: StateTtl | None = None,
    ) -> None:
        self._operator = operator
        self._schemas = schemas
        self._settings = settings
        self._has_times = has_times
        self._ttl = ttl

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._header = StoredText(handle, self._settings)
        names = [*self._operator.state_names, *([TIMES] if self._ttl is not None and self._ttl.forgets else [])]
        self._stores = {name: NumberedTables(handle, name) for name in names}

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the changes of the result of one micro-batch for one bucket, as pandas DataFrames."""
        with spark_errors():
            state = _BucketState(self._header.get(), self._stores)
            changes = self._advance(state, inputs_of(rows, self._schemas, has_times=self._has_times), timerValues)
            self._header.put(state.header())
        cells = result_cells(changes) or ([None] if state.missing_rows else [])
        for number, blob in enumerate(cells):
            missing_rows = 0 if number else state.missing_rows
            yield pa.table({"rows": pa.array([blob], type=pa.binary()), "missing_rows": [missing_rows]}).to_pandas()

    def _advance(self, state: _BucketState, inputs: list[pa.Table], timer_values: Any) -> pa.Table:
        if self._ttl is not None:
            watermark_us = timer_values.getCurrentWatermarkInMs() * _MICROS
            timed = TimedOperator(self._operator, self._ttl, state)
            changes = timed.advance(inputs, watermark_us)
            state.cleaned_us = timed.clean_up(watermark_us, state.cleaned_us)
            return changes
        if self._has_times:
            inputs = [each.drop_columns(TIME_COLUMNS) for each in inputs]
        changes = self._operator.advance(state, list(map(without_cancelled, inputs))).combine_chunks()
        if self._has_times:
            none = np.full(changes.num_rows, NO_TIME)
            return consolidated(with_times(changes, none, none))
        changes = changes.drop_columns([HASH_COLUMN])
        return changes if self._operator.is_net else consolidated(changes)

    def close(self) -> None:
        """Close: only the state store holds resources."""
        freeze_worker_heap()


class _BucketState:
    """The state of one bucket; its directories are the state header."""

    def __init__(self, header: str | None, stores: dict[str, NumberedTables]) -> None:
        directories = {} if header is None else json.loads(header)
        self._pages = {
            name: StatePages(
                store, PageDirectory() if name not in directories else PageDirectory.from_json(directories[name])
            )
            for name, store in stores.items()
        }
        self.missing_rows = 0
        self.cleaned_us = int(directories.get(_CLEANED, NO_TIME))

    def pages(self, name: str) -> StatePages:
        return self._pages[name]

    def add_count(self, name: str, number: int) -> None:  # noqa: ARG002 - all counters are of rows that are missing
        self.missing_rows += number

    def header(self) -> str:
        directories: dict[str, object] = {name: pages.directory.to_json() for name, pages in self._pages.items()}
        return json.dumps(directories | ({_CLEANED: self.cleaned_us} if TIMES in self._pages else {}))
