"""The split enumerator: which scripts exist and how many complete lines each has. A position is a line number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from datasources.source.api.split import SplitBounds, SplitId

SUFFIX = ".jsonl"


class ScriptedEnumerator:
    """SplitEnumerator over a directory.

    There is one file per split; a bounded source ends where the files end now.
    """

    def __init__(self, directory: Path, *, is_bounded: bool) -> None:
        self._directory = directory
        self._is_bounded = is_bounded
        self._counted: dict[Path, tuple[int, int]] = {}

    def start_positions(self) -> Mapping[SplitId, int]:
        """Begin every script at its first line."""
        return dict.fromkeys(self.bounds(), 0)

    def limits(self) -> Mapping[SplitId, int] | None:
        """End every script where it ends now, if the source is bounded."""
        if not self._is_bounded:
            return None
        return {split: bounds.end_exclusive for split, bounds in self.bounds().items()}

    def bounds(self) -> Mapping[SplitId, SplitBounds]:
        """Count the lines of every script."""
        files = sorted(self._directory.glob(f"*{SUFFIX}"))
        return {
            SplitId(file.name.removesuffix(SUFFIX)): SplitBounds(start_inclusive=0, end_exclusive=self._lines(file))
            for file in files
        }

    def late_start_position(self, split: SplitId) -> int:  # noqa: ARG002 - every script begins at its first line
        """Begin a new script at its first line."""
        return 0

    def may_lose_records(self, split: SplitId) -> bool:  # noqa: ARG002 - a script only grows
        """Never."""
        return False

    def close(self) -> None:
        """Nothing is open."""

    def _lines(self, file: Path) -> int:
        """The number of complete lines; counted incrementally from the last known end of the file."""
        size, lines = self._counted.get(file, (0, 0))
        now = file.stat().st_size
        if now < size:
            size, lines = 0, 0
        if now > size:
            with file.open("rb") as stream:
                stream.seek(size)
                lines += stream.read(now - size).count(b"\n")
            self._counted[file] = (now, lines)
        return lines
