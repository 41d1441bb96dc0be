"""Keeps fast tests fast: a test without the marker starts neither Spark nor a server.

Every such start is a child process, so one audit hook sees them all, whichever way a test takes. Audit hooks cannot be
removed; this one does nothing while no test is watched.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["FIXTURE_MARKERS", "MarkerMissing", "StartGuard"]

FIXTURE_MARKERS: Final = {
    "kafka": "kafka",
    "own_kafka": "kafka",
    "own_cluster": "kafka",
    "module_cluster": "kafka",
    "shared_cluster": "kafka",
    "mysql": "mysql",
    "mysql_servers": "mysql",
    "own_mysql": "mysql",
    "spark": "spark",
    "spark_session": "spark",
}
"""Fixtures that start something, and the marker that a test needs to use them."""

# How the directories of embedded servers begin, which their supervisors receive.
_SERVER_MARKERS: Final = {"tidemark-kafka-": "kafka", "tidemark-mysql-": "mysql", "tidemark-mariadb-": "mysql"}


class MarkerMissing(AssertionError):
    """A test starts something that only marked tests may start."""


class StartGuard:
    """Refuses to start what the running test is not marked for."""

    def __init__(self) -> None:
        self._forbidden: frozenset[str] = frozenset()
        sys.addaudithook(self._audit)

    @contextmanager
    def forbid(self, markers: frozenset[str]) -> Iterator[None]:
        """While in the block, refuse to start what belongs to these markers."""
        before, self._forbidden = self._forbidden, markers
        try:
            yield
        finally:
            self._forbidden = before

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "subprocess.Popen" or not self._forbidden:
            return
        started = _marker_of(arguments[1])
        if started in self._forbidden:
            raise MarkerMissing(f"this test starts {started}: mark it with @pytest.mark.{started}")


def _marker_of(argv: object) -> str | None:
    words = [str(word) for word in argv] if isinstance(argv, list | tuple) else [str(argv)]
    if any(Path(word).name == "spark-submit" for word in words):
        return "spark"
    return next((marker for directory, marker in _SERVER_MARKERS.items() if directory in words), None)
