"""Copies of TPC-C's tables are equal at quiesced points, while transactions run and processes and server are killed."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from benchmarks.tpcc.loading import load
from benchmarks.tpcc.schema import TABLES, Scale
from benchmarks.tpcc.terminals import Terminals
from tests.support.chaos.tpcc_copy import TpccCopy
from tests.support.mysql.mysql_server import OpenMySql, OwnMySql
from tests.support.mysql.mysql_sync import SyncedDatabase

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

SCALE = Scale(warehouses=2, districts=2, customers=50, items=100)
DATABASE = "tpcc"
OPTIONS: Final = (
    *("--interval", "2 s"),
    *("-o", "scan.incremental.snapshot.chunk.size=50"),
    *("-o", "scan.max-rows-per-batch=1000"),
)
"""The snapshot of the largest table has several batches, between which the binlog is read."""
LONGEST_PAUSE_S = 1.5
AWAY_S = 2.0


@contextmanager
def transactions(server: OwnMySql, seed: int) -> Iterator[Terminals]:
    """Run transactions in the block, three a second: what a copy has to catch up with bounds the time of the test."""

    def connect() -> object:
        return server.connect(database=DATABASE, autocommit=False, read_timeout=10, write_timeout=10)

    with Terminals(connect, SCALE, count=3, seed=seed, pause_s=1.0) as terminals:
        yield terminals


@pytest.mark.timeout(1800)
def test_copies_of_tpcc_are_equal_at_quiesced_points_through_kills(own_mysql: OpenMySql, tmp_path: Path):
    chance, pause = random.Random(23), threading.Event()
    server = own_mysql()
    with closing(server.connect(autocommit=False)) as connection:
        load(connection, DATABASE, SCALE, seed=23)
    database = SyncedDatabase(server, DATABASE, tmp_path)
    copy = TpccCopy(database=database)

    def kill_while_copying(commits: int) -> None:
        with database.running(*OPTIONS):
            copy.wait_for_commits(commits)
            pause.wait(LONGEST_PAUSE_S * chance.random())

    with transactions(server, seed=1) as terminals:
        kill_while_copying(len(TABLES) + 3)  # each copy was created, and some have rows
        kill_while_copying(5)
    assert terminals.total > 0
    assert database.once(*OPTIONS) == 0, database.log
    copied = copy.require_equal()

    with transactions(server, seed=2) as terminals, database.running(*OPTIONS):
        copy.wait_for_commits(3)
        server.embedded.kill()
        pause.wait(AWAY_S)
        server.embedded.start()
        copy.wait_for_commits(3)
        database.kill_workers()
        copy.wait_for_commits(1)
        pause.wait(LONGEST_PAUSE_S * chance.random())
        database.kill()
    assert terminals.lost > 0
    assert terminals.total > 0
    assert database.once(*OPTIONS) == 0, database.log
    assert copy.require_equal() > copied
