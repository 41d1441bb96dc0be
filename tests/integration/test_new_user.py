"""A new user's first lines, outside the project, in each way in which people run Spark, with each Python.

`TIDEMARK_TEST_PYTHONS` names the interpreters, separated by colons; without it the running one is taken. The wheel and
what it needs are installed from the index, as the README says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.documented_code import Hosts, blocks_of
from tests.support.project import ROOT
from watermark import SystemClock

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.kafka,
    pytest.mark.spark,
    pytest.mark.timeout(1_200),
]

SESSION: Final = "from pyspark.sql import SparkSession, functions as F\nspark = SparkSession.builder.getOrCreate()\n"
PAGE: Final = (
    "builder.config('spark.tidemark.ui.port', '0').config('spark.tidemark.ui.frames', 'http://localhost:8888')."
)
SHOW: Final = """from datasources import show_stream
query = show_stream(counts, rows=5, trigger="available-now")
query.awaitTermination()
import time; time.sleep(3)
"""
ENDS: Final = """
query = counts.writeStream.format("memory").queryName("counts").trigger(availableNow=True).start()
query.awaitTermination()
print("counted", sorted((row["item"], row["count"]) for row in spark.table("counts").collect()), "on", spark.version)
"""
PYTHONS: Final = os.environ.get("TIDEMARK_TEST_PYTHONS", sys.executable).split(":")
RECORDS: Final = 600
"""Seconds of orders, half of them of tea; the windows of the last minutes stay open."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment of a user.

    Attributes:
        directory: empty but for it.
        brokers: of the topic.
        topic: of orders.
    """

    directory: Path
    brokers: str
    topic: str

    def program(self, name: str) -> str:
        """Return the path of an installed program."""
        return str(self.directory / "venv" / "bin" / name)

    @property
    def lines(self) -> str:
        """The README's lines of Python."""
        (block,) = [each.text for each in blocks_of("README.md") if each.language == "python"]
        return Hosts(brokers=self.brokers).put_into(block).replace('"orders"', f'"{self.topic}"')

    def run(self, *command: str, stdin: str = "", **variables: str) -> str:
        """Run a program there; return what it printed."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK", "PYSPARK", "PYTHON"))}
        path = f"{self.directory / 'venv' / 'bin'}:{clean['PATH']}"
        done = subprocess.run(
            command,
            cwd=self.directory,
            env={**clean, "PATH": path, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module", params=PYTHONS, ids=lambda path: Path(path).parent.parent.name)
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, kafka: Any, topic: str
) -> Environment:
    directory = tmp_path_factory.mktemp("user")
    made = Environment(directory, kafka.bootstrap_servers, topic)
    clock = SystemClock()
    began_ns = clock.monotonic_ns()
    made.run(request.param, "-m", "venv", str(directory / "venv"))
    built = directory / "built"
    made.run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(built), str(ROOT))
    (wheel,) = built.glob("*.whl")
    made.run(made.program("pip"), "install", "--quiet", f"{wheel}[spark,observe]")
    print(f"{request.param}: installed in {(clock.monotonic_ns() - began_ns) / 1e9:.0f} s")
    made.run(made.program("pip"), "install", "--quiet", "pyspark[connect]", "nbclient", "ipykernel")
    return made


@pytest.fixture(scope="module")
def topic(kafka: Any) -> str:
    topic = kafka.create_topic(prefix="orders")
    at = ("2026-03-01 09:%02d:%02d" % divmod(second, 60) for second in range(RECORDS))
    records = [{"item": ("tea", "milk")[n % 2], "price": 1.5, "ts": ts} for n, ts in enumerate(at)]
    kafka.produce(topic, 0, [(None, json.dumps(each).encode(), 1_772_355_600_000) for each in records])
    return topic


def counted(output: str) -> None:
    (line,) = [each for each in output.splitlines() if "counted [" in each]
    assert line.count("('tea', 30)") == line.count("('milk', 30)") >= 8, output


def test_a_script(environment):
    (environment.directory / "orders.py").write_text(SESSION + environment.lines + ENDS, encoding="utf-8")
    counted(environment.run(environment.program("python"), "orders.py"))


def test_spark_submit(environment):
    (environment.directory / "submitted.py").write_text(SESSION + environment.lines + ENDS, encoding="utf-8")
    counted(environment.run(environment.program("spark-submit"), "--master", "local[2]", "submitted.py"))


def test_the_shell_of_pyspark(environment):
    lines = "from pyspark.sql import functions as F\n" + environment.lines + ENDS
    asks = {"PYSPARK_DRIVER_PYTHON_OPTS": "-i"}  # as if somebody sat there: then the shell makes the session
    counted(environment.run(environment.program("pyspark"), "--master", "local[2]", stdin=lines, **asks))


def test_spark_connect(environment):
    session = SESSION.replace("builder.", 'builder.remote("local[2]").')
    (environment.directory / "client.py").write_text(session + environment.lines + ENDS, encoding="utf-8")
    counted(environment.run(environment.program("python"), "client.py"))


def test_a_notebook_shows_the_newest_rows_and_the_page(environment):
    cells = [
        SESSION.replace("builder.", PAGE) + environment.lines + ENDS,
        SHOW,
        "from datasources.sql import TableEnvironment\nTableEnvironment(spark).execute('SHOW TABLES')",
    ]
    runner = textwrap.dedent(f"""
        import json, nbformat, nbclient
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in {cells!r}])
        nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
        print("outputs", json.dumps([cell.outputs for cell in notebook.cells]))
    """)
    (environment.directory / "runner.py").write_text(runner, encoding="utf-8")
    output = environment.run(environment.program("python"), "runner.py")
    (line,) = [each for each in output.splitlines() if each.startswith("outputs ")]
    first, shown, tables = json.loads(line.removeprefix("outputs "))
    counted("".join(each.get("text", "") for each in first))
    htmls = ["".join(each["data"]["text/html"]) for each in shown if "data" in each]
    assert "ended · " in htmls[0]
    assert "the newest first · watermark 2026-03-01T09:09:5" in htmls[0]
    assert htmls[0].count("<tr>") == 1 + 5
    assert '<iframe src="http://127.0.0.1:' in htmls[1]
    assert any("<table>" in "".join(each["data"].get("text/html", "")) for each in tables if "data" in each)
