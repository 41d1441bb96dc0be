"""The least that a streaming source in Python costs: orders made of numbers, read from nowhere.

What a query of it takes until its first commit is Spark's own: the planner's and the readers' Python processes, their
imports of PySpark, NumPy and Arrow, and the batch. A source in Python can only be slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

__all__ = ["NumberFeed", "numbered_orders"]

_SCHEMA = "user BIGINT, price DOUBLE, ts TIMESTAMP"
_TASKS = 4
_LIST_ROWS = 32_768
_US_PER_ROW = 500


class NumberFeed:
    """How many orders there are, in a file."""

    def __init__(self, directory: str) -> None:
        self.path = Path(directory) / "orders"
        self._rows = 0

    def add(self, rows: int) -> None:
        """Add orders."""
        self._rows += rows
        new = self.path.with_suffix(".new")
        new.write_text(str(self._rows), encoding="utf-8")
        new.replace(self.path)


def numbered_orders(spark: SparkSession, feed: NumberFeed, batch_rows: int) -> DataFrame:
    """Return the orders with event time."""
    spark.dataSource.register(_Orders)
    options = {"path": str(feed.path), "rows": str(batch_rows)}
    return spark.readStream.format(_Orders.name()).options(**options).load().withWatermark("ts", "5 seconds")


class _Range(InputPartition):
    def __init__(self, start: int, end: int) -> None:
        super().__init__(None)
        self.start, self.end = start, end


class _Orders(DataSource):
    @classmethod
    def name(cls) -> str:
        return "numbered-orders"

    def schema(self) -> str:
        return _SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802, ARG002 - Spark's signature
        return _OrdersReader(self.options["path"], int(self.options["rows"]))


class _OrdersReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, path: str, batch_rows: int) -> None:
        self._path, self._batch_rows = path, batch_rows
        self._last: int | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {"rows": 0}

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:  # noqa: N802, ARG002 - Spark's
        there_are = self._there_are() if self._last is None else self._last
        return {"rows": min(there_are, start["rows"] + self._batch_rows)}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._last = self._there_are()

    def _there_are(self) -> int:
        return int(Path(self._path).read_text(encoding="utf-8"))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        edges = np.linspace(start["rows"], end["rows"], _TASKS + 1).astype(int).tolist()
        return [_Range(*edge) for edge in pairwise(edges)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Range)
        for at in range(partition.start, partition.end, _LIST_ROWS):
            numbers = np.arange(at, min(at + _LIST_ROWS, partition.end))
            times = pa.array(1_760_000_000_000_000 + numbers * _US_PER_ROW).cast(pa.timestamp("us", "UTC"))
            yield pa.record_batch({"user": numbers, "price": numbers % 500 + 0.25, "ts": times})

    def commit(self, end: dict[str, Any]) -> None:
        """Do nothing."""
