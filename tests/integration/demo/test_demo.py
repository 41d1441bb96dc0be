"""The main job as a user runs it: a process, its output, its page, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from datasources.demo.story.broker import require_answer
from datasources.errors import SourceUnavailable

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.mysql, pytest.mark.long]

_DEADLINE_S = 420
_SHORT_S = 60


_MODULE = [sys.executable, "-m", "datasources.cli"]


def _environment(directory: Path, **variables: str) -> dict[str, str]:
    """Return variables that name no broker and put every temporary file below the test's directory."""
    scratch = directory / "scratch"
    scratch.mkdir(exist_ok=True)
    own = {key: value for key, value in os.environ.items() if key not in {"TIDEMARK_DEMO_KAFKA", "TIDEMARK_KAFKA"}}
    return {**own, "TMPDIR": str(scratch), **variables}


def _tidemark(directory: Path, *arguments: str, deadline_s: float = _DEADLINE_S, **variables: str):
    return subprocess.run(
        [*_MODULE, *arguments],
        cwd=directory,
        env=_environment(directory, **variables),
        capture_output=True,
        text=True,
        timeout=deadline_s,
        check=False,
    )


def _leftovers(directory: Path) -> list[str]:
    """Return temporary files; the JVM's own performance counters go away with the next JVM."""
    return [path.name for path in (directory / "scratch").iterdir() if not path.name.startswith("hsperfdata")]


def _processes_that_mention(words: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it ended while we looked
        if words in command:
            found.append(command)
    return found


@pytest.fixture(scope="module")
def finished(kafka, tmp_path_factory):
    """The demo, run once on the tests' broker."""
    directory = tmp_path_factory.mktemp("demo")
    return directory, _tidemark(directory, "demo", TIDEMARK_DEMO_KAFKA=kafka.bootstrap_servers)


@pytest.mark.timeout(_DEADLINE_S + 20)
def test_tidemark_loses_nothing_where_spark_loses_orders(finished):
    _, result = finished
    assert result.returncode == 0, result.stdout + result.stderr
    lost = re.search(r"orders lost\W+([\d,]+) of ([\d,]+)\W+([\d,]+) of ([\d,]+)", result.stdout)
    assert lost is not None, result.stdout
    spark, of_spark, tidemark, of_tidemark = (int(figure.replace(",", "")) for figure in lost.groups())
    assert spark > 0
    assert tidemark == 0
    assert of_spark == of_tidemark > 14_000
    right = re.search(r"results right\W+\d+ of \d+\W+(\d+) of (\d+)", result.stdout)
    assert right is not None
    assert right[1] == right[2]


def test_the_silent_partition_ends_idle_and_the_others_active(finished):
    _, result = finished
    states = re.findall(r"(?m)^\W*(\d)\W+(?:current|12 min behind|falls silent).*?(active|idle)\W*$", result.stdout)
    assert states == [("0", "active"), ("1", "active"), ("2", "active"), ("3", "idle")]


def test_the_copy_of_the_mysql_table_equals_the_table(finished):
    _, result = finished
    assert re.search(r"tables of MySQL [\d.]+ change all the time", result.stdout), result.stdout
    equal = re.search(r"keys equal\W+([\d,]+) of ([\d,]+): equal", result.stdout)
    assert equal is not None, result.stdout
    assert equal[1] == equal[2]
    snapshot = re.search(r"rows read from the table\W+([\d,]+) in (\d+) batches", result.stdout)
    assert snapshot is not None
    assert int(snapshot[1].replace(",", "")) > 15_000
    assert int(snapshot[2]) > 2
    changes = re.search(r"images of changes followed\W+([\d,]+), ([\d,]+) of them", result.stdout)
    assert changes is not None
    assert int(changes[1].replace(",", "")) > int(changes[2].replace(",", "")) > 0


def test_each_order_meets_its_customer_in_a_table_that_was_read_before(finished):
    _, result = finished
    unmatched = re.search(r"orders without their customer\W+([\d,]+) of ([\d,]+)", result.stdout)
    assert unmatched is not None, result.stdout
    assert unmatched[1] == "0"
    assert int(unmatched[2].replace(",", "")) > 14_000
    read = re.search(r"customers read before the first order\W+([\d,]+) in (\d+) batches", result.stdout)
    assert read is not None
    assert int(read[1].replace(",", "")) >= 20_000
    assert int(read[2]) > 1


def test_the_terminal_is_free_of_the_noise_of_others(finished):
    _, result = finished
    assert result.stderr == ""
    assert not re.search(r"WARN|ERROR|log4j|Warning|rdkafka|%\d\|", result.stdout)
    assert "\x1b" not in result.stdout


def test_the_page_is_written_where_the_demo_was_started(finished):
    directory, _ = finished
    page = (directory / "tidemark-demo.html").read_text(encoding="utf-8")
    assert page.count('class="chart"') == 4
    assert "partition 3, idle" in page
    assert "The same orders, joined with a MySQL table" in page
    assert "A MySQL table, copied while it changes" in page


def test_nothing_is_left_behind(finished, kafka):
    directory, _ = finished
    assert sorted(path.name for path in directory.iterdir()) == ["scratch", "tidemark-demo.html"]
    assert _leftovers(directory) == []
    assert _processes_that_mention(str(directory)) == []
    with kafka._admin() as admin:
        assert not [name for name in admin.list_topics(timeout=10).topics if name.startswith("tidemark-demo-")]


def test_a_broker_that_does_not_answer_is_one_paragraph(tmp_path):
    result = _tidemark(tmp_path, "demo", deadline_s=_SHORT_S, TIDEMARK_DEMO_KAFKA="127.0.0.1:1")
    assert result.returncode == 2
    assert "[TIDEMARK_SOURCE_UNAVAILABLE]" in result.stderr
    assert "127.0.0.1:1" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert _leftovers(tmp_path) == []


@pytest.mark.full
@pytest.mark.timeout(180)
def test_a_terminated_demo_stops_its_kafka_and_spark_and_removes_its_files(tmp_path):
    with subprocess.Popen(
        [*_MODULE, "demo"], cwd=tmp_path, env=_environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "orders written" in line:
                break
        assert _processes_that_mention(str(tmp_path))
        process.terminate()
        process.stdout.read()
        assert process.wait(_SHORT_S) == 128 + signal.SIGTERM
    assert _processes_that_mention(str(tmp_path)) == []
    assert _leftovers(tmp_path) == []


def test_the_doctor_runs_a_task_and_finds_our_packages_there(tmp_path):
    result = _tidemark(tmp_path, "doctor", "--spark", deadline_s=120, PYSPARK_PYTHON=sys.executable)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "import watermark in the task" in result.stdout
    assert "Nothing is missing." in result.stdout


def test_the_doctor_knows_a_broker_that_answers_from_one_that_does_not(kafka):
    require_answer(kafka.bootstrap_servers)
    with pytest.raises(SourceUnavailable, match="did not answer"):
        require_answer("127.0.0.1:1")
