"""Divides the range of a split among several tasks, and merges their reports into the one of the split.

Theory of operation. Rows, row watermarks and late rows of a piece must be those of the undivided range. They are where
every row of a batch carries the same watermark (on-periodic emission, processing time) or none (a plain source, a batch
read): no piece depends on those before it. With on-event emission or alignment it does, and options that divide are
refused. The watermark at the range's end is the maximum over the pieces, as it is over the rows, so merged reports
are equal to the report of the undivided range. If a piece's report is missing, so is the split's.

Pieces follow from the offset and the options alone; the tasks of a split are in the order of its log.

Source: Spark's KafkaOffsetRangeCalculator, for where ranges are divided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from datasources.source.api.abilities import DivisionSettings
from datasources.source.api.split import SplitId
from datasources.source.coordination.reports import SplitReport
from datasources.source.reading.task_plan import SplitTask

_PIECE: Final = re.compile(r"(.*) \[(\d+)/(\d+)\]", re.DOTALL)
_SUMS: Final = ("rows", "late_rows", "null_rowtime_rows", "ahead_rows", "bad", "null_value", "lost", "dead_letters")


def divided(tasks: Sequence[SplitTask], settings: DivisionSettings) -> list[SplitTask]:
    """Return the tasks with their ranges divided; those of one split follow each other in the order of its log."""
    counts = piece_counts([task.end - task.start for task in tasks], settings)
    return [piece for task, count in zip(tasks, counts, strict=True) for piece in _pieces(task, count)]


def piece_counts(sizes: Sequence[int], settings: DivisionSettings) -> list[int]:
    """Return into how many pieces ranges of these sizes are divided: 1 or more each. Unit: positions."""
    ranges = [_bounded(size, settings.max_rows) for size in sizes]
    count = sum(map(len, ranges))
    if settings.min_tasks is None or count >= settings.min_tasks:
        return [len(each) for each in ranges]
    total = sum(sizes)
    small = {size for each in ranges for size in each if _share(size, total, settings.min_tasks) == 1}
    large = [size for each in ranges for size in each if size not in small]
    wanted = max(settings.min_tasks - count + len(large), 1)
    shares = {size: _share(size, sum(large), wanted) for size in large}
    return [sum(shares.get(size, 1) for size in each) for each in ranges]


def merged_reports(reports: Mapping[SplitId, SplitReport]) -> Mapping[SplitId, SplitReport]:
    """Return the reports by split: those of all pieces of a range as one."""
    pieces: dict[SplitId, list[tuple[int, SplitReport]]] = {}
    whole: dict[SplitId, SplitReport] = {}
    for name, report in reports.items():
        found = _PIECE.fullmatch(name)
        if found is None:
            whole[name] = report
        else:
            pieces.setdefault(SplitId(found[1]), []).append((int(found[3]), report))
    complete = {
        split: _merged(split, [report for _, report in found])
        for split, found in pieces.items()
        if len(found) == found[0][0]
    }
    return {**whole, **complete}


def _bounded(size: int, max_rows: int | None) -> list[int]:
    """Return the sizes of the pieces of a range that is divided evenly."""
    count = max(1, -(-size // max_rows)) if max_rows else 1
    return [(size * (index + 1)) // count - (size * index) // count for index in range(count)]


def _share(size: int, total: int, count: int) -> int:
    """Return how many of `count` pieces a range gets, at least one; rounded as Java does."""
    return max(1, (2 * size * count + total) // (2 * total)) if total else 1


def _pieces(task: SplitTask, count: int) -> Iterable[SplitTask]:
    if count == 1:
        yield task
        return
    start = task.start
    for index in range(count):
        end = start + (task.end - start) // (count - index)
        yield _piece(task, start, end, (index, count))
        start = end


def _piece(task: SplitTask, start: int, end: int, piece: tuple[int, int]) -> SplitTask:
    """Return one piece. Only the first one reads what is unknown of earlier batches."""
    if piece[0] == 0:
        return replace(task, end=end, piece=piece)
    # Of the epoch in which this position was written is only known that it is not newer than that of the range's end.
    log = None if task.log is None else replace(task.log, start_epoch=task.log.epoch)
    return replace(task, known_at=start, start=start, end=end, piece=piece, log=log)


def _merged(split: SplitId, reports: Sequence[SplitReport]) -> SplitReport:
    attributes = zip_longest(*(report.attribute_watermarks_ms for report in reports))
    return replace(
        max(reports, key=lambda report: report.position),
        split=split,
        watermark_ms=_max(report.watermark_ms for report in reports),
        attribute_watermarks_ms=tuple(map(_max, attributes)),
        last_row_watermark_ms=_max(report.last_row_watermark_ms for report in reports),
        max_lateness_ms=max(report.max_lateness_ms for report in reports),
        **{name: sum(getattr(report, name) for report in reports) for name in _SUMS},
    )


def _max(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
