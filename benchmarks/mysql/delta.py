"""make bench-mysql-delta: a MySQL table to Delta Lake, beside Spark's JDBC source and MERGE; under ten minutes.

    python -m benchmarks.mysql.delta [--quick] [--save]

Delta Lake needs a PySpark that it knows, which is fetched once; the sides run there, in one session, in turns. The last
line is JSON; `--save` writes results/mysql_delta.json as well, on an idle machine only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import load_before, machine_facts
from tests.support.spark.delta_spark import SPARK_VERSION, delta_spark

RESULTS: Final = Path(__file__).parents[1] / "results" / "mysql_delta.json"


def main() -> None:
    """Measure both sides."""
    is_saved = "--save" in sys.argv
    load = load_before(is_saved=is_saved)
    installed = delta_spark()
    command = [sys.executable, "-m", "benchmarks.mysql.delta_spark", json.dumps(dict(installed.settings))]
    environment = {**os.environ, **installed.environment, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([*command, *sys.argv[1:]], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode:
        raise SystemExit(done.returncode)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if is_saved:
        facts = {**found, "spark": SPARK_VERSION, "load": load, **machine_facts()}
        RESULTS.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
