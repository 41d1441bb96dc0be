"""The MySQL source is exact while its query is killed: twenty tables, eight writers, kills in every phase.

The query runs in a process of its own and stores every attempt at every batch. When all is over, an independent reader
replays the binlog, and every batch is held against it: what was delivered, and what the changelog has come to by then.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from tests.support.mysql.mysql_server import MySqlServer, every_mysql
from tests.support.mysql_consistency.recording import Recording
from tests.support.mysql_consistency.replay import read_in_fresh_processes
from tests.support.mysql_consistency.scene import Scene
from tests.support.mysql_consistency.writers import Writers
from tests.support.spark.query_process import CLUSTER, LOCAL, QueryProcess

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.slow]

DELAY_US = 20_000
AFTER_SNAPSHOT = 6  # batches of the binlog before the last kill
BETWEEN_PHASES = 2
"""So many kills are those of the driver in the first batch, and in the last one of the snapshot."""


class Run:
    """One query under writers and kills.

    Args:
        scene: the tables.
        recording: what the query leaves.
        chance: decides when and what is killed.
        master: where the query runs.
    """

    def __init__(self, scene: Scene, recording: Recording, chance: random.Random, master: str) -> None:
        self.scene, self.recording, self.chance = scene, recording, chance
        self.job = QueryProcess(recording, "tidemark-mysql", scene.options, master)

    def wait(self, what: str, is_true: Callable[[], bool]) -> None:
        self.job.wait_until(what, is_true)
        threading.Event().wait(self.chance.random() * 0.6)  # somewhere in the batch, or in the next

    def is_reading_tables(self) -> bool:
        state = self.recording.state(self.recording.planned() - 1)
        return state.after is not None

    def is_last_of_snapshot(self) -> bool:
        planned = self.recording.planned()
        return planned > 0 and self.recording.state(planned - 1).after is None

    def batches_more(self, count: int) -> Callable[[], bool]:
        goal = self.recording.committed() + count
        return lambda: self.recording.committed() >= goal

    def kill(self) -> None:
        """Kill the driver or the planner; before, one of the workers, and an executor where there are some."""
        self.job.kill_worker(self.chance)
        if self.job.kill_executor(self.chance):
            threading.Event().wait(2 * self.chance.random())
        self.chance.choice((self.job.kill_driver, self.job.kill_driver, self.job.kill_runner))()


def run_with_kills(scene: Scene, recording: Recording, seed: int, kills: int, master: str) -> list[str]:
    """Run the query to its end, killed at each boundary of phases and in between; return what was killed."""
    run = Run(scene, recording, random.Random(seed), master)
    server, additional = scene.server, kills - 4
    with Writers(server, scene.database, seed=seed, pause_s=0.15) as writers, run.job as job:
        job.wait_until("first batch", lambda: recording.planned() > 0)
        writers.may_prepare.set()
        job.kill_driver()
        for number in range(1 + additional // 2):
            run.wait("batches of the snapshot", run.batches_more(2) if run.is_reading_tables() else lambda: True)
            if number == 0:
                server.execute(f"SET GLOBAL binlog_group_commit_sync_delay = {DELAY_US}")
            run.kill()
        job.wait_until("last batch of the snapshot", run.is_last_of_snapshot)
        run.wait("nothing", lambda: True)
        job.kill_driver()
        server.execute("SET GLOBAL binlog_group_commit_sync_delay = 0")
        run.wait("batches of the binlog", run.batches_more(AFTER_SNAPSHOT))
        server.execute(f"SET GLOBAL binlog_group_commit_sync_delay = {DELAY_US}")
        for _ in range(1 + additional - additional // 2):
            run.wait("batches of the binlog", run.batches_more(2))
            run.kill()
        run.wait("batches of the binlog", run.batches_more(2))
        job.kill_worker(run.chance)
        writers.end()
        job.finish()
        return job.kills


def check(
    mysql: MySqlServer, recording: Recording, *, kills: int, again: int, changes: int, master: str = LOCAL
) -> None:
    seed = random.randrange(10**6)
    scene = Scene.open(mysql, seed=seed)
    recording.create()
    with mysql.settings(binlog_group_commit_sync_delay=0):
        killed = run_with_kills(scene, recording, seed, kills, master)
        checked = scene.check(recording)
    assert not checked.faults, (seed, killed, checked.faults[:5])
    assert checked.snapshot_batches >= 5, checked
    assert checked.batches - checked.snapshot_batches > AFTER_SNAPSHOT, checked
    assert checked.changes > 100, checked
    assert len(killed) >= kills, killed
    assert ("executor" in killed) == (master == CLUSTER), killed
    read_in_fresh_processes(scene, recording, again=again, changes=changes, seed=seed)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_changelog_is_exact_while_the_query_is_killed(mysql, tmp_path):
    check(mysql, Recording(tmp_path / "run"), kills=BETWEEN_PHASES, again=2, changes=500)


@pytest.mark.full
@every_mysql
@pytest.mark.timeout(900)
def test_the_changelog_is_exact_while_the_query_is_killed_in_every_phase(mysql, tmp_path):
    check(mysql, Recording(tmp_path / "run"), kills=4, again=6, changes=500)


@pytest.mark.full
@every_mysql
@pytest.mark.timeout(3_600)
def test_the_changelog_is_exact_while_the_query_is_killed_twenty_times(mysql, tmp_path):
    check(mysql, Recording(tmp_path / "run"), kills=20, again=50, changes=10_000, master=CLUSTER)
