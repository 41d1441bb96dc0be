"""Functions of foreachBatch that keep rows in a file: on Spark Connect they run in a process of the server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["persisted", "read_rows", "twice"]


def twice(found: str) -> Callable[[Any, int], None]:
    """Two actions on one batch."""

    def consume(df: Any, batch_id: int) -> None:
        rows = df.collect()
        assert df.count() == len(rows), "two actions on one batch see the same rows"
        _append(found, rows)

    return consume


def persisted(found: str) -> Callable[[Any, int], None]:
    """Two actions on a batch that is persisted."""

    def consume(df: Any, batch_id: int) -> None:
        kept = df.persist()
        assert kept.filter("start IS NULL").count() == 0
        _append(found, kept.collect())
        kept.unpersist()

    return consume


def read_rows(found: Path) -> list[tuple[Any, ...]]:
    """The rows of all batches."""
    return [tuple(json.loads(line)) for line in found.read_text(encoding="utf-8").splitlines()]


def _append(found: str, rows: Sequence[Any]) -> None:
    with Path(found).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(list(row)) + "\n" for row in rows)
