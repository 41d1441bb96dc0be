"""A copy of a table stays equal, and its query goes on by itself, while servers, network and its own processes fail."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.chaos.mysql_faults import MySqlFaults, catch_up, replicate
from tests.support.chaos.mysql_writer import TABLE, Writer, create_table
from tests.support.mysql.mysql_copy import BatchLog, strict_copy
from tests.support.mysql.mysql_server import OpenMySql, OwnMySql
from tests.support.spark.query_process import CLUSTER, LOCAL, QueryProcess
from tests.support.spark.recording import QueryDirectory
from tests.support.tcp_switch import TcpSwitch, tcp_switch

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.slow]

FEW = ("server crashes", "driver killed")
SHORT = ("worker killed", "server crashes", "network cut", "fail-over", "driver killed")
EVERY = (*SHORT, "server restarts", "planner killed", "executor killed", "fail-over")
COLUMNS = ("id", "v", "note")
CATCH_UP_S = 300
Rows = dict[int, tuple[Any, ...]]


def options(server: OwnMySql, switch: TcpSwitch) -> dict[str, str]:
    login = server.reader
    return {
        "hostname": "127.0.0.1",
        "port": str(switch.port),
        "username": login.user,
        "password": login.password,
        "ssl.mode": "disabled",
        "database-name": "d",
        "table-name": "t",
        "scan.incremental.snapshot.chunk.size": "20",
        "scan.snapshot.parallelism": "2",
        "scan.max-rows-per-batch": "100",
    }


def copied(recording: QueryDirectory) -> Rows:
    """Return the copy; attempts at a batch must agree but for places, which differ between servers."""
    log = BatchLog(COLUMNS)
    for batch, attempts in recording.stored().items():
        first, *others = [_values(rows) for rows in attempts]
        for other in others:
            assert other == first, f"batch {batch} was read again and differs: {first - other}, {other - first}"
        log.batches[batch] = sorted((tuple(r["_seq"].values()), *_value(r)) for r in attempts[-1])
    return strict_copy(log)


def _values(rows: list[dict[str, Any]]) -> Counter[Any]:
    return Counter(_value(row) for row in rows)


def _value(row: dict[str, Any]) -> tuple[str, bool, tuple[Any, ...]]:
    return row["row_kind"], row["snapshot"], tuple(row[name] for name in COLUMNS)


def table(server: OwnMySql) -> Rows:
    return {row[0]: row for row in server.execute(f"SELECT id, v, note FROM {TABLE}")}


def run(own_mysql: OpenMySql, tmp_path: Path, *, kinds: Sequence[str], seed: int, master: str) -> None:
    primary, replica = own_mysql(**{"server-id": "11"}), own_mysql(**{"server-id": "12"})
    create_table(primary)
    replicate(primary, replica)
    catch_up(primary, replica)
    recording = QueryDirectory(tmp_path / "run").create()
    with tcp_switch(primary.administrator.port) as switch, Writer(primary, seed=seed) as writer:
        query = QueryProcess(recording, "tidemark-mysql", options(primary, switch), master)
        with query:
            faults = MySqlFaults(
                primary=primary,
                replica=replica,
                switch=switch,
                writer=writer,
                query=query,
                recording=recording,
                chance=random.Random(seed),
            )
            faults.wait_for_start()
            faults.wait_for_progress("the first batches")
            for kind in kinds:
                faults.inject(kind)
            writer.end()
            expected = table(faults.primary)
            query.wait_until("an equal copy", lambda: copied(recording) == expected, within_s=CATCH_UP_S)
            query.finish()
    assert copied(recording) == expected, (seed, faults.injected)
    assert writer.written > len(kinds) * 10, writer.written


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kinds", [FEW, pytest.param(SHORT, marks=pytest.mark.full)], ids=["few", "five"])
def test_the_copy_is_equal_through_faults_of_common_kinds(own_mysql, tmp_path, kinds):
    run(own_mysql, tmp_path, kinds=kinds, seed=11, master=LOCAL)


@pytest.mark.full
@pytest.mark.timeout(3_600)
def test_the_copy_is_equal_through_thirty_faults_on_executors(own_mysql, tmp_path):
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    kinds = [*EVERY, *chance.choices(EVERY, k=30 - len(EVERY))]
    chance.shuffle(kinds)
    run(own_mysql, tmp_path, kinds=kinds, seed=seed, master=CLUSTER)
