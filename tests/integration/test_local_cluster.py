"""Executors that are processes of their own: `local-cluster[2,1,1024]`, a master, two workers, one executor each.

What it takes, found by trying:

* PySpark's own installation is enough. Executors are started by its `bin/spark-class`, found through SPARK_HOME.
  Workers put their executors' directories into SPARK_HOME/work, so the tests give a SPARK_HOME made of links to
  PySpark's entries; otherwise they would fill site-packages.
* An executor's Python runs in a directory of its own below SPARK_HOME and does not see the driver's directory or its
  `sys.path`. What it imports must be installed in the interpreter that PYSPARK_PYTHON names. So the project's wheel is
  installed in an interpreter of its own, the driver runs from another directory, and every read says which
  `datasources` it used.
* Classes of the job's own script travel by value.

The same job runs four times over one topic: in one process, on executors, with an executor killed in the middle of a
range, and with a coordinator that no task can reach. All of them must give the same windows.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from datasources.distribution import installed_version
from datasources.errors import EnvironmentProblem
from tests.support.installed import ROOT, install_project
from tests.support.kafka.kafka_orders import BASE, MINUTE, iso, order, orders
from tests.support.spark.spark_home import link_spark_home

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(480)]

LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"
JOB = ROOT / "tests" / "support" / "spark" / "cluster_job.py"
PARTITIONS = 4
BATCHES = 3
PER_BATCH = 3_000  # of one partition: three pieces of the job's reader
BEHIND = (0, 1, 2, 3)  # minutes
STEP_MS = 40
DELAY_MS = 5_000
DEADLINE_S = 400


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An interpreter with the project's wheel, and a place for runs."""

    python: Path
    directory: Path


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run left behind."""

    folder: Path
    outcome: dict[str, Any]

    @property
    def windows(self) -> dict[str, tuple[int, int]]:
        """Count and sum of ids by window; each window was emitted once."""
        found: dict[str, tuple[int, int]] = {}
        for _, start, count, ids in self.outcome["emitted"]:
            assert start not in found, "a window was emitted twice"
            found[start] = (count, ids)
        return found

    @property
    def reads(self) -> list[dict[str, Any]]:
        """Every range that a reader began."""
        logs = (self.folder / "reads").glob("*.jsonl")
        return [json.loads(line) for log in logs for line in log.read_text().splitlines()]

    @property
    def offsets(self) -> list[dict[str, Any]]:
        """What the batches were planned as: ranges, watermarks, statuses."""
        same = ("seq", "from", "rows", "lag", "wm", "combined", "stamped", "status")
        logs = sorted((self.folder / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda log: int(log.name))
        planned = [json.loads(log.read_text().splitlines()[2]) for log in logs]
        return [{key: offset[key] for key in same} for offset in planned]

    @property
    def logs(self) -> dict[str, str]:
        """What the driver and each executor printed."""
        executors = (self.folder / "spark-home").glob("work/*/*/stderr")
        found = {f"executor {log.parent.name}": log.read_text() for log in executors}
        return {"driver": (self.folder / "log").read_text(), **found}


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    directory = tmp_path_factory.mktemp("executors")
    try:
        return Installed(python=install_project(directory), directory=directory)
    except EnvironmentProblem as problem:
        if os.environ.get("TIDEMARK_TEST_REQUIRE"):
            raise
        pytest.skip(f"not run: needs the project's build tool: {problem.message}")


@pytest.fixture(scope="module")
def topic(kafka) -> tuple[Any, str]:
    name = kafka.create_topic(partitions=PARTITIONS)
    for partition in range(PARTITIONS):
        kafka.produce(name, partition, [order(*row) for row in rows_of(partition)])
    return kafka, name


def rows_of(partition: int) -> list[tuple[int, int]]:
    """(id, event time) of a partition's rows, each partition a minute further behind, some out of order."""
    first = BASE - BEHIND[partition] * MINUTE
    count = PER_BATCH * BATCHES
    return [(partition * count + n, first + n * STEP_MS - (3_000 if n % 7 == 0 else 0)) for n in range(count)]


def watermark_at_the_end() -> int:
    return min(max(ts for _, ts in rows_of(partition)) for partition in range(PARTITIONS)) - DELAY_MS


def expected_windows() -> dict[str, tuple[int, int]]:
    """Count and sum of ids of every minute that the slowest partition's watermark has passed."""
    counts: dict[int, int] = defaultdict(int)
    ids: dict[int, int] = defaultdict(int)
    for partition in range(PARTITIONS):
        for number, ts in rows_of(partition):
            counts[ts // MINUTE] += 1
            ids[ts // MINUTE] += number
    passed = [minute for minute in counts if (minute + 1) * MINUTE <= watermark_at_the_end()]
    return {iso(minute * MINUTE)[:19].replace("T", " "): (counts[minute], ids[minute]) for minute in passed}


def start_job(installed: Installed, topic: tuple[Any, str], name: str, master: str, **faults: Any) -> Run:
    """Run the job to its end, as `run_job`; it must succeed."""
    folder, status = run_job(installed, topic, name, master, **faults)
    assert status == 0, (folder / "log").read_text()[-5_000:]
    return Run(folder=folder, outcome=json.loads((folder / "outcome.json").read_text()))


def run_job(installed: Installed, topic: tuple[Any, str], name: str, master: str, **faults: Any) -> tuple[Path, int]:
    """Run the job to its end, from its own directory, with the installed package only; return folder and status."""
    folder = installed.directory / name
    (folder / "reads").mkdir(parents=True, exist_ok=True)
    shutil.copy(JOB, folder / "job.py")
    options = orders(*topic, maxOffsetsPerTrigger=str(PARTITIONS * PER_BATCH))
    settings = {"master": master, "folder": str(folder), "options": options, **faults}
    (folder / "settings.json").write_text(json.dumps(settings))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "PYSPARK_PYTHON": str(installed.python),
        "PYSPARK_DRIVER_PYTHON": str(installed.python),
        **({} if "archive" not in faults else {"PYSPARK_PYTHON": "./environment/bin/python"}),
        "SPARK_HOME": str(link_spark_home(folder / "spark-home")),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [str(installed.python), "job.py", "settings.json"]
    with (folder / "log").open("wb") as log:
        job = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            status = job.wait(DEADLINE_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)  # whatever is left of the job, its executors too
    return folder, status


@pytest.fixture(scope="module")
def local(installed, topic) -> Run:
    return start_job(installed, topic, "local", LOCAL)


@pytest.fixture(scope="module")
def cluster(installed, topic) -> Run:
    return start_job(installed, topic, "cluster", CLUSTER)


def stuck_range(name: str) -> list[Any]:
    """The last partition's range of the second batch: its task starts when its executor has already finished one."""
    return [f"{name}-{PARTITIONS - 1}", PER_BATCH]


@pytest.fixture(scope="module")
def killed(installed, topic) -> Run:
    return start_job(installed, topic, "killed", CLUSTER, stuck_at=stuck_range(topic[1]))


@pytest.fixture(scope="module")
def deaf(installed, topic) -> Run:
    return start_job(installed, topic, "deaf", CLUSTER, deafen_in=1)


@pytest.mark.full
def test_executors_run_the_installed_package_far_from_the_project(cluster, installed):
    reads = cluster.reads
    assert len({read["executor"] for read in reads}) == 2
    packages = {read["package"] for read in reads} | {cluster.outcome["driver"]}
    assert len(packages) == 1
    assert packages.pop().startswith(str(installed.directory / "venv"))
    assert {Path(read["directory"]).parents[1] for read in reads} == {cluster.folder / "spark-home" / "work"}


@pytest.mark.long
def test_windows_and_watermarks_on_executors_are_those_of_one_process(local, cluster):
    assert local.windows == expected_windows()
    assert cluster.windows == expected_windows()
    assert cluster.outcome == local.outcome | {"driver": cluster.outcome["driver"]}
    assert cluster.offsets == local.offsets
    assert cluster.outcome["watermarks"][-1] == iso(watermark_at_the_end())[:23] + "Z"


@pytest.mark.long
def test_executors_take_the_package_from_an_archive(installed, topic, local):
    """As the recipe has it: the archive is unpacked beside the job, where the driver's planners run, too."""
    folder = installed.directory / "archive"
    folder.mkdir()
    archive = shutil.make_archive(str(folder / "environment"), "gztar", installed.directory / "venv")
    shutil.unpack_archive(archive, folder / "environment", filter="fully_trusted")
    settings = {"spark.archives": f"{archive}#environment"}
    run = start_job(installed, topic, "archive", CLUSTER, settings=settings, archive=True)
    assert run.windows == expected_windows()
    assert run.offsets == local.offsets
    homes = {Path(read["package"]).relative_to(folder / "spark-home" / "work").parts[2] for read in run.reads}
    assert homes == {"environment"}


@pytest.mark.long
def test_executors_of_another_version_stop_the_query_with_the_command(installed, topic):
    """They find another version's metadata before that of the package."""
    folder, status = run_job(installed, topic, "other-version", CLUSTER, executor_version="0.0.9")
    assert status != 0
    log = (folder / "log").read_text()
    assert f"[TIDEMARK_ENVIRONMENT] the driver has tidemark-spark {installed_version()} and this worker 0.0.9" in log
    assert "pip install 'tidemark-spark==" in log


@pytest.mark.full
def test_an_executor_killed_in_the_middle_of_a_range_changes_nothing(killed, cluster, topic):
    dead = json.loads((killed.folder / "stuck.json").read_text())["executor"]
    split, start = stuck_range(topic[1])
    attempts = [read for read in killed.reads if (read["split"], read["range"][0]) == (split, start)]
    assert sorted((read["executor"] == dead, read["rows"] == PER_BATCH) for read in attempts) == [
        (False, True),
        (True, False),
    ]
    assert 0 < min(read["rows"] for read in attempts) < PER_BATCH
    assert killed.windows == expected_windows()
    assert killed.outcome["watermarks"] == cluster.outcome["watermarks"]
    assert killed.offsets == cluster.offsets


@pytest.mark.full
def test_a_range_that_was_reported_before_its_executor_died_is_read_and_reported_again(killed):
    """Its shuffle files died with it, so Spark reads it again; the second report is equal and counts for nothing."""
    dead = json.loads((killed.folder / "stuck.json").read_text())["executor"]
    complete = [read for read in killed.reads if read["rows"] == PER_BATCH]
    times = Counter((read["split"], *read["range"]) for read in complete)
    twice = {key for key, count in times.items() if count == 2}
    assert twice
    assert all(dead in {r["executor"] for r in complete if (r["split"], *r["range"]) == key} for key in twice)
    assert not any("TIDEMARK_NON_DETERMINISM" in log for log in killed.logs.values())


@pytest.mark.full
def test_without_a_coordinator_results_stay_exact_with_one_warning_each(deaf, cluster):
    assert deaf.windows == expected_windows()
    assert deaf.outcome["watermarks"][-1] == cluster.outcome["watermarks"][-1]
    warnings = {name: log.count("coordinator_unreachable") for name, log in deaf.logs.items()}
    # In the driver's source process the planner and its background presence have a connection each.
    assert warnings.pop("driver") in {1, 2}
    # An executor of one core has one Python worker; a second one if the first was idle for a minute.
    workers = {read["worker"] for read in deaf.reads if "spark-home" in read["directory"]}
    assert set(warnings) == {"executor 0", "executor 1"}
    assert min(warnings.values()) >= 1
    assert sum(warnings.values()) <= len(workers)
    assert not any("coordinator_unreachable" in log for log in cluster.logs.values())
