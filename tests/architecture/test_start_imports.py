"""What the process of a source imports before it does anything: each library there is paid for by every query."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pandas", "duckdb", "IPython", "matplotlib", "pyspark.pandas", "pyspark.sql.connect")


@pytest.mark.parametrize("connector", ["scripted", "kafka", "mysql"])
def test_a_sources_process_starts_without_what_only_tasks_need(connector):
    program = f"import sys, datasources.{connector}.data_source; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert f"datasources.{connector}.source" in loaded
    assert not set(HEAVY) & set(loaded)
