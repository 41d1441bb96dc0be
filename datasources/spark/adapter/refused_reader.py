"""A reader that only raises the reason for its absence.

PySpark's runner process hides an error that leaves `DataSource.streamReader` behind an UnboundLocalError of its own
(it stops the reader that was never made). Errors that leave the reader's methods arrive whole, so this one carries
ours to the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from datasources.errors import TidemarkError
from datasources.spark.boundary.errors import spark_entry

__all__ = ["RefusedStreamReader"]


class RefusedStreamReader(DataSourceStreamReader):
    """Raises one error from every method that Spark may call first.

    Args:
        error: why the stream cannot be read.
    """

    def __init__(self, error: TidemarkError) -> None:
        self._error = error

    def initialOffset(self) -> NoReturn:  # noqa: N802
        """Refuse."""
        self._refuse()

    def latestOffset(self, *_: Any) -> NoReturn:  # noqa: N802 - with a limit or without one
        """Refuse."""
        self._refuse()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> NoReturn:  # noqa: ARG002 - Spark's signature
        """Refuse: after a restart in mid-batch this is the first call."""
        self._refuse()

    def read(self, partition: InputPartition) -> Iterator[NoReturn]:  # noqa: ARG002 - Spark's signature
        """Refuse."""
        self._refuse()

    @spark_entry
    def _refuse(self) -> NoReturn:
        raise self._error
