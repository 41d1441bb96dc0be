"""Recorded batches are read again, in fresh processes, after many further changes.

python -m tests.support.mysql_consistency.replay SETTINGS
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from tests.support.mysql_consistency.local_query import read_again
from tests.support.mysql_consistency.recording import Recording, equal_attempts
from tests.support.mysql_consistency.scene import Scene
from tests.support.mysql_consistency.tables import LARGEST_KEY, TABLES, random_row
from tests.support.spark.query_process import ROOT

__all__ = ["read_in_fresh_processes"]

_SNAPSHOT_SHARE = 0.4
_PROCESSES = 2


def read_in_fresh_processes(scene: Scene, recording: Recording, *, again: int, changes: int, seed: int) -> int:
    """Read recorded batches again after so many changes; fail if a row differs.

    Returns:
        How many of them read tables.
    """
    chance = random.Random(seed)
    change_rows(scene, chance, changes)
    every = range(recording.planned())
    snapshot_batches = [batch for batch in every if recording.state(batch).tables]
    others = [batch for batch in every if not recording.state(batch).tables]
    first = min(len(snapshot_batches), max(round(again * _SNAPSHOT_SHARE), again - len(others)))
    chosen = sorted([*chance.sample(snapshot_batches, first), *chance.sample(others, min(len(others), again - first))])
    into = Recording(recording.directory / "again").create()
    begun = [_begin(scene, recording, into, chosen[number::_PROCESSES], number) for number in range(_PROCESSES)]
    for process in begun:
        _, errors = process.communicate()
        assert process.returncode == 0, errors[-4_000:]
    before, after = recording.attempts(), into.attempts()
    # A batch without rows has no file where Spark had no partition to run.
    equal_attempts({batch: [*before.get(batch, [[]]), *after.get(batch, [[]])] for batch in chosen})
    return first


def _begin(
    scene: Scene, recording: Recording, into: Recording, batches: list[int], number: int
) -> subprocess.Popen[str]:
    settings = recording.directory / f"again-{number}.json"
    source, target = str(recording.directory), str(into.directory)
    given = {"options": scene.options, "from": source, "into": target, "batches": batches, "name": f"again-{number}"}
    settings.write_text(json.dumps(given))
    command = [sys.executable, "-m", "tests.support.mysql_consistency.replay", str(settings)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def change_rows(scene: Scene, chance: random.Random, changes: int) -> None:
    """Change rows of all tables, in transactions of some hundred."""
    with scene.server.connect(database=scene.database, charset="utf8mb4") as connection:
        cursor, done = connection.cursor(), 0
        while done < changes:
            cursor.execute("BEGIN")
            for table in TABLES:
                row, number = random_row(chance), chance.randrange(LARGEST_KEY)
                orphan = (*row[:4], None, row[5])
                done += cursor.execute(f"DELETE FROM {table.name} WHERE i = %s", (number,))
                done += cursor.execute(
                    f"UPDATE {table.name} SET v = %s WHERE i BETWEEN %s AND %s", (row[5], number, number + 8)
                )
                done += cursor.execute(
                    f"REPLACE INTO {table.name} (i, s, d, t, n, v) VALUES (%s, %s, %s, %s, %s, %s)", orphan
                )
            cursor.execute("COMMIT")


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text())
    source, target = Recording(Path(given["from"])), Recording(Path(given["into"]))
    read_again(given["options"], source, given["batches"], target, name=given["name"])
