"""What writes in a thread of its own while the demo runs: how far it is, why it failed, and its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from datasources.errors import TidemarkError

__all__ = ["Writer"]

S = TypeVar("S")


class Writer(ABC, Generic[S]):
    """Writes until it is stopped, or has written everything."""

    def __init__(self, name: str, begin: S) -> None:
        self._lock = Lock()
        self._so_far = begin
        self._failure: TidemarkError | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def so_far(self) -> S:
        """What was written so far.

        Raises:
            TidemarkError: Writing failed.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            return self._so_far

    def close(self) -> None:
        """End it, wherever it is."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @abstractmethod
    def _write(self) -> None:
        """Write; raise TidemarkError if that fails."""

    def _note(self, after: Callable[[S], S]) -> None:
        """Note what was written."""
        with self._lock:
            self._so_far = after(self._so_far)

    def _is_over_after(self, pause_s: float) -> bool:
        """Pause; return whether it shall end."""
        return self._stop.wait(pause_s)

    def _run(self) -> None:
        try:
            self._write()
        except TidemarkError as error:
            with self._lock:
                self._failure = error
