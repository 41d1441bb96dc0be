"""Every batch has the covered part of the tables as of its position: twenty tables under eight writers, without Spark.

The query's driver and its tasks run in this process, which makes batches quick: what tasks do is the same, they get
their reader and their plan pickled. test_mysql_consistency.py has the same with Spark and kills.
"""

from __future__ import annotations

import random
import threading
import uuid
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.mysql.binlog import BinlogRows, StopRule
from datasources.mysql.binlog.reading.committed import CommittedChanges
from datasources.mysql.binlog.reading.opening import ReaderId, reader_opener
from datasources.mysql.config.mysql_options import MySqlConnectionOptions
from datasources.mysql.connection.connection import connection_settings
from datasources.mysql.snapshot.undo.keyed_undo import KeyedUndo
from datasources.options import parse_group
from tests.support.forms import full
from tests.support.mysql.mysql_binlog import everything, position
from tests.support.mysql.mysql_server import every_mysql
from tests.support.mysql.mysql_xa import decide, prepare
from tests.support.mysql_consistency.check import Checked
from tests.support.mysql_consistency.local_query import LocalQuery
from tests.support.mysql_consistency.recording import Recording
from tests.support.mysql_consistency.scene import Scene
from tests.support.mysql_consistency.tables import TABLES, random_row
from tests.support.mysql_consistency.writers import Writers, swap, truncate

pytestmark = [
    pytest.mark.mysql,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.db. is deprecated:DeprecationWarning"),  # of the independent reader
]

SHORT_PAUSES = {"pause_s": 0.05, "ddl_pause_s": 0.4}
TRANSACTIONS_AFTER = 250  # of which some change nothing, or are rolled back


def run(scene: Scene, recording: Recording, *, seed: int, batches_after: int, **pace: Any) -> Checked:
    """Run a query under writers until enough batches and transactions follow its snapshot; return what the check found."""
    writers = Writers(scene.server, scene.database, seed=seed, **pace)
    with writers, LocalQuery(scene.options, recording) as query:
        while not (query.step() and recording.state(recording.planned() - 1).snapshot is None):
            writers.may_prepare.set()
        enough, snapshot_batches = writers.done.total() + TRANSACTIONS_AFTER, 1
        while snapshot_batches < batches_after or writers.done.total() < enough:
            snapshot_batches += query.step()
    with LocalQuery({**scene.options, "scan.max-rows-per-batch": "100000"}, recording) as query:
        query.run(_set())
    return scene.check(recording)


@every_mysql
@pytest.mark.parametrize("delay_us", [*full(0), 20_000])
def test_every_batch_has_the_covered_ranges_as_of_its_position(mysql, tmp_path, delay_us):
    seed = random.randrange(10**6)
    scene = Scene.open(mysql, seed=seed)
    with mysql.settings(binlog_group_commit_sync_delay=delay_us):
        checked = run(scene, Recording(tmp_path).create(), seed=seed, batches_after=10, **SHORT_PAUSES)
    assert not checked.faults, (seed, checked.faults[:5])
    assert checked.snapshot_batches > 5
    assert checked.changes > 100


@pytest.mark.parametrize("plant", [*full("not undone"), "undone to the last change"])
def test_a_chunk_whose_undo_is_wrong_is_found(mysql, tmp_path, monkeypatch, plant):
    first = KeyedUndo._first

    def last(self: KeyedUndo) -> Any:
        images = pa.Table.from_batches(self._images).combine_chunks().to_batches()[0]
        backwards = np.arange(len(images))[::-1]
        self._images = [images.take(pa.array(backwards))]
        self._is_before = [np.concatenate(self._is_before)[backwards]]
        return first(self)

    if plant == "not undone":
        monkeypatch.setattr(KeyedUndo, "apply", lambda _, batches: iter(batches))
    else:
        monkeypatch.setattr(KeyedUndo, "_first", last)
    scene, recording = Scene.open(mysql, seed=1), Recording(tmp_path).create()

    def change_twice(batch: int) -> None:
        """Between the plan and the read."""
        for planned in recording.state(batch).tables:
            for value in ("once", "twice"):
                mysql.execute(f"UPDATE {scene.database}.{planned.table[1]} SET v = '{value} {batch}'")

    with LocalQuery(scene.options, recording, change_twice) as query:
        query.run(_set())
    assert scene.check(recording).faults


@every_mysql
@pytest.mark.parametrize("statement", [swap, truncate])
def test_a_table_replaced_or_emptied_between_plan_and_read_stays_exact(mysql, tmp_path, statement):
    scene, recording = Scene.open(mysql, seed=4), Recording(tmp_path).create()
    name = {swap: "t20", truncate: "t19"}[statement]
    with mysql.connect(database=scene.database, charset="utf8mb4") as connection:
        cursor, chance = connection.cursor(), random.Random(4)

        def change(batch: int) -> None:
            if any(planned.table[1] == name for planned in recording.state(batch).tables):
                _replace(cursor, name, chance)
                statement(cursor, batch)
                _replace(cursor, name, chance)

        with LocalQuery(scene.options, recording, change) as query:
            query.run(_set())
    checked = scene.check(recording)
    assert not checked.faults, checked.faults[:5]


@every_mysql
def test_xa_prepared_before_the_position_and_committed_before_the_read(mysql, tmp_path):
    scene, recording = Scene.open(mysql, seed=5), Recording(tmp_path).create()
    name = f"{scene.database}_xa"
    changes = [f"UPDATE {table.name} SET v = 'xa' WHERE i % 3 = 0" for table in TABLES]

    def decide_it(batch: int) -> None:
        if batch == 1:
            decide(mysql, "COMMIT", name)

    with LocalQuery(scene.options, recording, decide_it) as query:
        query.step()
        prepare(mysql, scene.database, name, *changes)
        query.run(_set())
    checked = scene.check(recording)
    assert not checked.faults, checked.faults[:5]
    assert checked.snapshot_batches > 5


@every_mysql
def test_a_range_is_read_to_its_end_while_that_commit_is_under_way(mysql):
    """The server's status is behind a commit before a dump gets it: what ends there would end elsewhere next time."""
    scene = Scene.open(mysql, seed=6, rows=1)
    settings = connection_settings(parse_group(MySqlConnectionOptions, scene.options))
    start = end = position(mysql)
    insert = f"INSERT INTO {scene.database}.t14 (i, s, d, t) VALUES (1, 'a', 1, NOW())"
    name = ReaderId(server_id=77, replica_uuid=str(uuid.uuid4()))
    with mysql.settings(binlog_group_commit_sync_delay=1_000_000):
        writer = threading.Thread(target=mysql.execute, args=(insert,))
        writer.start()
        while end == start:
            end = position(mysql)
        assert writer.is_alive()
        opener = reader_opener(settings, everything(scene.database), name)
        changes = CommittedChanges(opener, start=start, stop=StopRule(to=end), prepared={})
        with closing(changes):
            rows = [change for change in changes if isinstance(change, BinlogRows)]
        writer.join()
    assert changes.position == end
    assert len(rows) == 1


def _replace(cursor: Any, name: str, chance: random.Random) -> None:
    rows = [random_row(chance) for _ in range(20)]
    cursor.executemany(f"REPLACE INTO {name} (i, s, d, t, n, v) VALUES (%s, %s, %s, %s, %s, %s)", rows)


def _set() -> threading.Event:
    event = threading.Event()
    event.set()
    return event
