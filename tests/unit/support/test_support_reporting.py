"""What a machine lacks is said in the summary, is a failure where everything is required, and never passes in silence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import ROOT

TESTS = """
import pytest

def test_unmarked(kafka): pass

@pytest.mark.kafka
def test_own(own_kafka): pass

@pytest.mark.kafka
def test_own_again(own_kafka): pass

@pytest.mark.kafka
def test_shared(kafka): pass

@pytest.mark.spark
def test_spark(spark): pass

def test_plain(): pass
"""


def run_without_java(folder: Path, *, tests: str, **variables: str) -> tuple[int, str]:
    (folder / "test_probe.py").write_text(tests)
    environment = {**os.environ, "JAVA_HOME": str(folder / "no-java"), "DOCKER_HOST": "tcp://127.0.0.1:1", **variables}
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    options = [
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-q",
        str(folder / "test_probe.py"),
    ]
    done = subprocess.run([*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture(autouse=True)
def no_servers_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TIDEMARK_TEST_KAFKA", raising=False)
    monkeypatch.delenv("TIDEMARK_TEST_REQUIRE", raising=False)
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "cache"))


def test_what_is_missing_is_named_and_counted_and_the_rest_runs(tmp_path: Path):
    code, output = run_without_java(tmp_path, tests=TESTS)
    assert code == 1
    assert "1 passed, 4 skipped, 1 error" in output
    assert "fixture 'kafka' is for tests marked with @pytest.mark.kafka" in output
    assert "servers: none were started" in output
    missing = [line for line in output.splitlines() if line.startswith("not run: needs")]
    assert [line.split(": JAVA_HOME")[0] for line in missing] == [
        "not run: needs Spark",
        "not run: needs a Kafka broker",
        "not run: needs an embedded broker",
    ]
    assert missing[-1].endswith("(2 tests)")
    assert "correct or unset JAVA_HOME" in missing[0]


def test_where_everything_is_required_a_missing_server_is_a_failure(tmp_path: Path):
    code, output = run_without_java(tmp_path, tests=TESTS, TIDEMARK_TEST_REQUIRE="1")
    assert code == 1
    assert "skipped" not in output
    assert "not run: needs an embedded broker: JAVA_HOME is" in output
