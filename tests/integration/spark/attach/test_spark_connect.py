"""Clients of Spark Connect: the server is a process of its own, which is killed and started again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from datasources.spark.adapter.application_coordinator import ENDPOINT_FILE
from tests.support.installed import ROOT
from tests.support.kafka.kafka_orders import BASE, MINUTE, order, orders
from tests.support.spark.connect_server import ConnectServer

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

JOB = "tests.support.spark.connect_job"
DEADLINE_S = 240


def start_client(server: ConnectServer, directory: Path, **job: Any) -> subprocess.Popen[str]:
    given = directory / "job.json"
    given.write_text(json.dumps(job), encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    return subprocess.Popen(
        [sys.executable, "-m", JOB, server.remote, str(given)],
        cwd=directory,
        env={**environment, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def results(directory: Path) -> dict[int, int]:
    """The windows that the sink committed, and how many rows each has; no window comes twice."""
    found: dict[int, int] = {}
    log = directory / "_spark_metadata"
    for entry in sorted(log.glob("[0-9]*"), key=lambda path: int(path.name)) if log.exists() else ():
        for line in entry.read_text(encoding="utf-8").splitlines()[1:]:
            for row in pq.read_table(Path(json.loads(line)["path"].removeprefix("file://"))).to_pylist():
                assert row["start"] not in found, "a window was emitted twice"
                found[row["start"]] = row["n"]
    return {(start - BASE) // MINUTE: n for start, n in sorted(found.items())}


def wait_until(condition: Any, client: subprocess.Popen[str]) -> None:
    waiting = threading.Event()
    for _ in range(DEADLINE_S * 10):
        if condition():
            return
        if client.poll() is not None:
            break
        waiting.wait(0.1)
    client.kill()
    raise AssertionError(f"it never came true: {client.communicate()[1][-4_000:]}")


@pytest.mark.kafka
def test_a_query_goes_on_after_its_server_was_killed(kafka, tmp_path):
    topic = kafka.create_topic(partitions=2)
    job = {
        "options": orders(kafka, topic),
        "checkpoint": str(tmp_path / "checkpoint"),
        "results": str(tmp_path / "results"),
    }
    kafka.produce(topic, 0, [order(n, BASE + n * 20_000) for n in range(12)])
    kafka.produce(topic, 1, [order(100, BASE + 1_000), order(101, BASE + 2 * MINUTE + 10_000)])
    with ConnectServer(tmp_path / "server") as server:
        client = start_client(server, tmp_path, **job, is_bounded=False)
        wait_until(lambda: results(tmp_path / "results") == {0: 4, 1: 3}, client)
        (endpoint,) = server.scratch.glob(f"blockmgr-*/{ENDPOINT_FILE}")
        assert stat.S_IMODE(endpoint.stat().st_mode) == 0o600
        server.kill()
        client.kill()  # it would try for minutes to find its session again
        client.communicate(timeout=DEADLINE_S)
        kafka.produce(topic, 1, [order(102, BASE + 10 * MINUTE)])
        kafka.produce(topic, 0, [order(103, BASE + 10 * MINUTE)])
        server.start()
        client = start_client(server, tmp_path, **job, is_bounded=True)
        output, error = client.communicate(timeout=DEADLINE_S)
        assert client.returncode == 0, error[-4_000:]
        assert json.loads(output.splitlines()[-1])["client"].startswith("pyspark.sql.connect")
    assert results(tmp_path / "results") == {0: 4, 1: 3, 2: 4, 3: 3}


def run_on_connect(paths: tuple[str, ...]) -> None:
    """Run what is marked for it there, in a process whose session is a client with a server of its own."""
    chosen = "connect and not classic and not full and not long"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", chosen, *paths],
        cwd=ROOT,
        env={**os.environ, "TIDEMARK_TEST_CONNECT": "1"},
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8_000:]
    assert " passed" in done.stdout.splitlines()[-1]


@pytest.mark.kafka
@pytest.mark.mysql
def test_a_query_of_each_connector_and_two_of_a_group_run_on_a_client():
    run_on_connect(
        ("tests/integration/spark/attach/test_spark_connectors.py", "tests/integration/sql/test_sql_connect.py")
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "paths",
    [
        ("tests/contract",),
        ("tests/integration/sql/execute",),
        ("tests/integration/spark/operators",),
        ("tests/integration/spark/scan", "tests/integration/source/test_spark_peers.py"),
    ],
    ids=["operators of Spark", "statements", "operators of ours", "time attributes and peers"],
)
def test_what_is_marked_for_it_passes_on_a_client(paths):
    run_on_connect(paths)
