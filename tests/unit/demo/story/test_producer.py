"""The producer of the demo: writes the whole story, at a pace, and says when it cannot."""

from __future__ import annotations

from threading import Event

import pytest

from datasources.demo.story.orders import Order, Story
from datasources.demo.story.producer import StoryProducer
from datasources.errors import SourceUnavailable

DEADLINE_S = 10.0


def _story(steps, orders=1):
    order = Order(partition=0, user=1, item="tea", price_cents=1, ts_ms=1)
    return Story(seed=1, steps=((order,) * orders,) * steps, complete_until_ms=0, truth={})


class Topic:
    """Takes orders, up to a number of steps."""

    def __init__(self, breaks_after=None) -> None:
        self.steps = []
        self.taken = Event()
        self._breaks_after = breaks_after

    def send(self, orders):
        if len(self.steps) == self._breaks_after:
            self.taken.set()
            raise SourceUnavailable("the broker went away")
        self.steps.append(list(orders))
        self.taken.set()


def _finish(producer):
    pause = Event()
    for _ in range(500):
        if producer.so_far.is_done:
            return
        pause.wait(0.02)
    pytest.fail("the story was not told")


def test_a_story_of_one_step_is_produced():
    topic = Topic()
    producer = StoryProducer(topic, _story(1, orders=3))
    producer.start()
    _finish(producer)
    producer.close()
    assert (producer.so_far.steps, producer.so_far.rows) == (1, 3)
    assert len(topic.steps) == 1


def test_closing_ends_a_story_in_its_middle():
    topic = Topic()
    producer = StoryProducer(topic, _story(1_000))
    producer.start()
    assert topic.taken.wait(DEADLINE_S)
    producer.close()
    assert not producer.so_far.is_done
    assert len(topic.steps) < 1_000


def test_an_unreachable_broker_is_reported():
    topic = Topic(breaks_after=0)
    producer = StoryProducer(topic, _story(2))
    producer.start()
    assert topic.taken.wait(DEADLINE_S)
    producer.close()
    with pytest.raises(SourceUnavailable, match="went away"):
        _ = producer.so_far


def test_closing_a_producer_that_never_began_does_nothing():
    StoryProducer(Topic(), _story(1)).close()


@pytest.mark.parametrize(
    ("read_rows", "is_slower"),
    [(0, True), (9_000, False), (1, True)],
    ids=["before the first batch", "level", "far behind"],
)
def test_the_pace_waits_for_queries_that_are_behind(read_rows, is_slower):
    topic = Topic()
    producer = StoryProducer(topic, _story(2, orders=9_000))
    producer.start()
    assert topic.taken.wait(DEADLINE_S)
    producer.follow(9_000)
    brisk_s = producer._pause_s
    producer.follow(read_rows)
    assert (producer._pause_s > brisk_s) is is_slower
    producer.close()
