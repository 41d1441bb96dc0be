"""Dead letters of queries whose processes are killed again and again: each is there once, and no row is lost."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from typing import Any

import pytest

from tests.support.forms import full_cases
from tests.support.kafka.dead_letters import letters_of, options_of
from tests.support.spark.query_process import CLUSTER, LOCAL, QueryProcess
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1_500)]

PARTITIONS = 3
RECORDS = 150
"""Of each partition before each kill."""
LONGEST_S = 1.5


class Producer:
    """Writes orders, every fifth of them bad, some of them far behind; event time grows from round to round."""

    def __init__(self, kafka: Any, topic: str, chance: random.Random) -> None:
        self._kafka, self._topic, self._chance = kafka, topic, chance
        self._round = 0
        self.bad: list[str] = []
        self.good: list[int] = []
        self._ends = [0] * PARTITIONS

    def write(self) -> None:
        for partition in range(PARTITIONS):
            values = [self._value(partition, self._ends[partition] + n) for n in range(RECORDS)]
            self._kafka.produce(self._topic, partition, values)
            self._ends[partition] += RECORDS
        self._round += 1

    def _value(self, partition: int, offset: int) -> bytes:
        if self._chance.random() < 0.2:
            self.bad.append(f"{self._topic}-{partition}-{offset}")
            return b"{" * self._chance.randint(0, 50)
        number = offset * PARTITIONS + partition
        self.good.append(number)
        second = max(0, self._round * 10 + self._chance.choice([0, 1, 2, 3, -30]))
        return json.dumps(
            {"id": number, "ts": f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"}
        ).encode()


@pytest.mark.parametrize(
    ("master", "kills"),
    [
        (LOCAL, ["driver", "worker", "worker", "driver", "worker", "runner", "worker", "driver", "worker", "worker"]),
        *full_cases((CLUSTER, ["executor"] * 10), (LOCAL, ["driver"] * 20)),
    ],
    ids=["local", "executors", "drivers"],
)
def test_each_record_is_a_row_or_one_dead_letter_though_processes_are_killed(kafka, tmp_path, master, kills):
    chance = random.Random(20_277)
    topic, dead = kafka.create_topic(partitions=PARTITIONS), kafka.create_topic(partitions=2)
    producer = Producer(kafka, topic, chance)
    recording = QueryDirectory(tmp_path / "query").create()
    given = {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "format": "json",
        "schema": "id BIGINT, ts TIMESTAMP",
        "watermark.for": "ts",
        "watermark.as": "ts - INTERVAL '5' SECOND",
        "maxOffsetsPerTrigger": "100",
        **options_of(dead, "bad", "late"),
    }
    with QueryProcess(recording, "tidemark-kafka", given, master=master) as job:
        for kill in kills:
            goal = recording.planned() + 1
            producer.write()
            job.wait_until("a batch", lambda goal=goal: recording.planned() >= goal)
            threading.Event().wait(LONGEST_S * chance.random())
            kill_one(job, kill, chance)
        producer.write()
        job.finish()
    assert Counter(job.kills) == Counter(kills)
    found = letters_of(kafka.bootstrap_servers, dead)
    assert [key for key, times in Counter(letter.key for letter in found).items() if times > 1] == []
    assert sorted(letter.key for letter in found if letter.about["kind"] == "bad") == sorted(producer.bad)
    late = [json.loads(letter.value or b"")["id"] for letter in found if letter.about["kind"] == "late"]
    assert late
    rows = [row["id"] for attempts in recording.stored().values() for row in attempts[-1]]
    assert sorted([*rows, *late]) == sorted(producer.good)


def kill_one(job: QueryProcess, kill: str, chance: random.Random) -> None:
    if kill == "driver":
        job.kill_driver()
    elif kill == "runner":
        job.kill_runner()
    elif kill == "worker":
        job.wait_until("a worker", lambda: job.kill_worker(chance))
    else:
        job.wait_until("an executor", lambda: job.kill_executor(chance))
