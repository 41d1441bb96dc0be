"""What a query under test leaves behind: each attempt at a batch in a file of its own, and Spark's offsets."""

from __future__ import annotations

import json
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import feather

from datasources.mysql.state import MySqlState
from tests.support.mysql_consistency.tables import COLUMNS, TRUNCATED, Row

__all__ = ["Delivered", "Recording", "equal_attempts", "store_attempt"]


@dataclass(frozen=True, slots=True, order=True)
class Delivered:
    """One row as it was delivered.

    Attributes:
        seq: its `_seq`.
        kind: its row kind.
        table: its table's name.
        row: its data columns.
        snapshot: whether it was read from the table.
        place: file, pos and GTID.
    """

    seq: tuple[int, ...]
    kind: str
    table: str
    row: Row
    snapshot: bool
    place: tuple[Any, ...]


def store_attempt(directory: Path, batch: int, rows: pa.Table) -> None:
    """Store what one attempt at a batch delivered; the file appears as a whole."""
    name = f"{batch}.{uuid.uuid4().hex}"
    hidden = directory / f".{name}"
    feather.write_feather(rows, str(hidden), compression="uncompressed")
    hidden.rename(directory / f"{name}.arrow")


@dataclass(frozen=True, slots=True)
class Recording:
    """A query's directory.

    Attributes:
        directory: holds `checkpoint/offsets` and `batches`.
    """

    directory: Path

    def create(self) -> Recording:
        """Make the directories."""
        (self.directory / "batches").mkdir(parents=True)
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

    def state(self, batch: int) -> MySqlState:
        """Return the state in the end offset of a batch."""
        return MySqlState.from_json(self.offset(batch)["state"])

    def attempts(self) -> dict[int, list[list[Delivered]]]:
        """Return the rows of each attempt at each batch, in the order of the attempts."""
        found: dict[int, list[list[Delivered]]] = defaultdict(list)
        for file in sorted(self.batches.glob("*.arrow"), key=lambda file: file.stat().st_mtime_ns):
            rows = feather.read_table(str(file)).to_pylist()
            found[int(file.name.partition(".")[0])].append([_delivered(row) for row in rows])
        return found


def equal_attempts(attempts: dict[int, list[list[Delivered]]]) -> dict[int, list[Delivered]]:
    """Return the rows of the last attempt at each batch; all of them must have given the same.

    Rows of a table that is emptied behind the mark may be missing in a later attempt: its truncate row follows.
    """
    found = {}
    for batch, tries in attempts.items():
        first, *others = tries
        for other in others:
            more, less = Counter(other) - Counter(first), Counter(first) - Counter(other)
            wrong = [
                *more.elements(),
                *(row for row in less.elements() if not (row.snapshot and row.table == TRUNCATED)),
            ]
            assert not wrong, f"batch {batch} was delivered differently: {wrong[:5]} is new or gone"
        found[batch] = tries[-1]
    return found


def _delivered(row: dict[str, Any]) -> Delivered:
    return Delivered(
        seq=tuple(row["_seq"].values()),
        kind=row["row_kind"],
        table=row["table_name"],
        row=tuple(row[name] for name in COLUMNS),
        snapshot=row["snapshot"],
        place=(row["file"], row["pos"], row["gtid"]),
    )


def _numbers(directory: Path) -> list[int]:
    return [int(file.name) for file in directory.glob("[0-9]*") if file.name.isdigit()]
