"""The pool of things that outlive their users."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from datasources.kafka.client.pool import Kept


@pytest.fixture
def closed():
    return []


@pytest.fixture
def kept(closed):
    return Kept(2, closed.append)


def test_what_is_given_can_be_taken_once(kept, closed):
    kept.give("a", 1)
    assert (kept.take("a"), kept.take("a"), kept.take("b")) == (1, None, None)
    assert closed == []


def test_the_oldest_is_closed_when_there_are_too_many(kept, closed):
    for key, thing in (("a", 1), ("b", 2)):
        kept.give(key, thing)
    assert kept.is_full
    kept.give("c", 3)
    assert (list(kept), len(kept), closed) == (["b", "c"], 2, [1])


def test_of_two_under_one_key_the_newer_is_kept(kept, closed):
    kept.give("a", 1)
    kept.give("a", 2)
    assert (kept.take("a"), closed) == (2, [1])


def test_using_a_thing_makes_it_the_newest(kept, closed):
    kept.give("a", 1)
    kept.give("b", 2)
    kept.give("a", kept.take("a"))
    kept.give("c", 3)
    assert closed == [2]


def test_a_forked_process_forgets_what_its_parent_kept_and_closes_nothing(kept, closed, monkeypatch):
    kept.give("a", 1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert kept.take("a") is None
    kept.give("b", 2)
    assert (list(kept), closed) == (["b"], [])


def test_the_end_of_the_process_closes_the_rest(kept, closed):
    kept.give("a", 1)
    kept.give("b", 2)
    kept._close_all()
    assert (sorted(closed), len(kept)) == ([1, 2], 0)


def test_the_end_of_a_forked_process_closes_nothing_of_its_parents(kept, closed, monkeypatch):
    kept.give("a", 1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    kept._close_all()
    assert closed == []


FORKED = """
import os, sys
from confluent_kafka import Consumer, TopicPartition
from datasources.kafka.client.pool import Kept

kept = Kept(4, lambda consumer: consumer.close())
consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": "0"})
consumer.assign([TopicPartition("t", 0, 5)])
consumer.poll(0.2)
kept.give("a", consumer)
del consumer
child = os.fork()
if child == 0:
    uses = sys.argv[1] == "uses"
    assert not uses or kept.take("a") is None
    sys.exit(7)
status = os.waitpid(child, 0)[1]
assert kept.take("a") is not None
os._exit(0 if status == 7 << 8 else 1)
"""


@pytest.mark.parametrize("child", ["uses", "ends"])
def test_a_child_neither_crashes_nor_waits_for_consumers_of_its_parent(child):
    done = subprocess.run(
        [sys.executable, "-c", FORKED, child], timeout=60, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
