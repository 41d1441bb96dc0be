"""The event time of a scan that has none: its attribute is processing time, made above the scan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from datasources.arrow_types import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOnly:
    """An EventTimeExpression that reads no column.

    As the rowtime it has a value for every row, so that no row counts as one without a rowtime; nothing is late for a
    clock, so the value is never looked at. As the watermark it has none: row watermarks are the driver's clock.

    Attributes:
        text: the attribute's name, or what stands for the watermark.
        has_values: whether rows have a value.
    """

    text: str
    has_values: bool

    @property
    def paths(self) -> tuple[Path, ...]:
        """None."""
        return ()

    def evaluator(self) -> ClockOnly:
        """Return itself."""
        return self

    def event_time_us(self, batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Return the epoch for every row, or no value for any."""
        rows = batch.num_rows
        return np.zeros(rows, dtype=np.int64), None if self.has_values else np.zeros(rows, dtype=np.bool_)
