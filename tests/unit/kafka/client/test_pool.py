"""The pool of things that outlive their users."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from datasources.kafka.client.pool import ResourcePool


@pytest.fixture
def closed():
    return []


@pytest.fixture
def pool(closed):
    return ResourcePool(2, closed.append)


def test_what_is_given_can_be_taken_once(pool, closed):
    pool.give("a", 1)
    assert (pool.take("a"), pool.take("a"), pool.take("b")) == (1, None, None)
    assert closed == []


def test_the_oldest_is_closed_when_there_are_too_many(pool, closed):
    for key, thing in (("a", 1), ("b", 2)):
        pool.give(key, thing)
    assert pool.is_full
    pool.give("c", 3)
    assert (list(pool), len(pool), closed) == (["b", "c"], 2, [1])


def test_of_two_resources_of_one_key_the_newer_is_kept(pool, closed):
    pool.give("a", 1)
    pool.give("a", 2)
    assert (pool.take("a"), closed) == (2, [1])


def test_using_a_thing_makes_it_the_newest(pool, closed):
    pool.give("a", 1)
    pool.give("b", 2)
    pool.give("a", pool.take("a"))
    pool.give("c", 3)
    assert closed == [2]


def test_a_fork_forgets_its_parents_resources_unclosed(pool, closed, monkeypatch):
    pool.give("a", 1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert pool.take("a") is None
    pool.give("b", 2)
    assert (list(pool), closed) == (["b"], [])


def test_the_end_of_the_process_closes_the_remaining_ones(pool, closed):
    pool.give("a", 1)
    pool.give("b", 2)
    pool._close_all()
    assert (sorted(closed), len(pool)) == ([1, 2], 0)


def test_the_end_of_a_fork_closes_nothing_of_its_parents(pool, closed, monkeypatch):
    pool.give("a", 1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    pool._close_all()
    assert closed == []


FORKED = """
import os, sys
from confluent_kafka import Consumer, TopicPartition
from datasources.kafka.client.pool import ResourcePool

pool = ResourcePool(4, lambda consumer: consumer.close())
consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": "0"})
consumer.assign([TopicPartition("t", 0, 5)])
consumer.poll(0.2)
pool.give("a", consumer)
del consumer
child = os.fork()
if child == 0:
    uses = sys.argv[1] == "uses"
    assert not uses or pool.take("a") is None
    sys.exit(7)
status = os.waitpid(child, 0)[1]
assert pool.take("a") is not None
os._exit(0 if status == 7 << 8 else 1)
"""


@pytest.mark.parametrize("child", ["uses", "ends"])
def test_a_child_neither_crashes_nor_waits_for_its_parents(child):
    done = subprocess.run(
        [sys.executable, "-c", FORKED, child], timeout=60, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
