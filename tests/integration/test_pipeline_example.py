"""The example of a declarative pipeline: a flow in Python and one in SQL, run by PySpark's own command."""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.installed import ROOT
from tests.support.spark.connect_server import ConnectServer

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(500)]

BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
MINUTES = 10
OF_A_MINUTE = 6
SETTING = '  spark.sql.exchange.reuse: "false"'


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A copy of the example, with its storage here."""
    directory = tmp_path / "pipeline"
    shutil.copytree(ROOT / "examples" / "pipeline", directory)
    rewrite(directory, "/tmp/tidemark-pipeline", str(tmp_path / "storage"))  # noqa: S108 - what it names
    return directory


def rewrite(directory: Path, before: str, after: str) -> None:
    specification = directory / "spark-pipeline.yml"
    text = specification.read_text(encoding="utf-8")
    assert before in text
    specification.write_text(text.replace(before, after), encoding="utf-8")


def run(pipeline: Path, server: ConnectServer, **variables: str) -> str:
    """Run it; return what the command printed. Its exit code is an error of PySpark's: see docs/operate/connect.md."""
    pyspark = importlib.util.find_spec("pyspark")
    assert pyspark is not None
    command = Path(str(pyspark.origin)).parent / "pipelines" / "cli.py"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    done = subprocess.run(
        [sys.executable, str(command), "run"],
        cwd=pipeline,
        env={**environment, "SPARK_REMOTE": server.remote, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout + done.stderr


def order(number: int) -> bytes:
    time = (BEGIN + dt.timedelta(seconds=10 * number)).isoformat()
    return json.dumps({"user": number % 3, "price": 1.5, "ts": time}).encode()


def rows(table: Path) -> list[dict[str, object]]:
    """The table's rows; Spark writes times without their zone, UTC."""
    tables = (pq.read_table(file, coerce_int96_timestamp_unit="us") for file in table.glob("*.parquet"))
    found = [row for each in tables for row in each.to_pylist()]
    return [{**row, "start": row["start"].replace(tzinfo=dt.UTC)} for row in found]


def test_the_example_counts_each_minute_that_the_watermark_has_passed(kafka, pipeline, tmp_path):
    topic = kafka.create_topic(partitions=2)
    for partition in (0, 1):
        numbers = range(partition, MINUTES * OF_A_MINUTE, 2)
        kafka.produce(topic, partition, [order(number) for number in numbers])
    with ConnectServer(tmp_path / "server") as server:
        printed = run(pipeline, server, BROKERS=kafka.bootstrap_servers, TOPIC=topic)
    assert "Run is COMPLETED" in printed, printed[-4_000:]
    warehouse = tmp_path / "server" / "warehouse"
    closed = [BEGIN + dt.timedelta(minutes=minute) for minute in range(MINUTES - 1)]
    counts = {row["start"]: row["count"] for row in rows(warehouse / "per_minute")}
    assert counts == dict.fromkeys(closed, OF_A_MINUTE)
    totals = Counter({(row["start"], row["user"]): row["total"] for row in rows(warehouse / "per_user")})
    assert totals == {(start, user): 3.0 for start in closed for user in range(3)}


def test_without_the_setting_it_is_refused_with_the_line_to_add(kafka, pipeline, tmp_path):
    rewrite(pipeline, SETTING, "  spark.sql.shuffle.partitions: '2'")
    with ConnectServer(tmp_path / "server") as server:
        printed = run(pipeline, server, BROKERS=kafka.bootstrap_servers, TOPIC=kafka.create_topic())
    assert "COMPLETED" not in printed
    assert "configuration: {spark.sql.exchange.reuse: 'false'}" in printed, printed[-4_000:]
