"""Writes the story to the topic, step by step, at a pace that keeps several micro-batches busy.

The pace never changes what is written, and partitions never fall silent for longer than two seconds by it: a partition
that has nothing new for the idle timeout no longer holds the watermark, and that is for the silent one to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Final

from datasources.demo.broker import OrdersTopic
from datasources.demo.orders import Story
from datasources.errors import TidemarkError

__all__ = ["Produced", "StoryProducer"]

_BRISK_S: Final = 0.22
_SLOW_S: Final = 0.8
_WAITING_S: Final = 2.0
_FAR_BEHIND_ROWS: Final = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """How much was written.

    Attributes:
        steps: Steps of the story.
        rows: Orders.
        is_done: Whether the story is told.
    """

    steps: int = 0
    rows: int = 0
    is_done: bool = False


class StoryProducer:
    """Writes a story in a thread of its own; ``close`` ends it.

    Args:
        topic: Where the orders go.
        story: What is told.
    """

    def __init__(self, topic: OrdersTopic, story: Story) -> None:
        self._topic = topic
        self._story = story
        self._lock = Lock()
        self._produced = Produced()
        self._pause_s = _WAITING_S
        self._failure: TidemarkError | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, name="tidemark-demo-producer", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def produced(self) -> Produced:
        """How much was written so far.

        Raises:
            TidemarkError: Writing failed.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            return self._produced

    def follow(self, read_rows: int) -> None:
        """Set the pace.

        Args:
            read_rows: How many orders the slower query has read. Before its first batch, which takes longest because
                everything is loaded then, the story hardly goes on: it is for the batches after it.
        """
        with self._lock:
            is_behind = self._produced.rows - read_rows > _FAR_BEHIND_ROWS
            self._pause_s = _WAITING_S if read_rows == 0 else _SLOW_S if is_behind else _BRISK_S

    def close(self) -> None:
        """End it, wherever it is."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            for step in self._story.steps:
                self._topic.send(step)
                self._note(len(step))
                if self._stop.wait(self._pause_s):
                    return
        except TidemarkError as error:
            with self._lock:
                self._failure = error

    def _note(self, rows: int) -> None:
        with self._lock:
            before = self._produced
            steps = before.steps + 1
            self._produced = Produced(steps=steps, rows=before.rows + rows, is_done=steps == len(self._story.steps))
