"""The largest size of a directory while something runs."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final, Self

__all__ = ["DirectorySampler"]

_EVERY_S: Final = 0.5


class DirectorySampler:
    """Watches the files below a directory in the background. Use it in `with`.

    Args:
        directory: need not exist.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.peak_mb = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_S):
            self.peak_mb = max(self.peak_mb, _size(self._directory) / 1e6)


def _size(directory: Path) -> int:
    total = 0
    for folder, _, files in os.walk(directory):
        for file in files:
            try:
                total += Path(folder, file).stat().st_size
            except FileNotFoundError:
                continue  # it was removed meanwhile
    return total
