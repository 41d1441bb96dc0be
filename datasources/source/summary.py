"""The state of a source as people read it: in Spark's progress, on a terminal, in metrics."""

from __future__ import annotations

from typing import Any

from datasources.source.offset import Offset

__all__ = ["summarise"]

_MOST_SPLITS = 100


def summarise(offset: Offset) -> dict[str, Any]:
    """Return JSON primitives: the combined watermark and, for the first 100 splits, position, watermark and status.

    Units: ms since the epoch; None = none yet.
    """
    return {
        "batch": offset.sequence,
        "watermark": offset.combined_ms,
        "splits": [
            {
                "split": split.split,
                "position": split.end,
                "watermark": split.watermark_ms,
                "status": split.status.name.lower(),
            }
            for split in offset.splits[:_MOST_SPLITS]
        ],
        "split_count": len(offset.splits),
    }
