"""When a partition that is not listed is believed to be gone."""

from __future__ import annotations

import pytest

from datasources.kafka.metadata.absent_partitions import AbsentPartitions
from datasources.kafka.metadata.subscriber import AssignedPartitions, SubscribedPattern, SubscribedTopics
from datasources.source.api.enumerator import Absence
from watermark.clock import ManualClock

PAIR = ("orders", 3)
TOPICS = SubscribedTopics(("orders",))


class Brokers:
    """Answers of brokers, in turn; the last one stays."""

    def __init__(self, *answers: bool) -> None:
        self.answers, self.asked = list(answers), 0

    def __call__(self, pair: tuple[str, int]) -> bool:
        assert pair == PAIR
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def absences(brokers: Brokers, seconds: float, *, each_s: float = 0.25) -> list[Absence]:
    clock = ManualClock(0)
    absent = AbsentPartitions(TOPICS, brokers, clock)
    found = []
    for _ in range(int(seconds / each_s) + 1):
        found.append(absent.absence(PAIR))
        clock.advance_us(int(each_s * 1_000_000))
    return found


def test_it_is_gone_after_five_seconds_of_consistent_answers():
    brokers = Brokers(False)
    found = absences(brokers, 5)
    assert found == [Absence.UNCONFIRMED] * 20 + [Absence.GONE]
    assert brokers.asked == 6  # once a second


def test_seldom_plannings_need_three_answers():
    assert absences(Brokers(False), 20, each_s=10) == [Absence.UNCONFIRMED, Absence.UNCONFIRMED, Absence.GONE]


def test_one_answer_that_lists_it_begins_anew():
    brokers = Brokers(False, False, False, True, False)
    found = absences(brokers, 8)
    assert set(found) == {Absence.UNCONFIRMED}
    assert brokers.asked == 9


@pytest.mark.parametrize(
    ("subscriber", "pair", "absence"),
    [
        (SubscribedTopics(("others",)), PAIR, Absence.GONE),
        (SubscribedPattern("or.*x"), PAIR, Absence.GONE),
        (AssignedPartitions((("orders", 2),)), PAIR, Absence.GONE),
        (SubscribedPattern(".*"), ("__consumer_offsets", 0), Absence.LEFT_OUT),
        (SubscribedPattern("orders"), ("__transaction_state", 0), Absence.LEFT_OUT),
    ],
)
def test_an_unsubscribed_partition_needs_no_answer(subscriber, pair, absence):
    brokers = Brokers(False)
    assert AbsentPartitions(subscriber, brokers, ManualClock(0)).absence(pair) is absence
    assert brokers.asked == 0


@pytest.mark.parametrize("subscriber", [TOPICS, SubscribedPattern("or.*"), AssignedPartitions((PAIR,))])
def test_what_is_still_read_is_asked_for(subscriber):
    brokers = Brokers(True)
    assert AbsentPartitions(subscriber, brokers, ManualClock(0)).absence(PAIR) is Absence.UNCONFIRMED
    assert brokers.asked == 1
