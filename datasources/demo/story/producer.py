"""Writes the story to the topic, step by step, at a pace that keeps several micro-batches busy.

The pace never changes what is written, and partitions never fall silent for longer than two seconds by it: a partition
that has nothing new for the idle timeout no longer holds the watermark, and that is for the silent one to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from datasources.demo.story.broker import OrdersTopic
from datasources.demo.story.orders import Story
from datasources.demo.story.writer import Writer

_BRISK_S: Final = 0.22
_SLOW_S: Final = 0.8
_WAITING_S: Final = 2.0
_FAR_BEHIND_ROWS: Final = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """How much was written."""

    steps: int = 0
    rows: int = 0
    is_done: bool = False


class StoryProducer(Writer[Produced]):
    """Writes a story."""

    def __init__(self, topic: OrdersTopic, story: Story) -> None:
        super().__init__("tidemark-demo-producer", Produced())
        self._topic = topic
        self._story = story
        self._pause_s = _WAITING_S

    def follow(self, read_rows: int) -> None:
        """Set the pace.

        Before the slower query's first batch, which takes longest because everything is loaded then, the story hardly
        goes on.

        Raises:
            TidemarkError: Writing failed.
        """
        is_behind = self.so_far.rows - read_rows > _FAR_BEHIND_ROWS
        self._pause_s = _WAITING_S if read_rows == 0 else _SLOW_S if is_behind else _BRISK_S

    def _write(self) -> None:
        for step in self._story.steps:
            self._topic.send(step)
            self._note(partial(self._more, len(step)))
            if self._is_over_after(self._pause_s):
                return

    def _more(self, rows: int, before: Produced) -> Produced:
        steps = before.steps + 1
        return Produced(steps=steps, rows=before.rows + rows, is_done=steps == len(self._story.steps))
