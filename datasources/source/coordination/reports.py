"""The report that a task sends to the driver when it has read its range to the end.

Rules of this file: a report is keyed by (sequence, split). The first one wins; an equal one is ignored (Spark reads
a range several times: retries, self-unions, foreachBatch with two actions); a different one means that the range is
not deterministic, which nothing can repair. Reports may be missing for every batch: nothing depends on their arrival
but freshness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from datasources.errors import CoordinatorError, NonDeterminismError
from datasources.source.api.split import SplitId


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReport:
    """The end of one split's range in one batch.

    Attributes:
        sequence: which batch.
        split: which split.
        position: the first position that was not read: the range's end, or that of the record which stopped it.
        watermark_ms: the split's watermark there; None = none yet.
        attribute_watermarks_ms: that of each time attribute, where there are several.
        last_row_watermark_ms: the largest row watermark that the task emitted; None = none.
        next_ms: the candidate of the record that stopped the task (alignment); None = it read the whole range.
        rows: data rows read, late ones included.
        late_rows: how many of them had a rowtime at or below their row watermark.
        max_lateness_ms: by how much at most.
        null_rowtime_rows: rows whose rowtime was null.
        ahead_rows: candidates beyond `watermark.max-ahead`, which did not move the watermark.
        bad, null_value, lost: records that did not become ordinary rows.
        dead_letters: records of the range that are written as dead letters, bad and late ones.
        note: what else the connector's reader knows at the end of the range; None = nothing, or it did not get there.
        server: at which server the range was read, where positions and commit times are one server's own.
    """

    sequence: int
    split: SplitId
    position: int
    watermark_ms: int | None
    last_row_watermark_ms: int | None
    next_ms: int | None = None
    rows: int = 0
    late_rows: int = 0
    max_lateness_ms: int = 0
    null_rowtime_rows: int = 0
    ahead_rows: int = 0
    bad: int = 0
    null_value: int = 0
    lost: int = 0
    dead_letters: int = 0
    attribute_watermarks_ms: tuple[int | None, ...] = ()
    note: str | None = None
    server: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON primitives."""
        values = {key: getattr(self, name) for name, key in _KEYS.items()}
        return {**values, "parts_ms": list(self.attribute_watermarks_ms)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SplitReport:
        """Return the report in `raw`; anything but the exact fields and types is a `CoordinatorError`."""
        if not isinstance(raw, Mapping) or raw.keys() != set(_KEYS.values()):
            raise CoordinatorError("a task sent a malformed report: it has not exactly the fields of this version")
        parts = raw["parts_ms"]
        is_list = isinstance(parts, list | tuple) and all(part is None or type(part) is int for part in parts)
        values = {name: raw[key] for name, key in _KEYS.items()}
        report = cls(**{**values, "attribute_watermarks_ms": tuple(parts) if is_list else ()})
        texts = (report.note, report.server)
        is_text = isinstance(report.split, str) and all(isinstance(text, str | None) for text in texts)
        if (
            not is_list
            or not is_text
            or not all(type(raw[key]) is int or (raw[key] is None and key in _OPTIONAL) for key in _NUMBERS)
        ):
            raise CoordinatorError("a task sent a report with fields of the wrong type")
        return report

    def require_equal(self, other: SplitReport) -> None:
        """Raise if `other`, for the same batch and split, reports another result.

        A range of which a part is gone, where that was accepted, cannot be read equally twice: it is not compared. Of
        ranges that two servers gave, the rows are counted: the rest is different there.
        """
        if self.lost or other.lost or self._compared_values() == other._compared_values():
            return
        if self.server != other.server and self.rows == other.rows:
            return
        raise NonDeterminismError(
            f"split '{self.split}' gave two different results for batch {self.sequence}: {self} and {other}. "
            f"The source's data changed under the query; start from a new checkpoint."
        )

    def _compared_values(self) -> tuple[int | str | None, ...]:
        numbers = (self.position, self.watermark_ms, self.last_row_watermark_ms, self.rows, self.late_rows)
        return (*numbers, self.note, *self.attribute_watermarks_ms)


_OLDER_KEYS = {"last_row_watermark_ms": "stamp_ms", "attribute_watermarks_ms": "parts_ms"}
_KEYS = {field.name: _OLDER_KEYS.get(field.name, field.name) for field in fields(SplitReport)}  # name -> key, in order
_OPTIONAL = frozenset({"watermark_ms", "stamp_ms", "next_ms"})
_NUMBERS = tuple(key for key in _KEYS.values() if key not in ("split", "parts_ms", "note", "server"))
