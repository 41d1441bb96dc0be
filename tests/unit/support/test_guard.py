"""An unmarked test starts neither Spark nor a server, whichever way it tries."""

from __future__ import annotations

import subprocess

import pytest

from datasources.embedded.process.local_server import LocalServer
from tests.support.guard import MarkerMissing


def test_an_unmarked_test_cannot_start_spark():
    with pytest.raises(MarkerMissing, match=r"this test starts spark: mark it with @pytest.mark.spark"):
        subprocess.Popen(["/any/bin/spark-submit", "--conf", "x=y", "pyspark-shell"])


def test_an_unmarked_test_cannot_start_kafka():
    with pytest.raises(MarkerMissing, match=r"this test starts kafka: mark it with @pytest.mark.kafka"):
        LocalServer("Kafka")


@pytest.mark.parametrize("name", ["MySQL", "MariaDB"])
def test_an_unmarked_test_cannot_start_mysql(name: str):
    with pytest.raises(MarkerMissing, match=r"this test starts mysql: mark it with @pytest.mark.mysql"):
        LocalServer(name)


def test_an_unmarked_test_may_start_other_programs():
    assert subprocess.run(["true"], check=True).returncode == 0
