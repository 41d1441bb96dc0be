"""The same steps with Spark's own Kafka source and with this one: batches of the same rows, metrics of the same values."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pyspark
import pytest

from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from tests.support.kafka.peer_job import OURS, SPARK
from tests.support.project import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

DEADLINE_S = 480
WAITS = {"minOffsetsPerTrigger": "5", "maxTriggerDelay": "3h"}
STEPS = [{}, {"0": 3}, {"1": 1}, {"0": 2}, {"0": 4}, {"1": 8}]
"""In the last one six rows are a half of what there is: where shares are no whole numbers Spark's source leaves some out."""
CASES = {
    "waits": {"options": WAITS, "steps": STEPS},
    "waits and is cut": {"options": {**WAITS, "maxOffsetsPerTrigger": "6"}, "steps": STEPS},
    "is cut": {"options": {"maxOffsetsPerTrigger": "6"}, "steps": [{"0": 8, "1": 4}]},
    "reads all": {"options": {}, "steps": [{"0": 8, "1": 4}]},
}


@pytest.fixture(scope="module")
def seen(kafka, tmp_path_factory):
    folder = tmp_path_factory.mktemp("peer")
    cases = {
        name: {**case, "topics": {source: kafka.create_topic(partitions=2) for source in (SPARK, OURS)}}
        for name, case in CASES.items()
    }
    jars = [str(jar) for jar in fetch_spark_kafka(pyspark.__version__, print).jars]
    (folder / "job.json").write_text(json.dumps({"jars": jars, "servers": kafka.bootstrap_servers, "cases": cases}))
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.kafka.peer_job", str(folder)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads((folder / "seen.json").read_text())


def rows(steps):
    return [[batch["rows"] for batch in step] for step in steps]


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_batches_have_the_rows_that_sparks_have(seen, name):
    assert rows(seen[name][OURS]) == rows(seen[name][SPARK])


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_how_far_behind_the_latest_each_batch_is_has_sparks_names_and_values(seen, name):
    assert seen[name][OURS] == seen[name][SPARK]
    assert all(len(batch) == 4 for step in seen[name][OURS] for batch in step)


@pytest.mark.full
def test_a_batch_that_was_cut_is_behind(seen):
    first, second = seen["is cut"][OURS][0]
    assert (first["minOffsetsBehindLatest"], first["maxOffsetsBehindLatest"]) == (2, 4)
    assert (first["avgOffsetsBehindLatest"], second["avgOffsetsBehindLatest"]) == (3, 0)


@pytest.mark.full
def test_batches_wait_for_five_rows(seen):
    assert rows(seen["waits"][OURS]) == [[], [], [], [6], [], [12]]
