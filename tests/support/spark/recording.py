"""What a query under test leaves behind: each attempt at a batch in a file of its own, and Spark's offsets."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from pyarrow import feather

from datasources.source.checkpoint.offset import Offset

__all__ = ["QueryDirectory", "store_attempt"]


def store_attempt(directory: Path, batch: int, rows: pa.Table) -> None:
    """Store what one attempt at a batch delivered; the file appears as a whole."""
    name = f"{batch}.{uuid.uuid4().hex}"
    hidden = directory / f".{name}"
    feather.write_feather(rows, str(hidden), compression="uncompressed")
    hidden.rename(directory / f"{name}.arrow")


@dataclass(frozen=True, slots=True)
class QueryDirectory:
    """A query's directory.

    Attributes:
        directory: holds `checkpoint/offsets` and `batches`.
    """

    directory: Path

    def create(self) -> Self:
        """Make the directories."""
        self.batches.mkdir(parents=True, exist_ok=True)
        return self

    @property
    def batches(self) -> Path:
        """Where attempts are stored."""
        return self.directory / "batches"

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""
        return self.directory / "checkpoint"

    def planned(self) -> int:
        """Return how many batches were planned."""
        return 1 + max(_numbers(self.checkpoint / "offsets"), default=-1)

    def committed(self) -> int:
        """Return how many batches were committed."""
        return 1 + max(_numbers(self.checkpoint / "commits"), default=-1)

    def offset(self, batch: int) -> dict[str, Any]:
        """Return the end offset of a batch."""
        lines = (self.checkpoint / "offsets" / str(batch)).read_text().splitlines()
        offset: dict[str, Any] = json.loads(lines[2])
        return offset

    def positions(self) -> Mapping[str, int]:
        """Return where the splits stand behind the last committed batch; none before the first one."""
        batches = self.committed()
        return {s.split: s.end for s in Offset.from_json(self.offset(batches - 1)).splits} if batches else {}

    def stored(self) -> dict[int, list[list[dict[str, Any]]]]:
        """Return the rows of each attempt at each batch, in the order of the attempts."""
        found: dict[int, list[list[dict[str, Any]]]] = defaultdict(list)
        for file in sorted(self.batches.glob("*.arrow"), key=lambda file: file.stat().st_mtime_ns):
            found[int(file.name.partition(".")[0])].append(feather.read_table(str(file)).to_pylist())
        return found


def _numbers(directory: Path) -> list[int]:
    return [int(file.name) for file in directory.glob("[0-9]*") if file.name.isdigit()]
