"""What the demo's MySQL part found, and its figures as rows of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from datasources.demo.story.mysql_shop import Item, Written


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The counts so far.

    Snapshot rows were read from the table. ``changes`` are images of the binlog, an update has two; early ones came
    before the last row of the table was read.
    """

    batches: int = 0
    snapshot_batches: int = 0
    snapshot_rows: int = 0
    changes: int = 0
    early_changes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProgress:
    """The part while it runs."""

    written: Written
    copied: Copied


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutcome:
    """The finished part.

    A key is missing or extra in the copy, or its rows differ. MariaDB ran because no MySQL can run on this machine.
    """

    server: str
    is_mariadb: bool
    progress: TableProgress
    keys: int
    missing: int
    extra: int
    different: int

    @classmethod
    def compare(
        cls,
        table: Mapping[int, Item],
        copy: Mapping[int, Item],
        *,
        server: str,
        is_mariadb: bool,
        progress: TableProgress,
    ) -> Self:
        """Return the outcome of a table and its copy."""
        both = table.keys() & copy.keys()
        return cls(
            server=server,
            is_mariadb=is_mariadb,
            progress=progress,
            keys=len(table.keys() | copy.keys()),
            missing=len(table.keys() - copy.keys()),
            extra=len(copy.keys() - table.keys()),
            different=sum(table[key] != copy[key] for key in both),
        )

    @property
    def equal(self) -> int:
        """Keys whose rows are equal."""
        return self.keys - self.missing - self.extra - self.different

    @property
    def failure(self) -> str | None:
        """The reason, one sentence, why the part failed; None if table and copy are equal."""
        if self.keys and self.equal == self.keys:
            return None
        return (
            f"Spark's copy of the MySQL table differs in {self.keys - self.equal} of {self.keys} keys ({self.missing} "
            f"missing, {self.extra} too many, {self.different} with other values): that must not happen, please report "
            f"it with the server, {self.server}."
        )

    @property
    def difference(self) -> str | None:
        """What is different because MariaDB ran; None = MySQL did."""
        if not self.is_mariadb:
            return None
        return (
            f"{self.server} ran, because MySQL cannot on this machine. What differs: commit times are whole seconds, "
            "readers are known by a number, and changes by cascades of foreign keys are not in its binlog."
        )


def table_rows(outcome: TableOutcome) -> list[tuple[str, str]]:
    """Return the figures, name and text, the most important first."""
    written, copied = outcome.progress.written, outcome.progress.copied
    changed = (
        f"{written.inserts:,} inserted, {written.updates:,} updated, {written.deletes:,} deleted, "
        f"{written.keys:,} given another key"
    )
    return [
        ("keys equal", f"{outcome.equal:,} of {outcome.keys:,}" + ("" if outcome.failure else ": equal")),
        ("server", outcome.server),
        ("rows read from the table", f"{copied.snapshot_rows:,} in {copied.snapshot_batches} batches"),
        ("rows changed all the while", changed),
        (
            "images of changes followed",
            f"{copied.changes:,}, {copied.early_changes:,} of them while the table was read",
        ),
    ]
