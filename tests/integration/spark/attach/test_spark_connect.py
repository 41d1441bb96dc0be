"""A client of Spark Connect, with a server of its own: no listener of ours, no classic session."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.installed import ROOT
from tests.support.spark.scripted_stream import Scripts, first_line
from tests.support.spark.spark_home import link_spark_home

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

JOB = "tests.support.spark.connect_job"


@pytest.mark.long
def test_a_stream_that_was_never_attached_and_a_secret_that_spark_would_show_are_refused(tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s-0", (1, "a", "a1"), (12, "b", "b12"))
    given = tmp_path / "options.json"
    given.write_text(json.dumps(scripts.options()))
    home = link_spark_home(tmp_path / "spark-home")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", JOB, str(given)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["client"].startswith("pyspark.sql.connect")
    assert found["columns"] == ["ts", "k", "v", "_watermark", "_heartbeat"]
    line = first_line(Exception(found["error"]))
    assert "[TIDEMARK_QUERY]" in line
    assert "was not attached" in line
    assert found["rows"] == 0
    for refusal in found["refused"]:
        assert "option 'kafka.ssl.key.pem' is a secret that Spark would show" in refusal
        assert "s3cr3t-value" not in refusal
