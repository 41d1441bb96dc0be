"""An operator over changes as a processor of Spark's transformWithState."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap
from datasources.spark.operators.buckets.bucket_variables import NumberedSegments, StoredText
from datasources.spark.operators.buckets.stored_settings import StoredSettings
from datasources.spark.operators.changelog.change_batches import inputs_of, result_cells
from datasources.spark.operators.changelog.change_operator import ChangeOperator
from datasources.spark.operators.changelog.changes import consolidated
from datasources.spark.operators.changelog.state_pages import PageDirectory, StatePages

RESULT_SCHEMA: Final = "rows BINARY, missing_rows BIGINT"


class ChangeProcessor(StatefulProcessor):
    """Runs an operator on every bucket of a partition; state that was made with other settings is refused.

    ``schemas`` are the data columns of the inputs.
    """

    def __init__(self, operator: ChangeOperator, schemas: tuple[pa.Schema, ...], settings: StoredSettings) -> None:
        self._operator = operator
        self._schemas = schemas
        self._settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._header = StoredText(handle, self._settings)
        self._stores = {name: NumberedSegments(handle, name) for name in self._operator.state_names}

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803 - Spark's names
        """Yield the changes of the result of one micro-batch for one bucket, as pandas DataFrames."""
        with spark_errors():
            state = _BucketState(self._header.get(), self._stores)
            changes = self._operator.advance(state, inputs_of(rows, self._schemas)).combine_chunks()
            if not self._operator.is_net:
                changes = consolidated(changes)
            self._header.put(state.header())
        cells = result_cells(changes) or ([None] if state.missing_rows else [])
        for number, blob in enumerate(cells):
            missing_rows = 0 if number else state.missing_rows
            yield pa.table({"rows": pa.array([blob], type=pa.binary()), "missing_rows": [missing_rows]}).to_pandas()

    def close(self) -> None:
        """Close: only the state store holds resources."""
        freeze_worker_heap()


class _BucketState:
    """The state of one bucket; its directories are the state header."""

    def __init__(self, header: str | None, stores: dict[str, NumberedSegments]) -> None:
        directories = {} if header is None else json.loads(header)
        self._pages = {
            name: StatePages(
                store, PageDirectory() if name not in directories else PageDirectory.from_json(directories[name])
            )
            for name, store in stores.items()
        }
        self.missing_rows = 0

    def pages(self, name: str) -> StatePages:
        return self._pages[name]

    def add_count(self, name: str, number: int) -> None:  # noqa: ARG002 - all counters are of rows that are missing
        self.missing_rows += number

    def header(self) -> str:
        return json.dumps({name: pages.directory.to_json() for name, pages in self._pages.items()})
