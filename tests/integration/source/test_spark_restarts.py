"""What a checkpoint promises: no row lost or doubled, nothing goes back, nothing is held for ever."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import register
from tests.support.project import ROOT
from tests.support.spark.killed_query import STUCK, loaded_with_row_watermarks, read_batches, write_batches
from tests.support.spark.scripted_stream import Running, Scripts, first_line, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]


class Windows:
    """Counts per 10 s, as a sink collects them over several runs of one checkpoint."""

    def __init__(self, checkpoint: Path) -> None:
        self.found: list[tuple[Any, ...]] = []
        self._checkpoint = checkpoint

    def of(self, df: Any, **how: Any) -> Any:
        counts = df.groupBy(F.window("ts", "10 seconds")).count().selectExpr("unix_timestamp(window.start)", "count")
        return running(counts, checkpoint=self._checkpoint, for_each=self._collect, **how)

    def available_now(self, df: Any) -> Running:
        with self.of(df, trigger={"availableNow": True}) as query:
            assert query.query.awaitTermination(60)
            assert query.query.exception() is None
            query.progress  # noqa: B018 - kept while the query lives
            return query

    def _collect(self, df: Any, _: int) -> None:
        self.found.extend(tuple(row) for row in df.collect())


@pytest.mark.long
def test_runs_until_all_is_read_lose_no_row_and_end_with_every_window_that_is_over(spark, tmp_path):
    """Each run ends at the combined watermark, never at the end of time: open windows wait for the next run.

    s-1 is the slow one and always decides: 14 after the first run, 44 after the third. The second run has nothing.
    """
    scripts = Scripts(tmp_path / "scripts")
    windows = Windows(tmp_path / "checkpoint")
    scripts.append("s-0", (1, "a", ""), (12, "a", ""), (65, "a", ""))
    scripts.append("s-1", (2, "b", ""), (15, "b", ""))
    first = windows.available_now(scripts.stream(spark))
    assert windows.found == [(0, 2)]
    assert first.watermarks[-1] == 14
    windows.available_now(scripts.stream(spark))
    assert windows.found == [(0, 2)]
    scripts.append("s-0", (66, "a", ""))
    scripts.append("s-1", (16, "b", ""), (45, "b", ""))
    third = windows.available_now(scripts.stream(spark))
    assert sorted(windows.found) == [(0, 2), (10, 3)]
    assert third.watermarks[-1] == 44
    scripts.append("s-1", (67, "b", ""), (80, "b", ""))
    windows.available_now(scripts.stream(spark))
    assert sorted(windows.found) == [(0, 2), (10, 3), (40, 1)]


def test_a_source_that_is_silent_after_a_restart_does_not_pin_the_query(spark, tmp_path):
    """Spark forgets what each source had reached: a source has to say it again although it has no row."""
    busy, silent = Scripts(tmp_path / "busy"), Scripts(tmp_path / "silent")
    windows = Windows(tmp_path / "checkpoint")
    busy.append("s-0", (1, "a", ""), (12, "a", ""))
    silent.append("s-0", (1001, "b", ""))
    with windows.of(busy.stream(spark).union(silent.stream(spark))) as query:
        query.drain()
        assert query.watermarks[-1] == 11
    assert windows.found == [(0, 1)]
    busy.append("s-0", (61, "a", ""))
    with windows.of(busy.stream(spark).union(silent.stream(spark))) as query:
        query.drain()
        assert query.watermarks[-1] == 60
    assert windows.found == [(0, 1), (10, 1)]


@pytest.mark.long
def test_a_source_that_never_had_a_row_holds_the_query_and_lets_go_with_its_first_after_a_restart_too(spark, tmp_path):
    busy, empty = Scripts(tmp_path / "busy"), Scripts(tmp_path / "empty")
    windows = Windows(tmp_path / "checkpoint")
    busy.append("s-0", (1, "a", ""), (12, "a", ""))
    empty.append("s-0")
    with windows.of(busy.stream(spark).union(empty.stream(spark))) as query:
        query.drain()
        assert query.watermarks == [0]
    busy.append("s-0", (61, "a", ""))
    with windows.of(busy.stream(spark).union(empty.stream(spark))) as query:
        query.drain()
        assert query.watermarks == [0]
        empty.append("s-0", (3, "b", ""), (71, "b", ""))
        query.drain()
        assert query.watermarks[-1] == 60
    assert sorted(windows.found) == [(0, 2), (10, 1)]


def failure_of(query: Running) -> Exception:
    with pytest.raises(Exception, match="TIDEMARK_OFFSET") as caught:
        query.drain()
    return caught.value


def test_a_changed_strategy_is_an_error_that_names_both_unless_it_is_allowed(spark, tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    windows = Windows(tmp_path / "checkpoint")
    scripts.append("s-0", (1, "a", ""), (21, "a", ""))
    with windows.of(scripts.stream(spark)) as query:
        query.drain()
    assert windows.found == [(0, 1)]
    scripts.append("s-0", (27, "a", ""), (45, "a", ""))
    changed = {"watermark.as": "ts - INTERVAL '9' SECOND"}
    with windows.of(scripts.stream(spark, changed)) as query:
        error = failure_of(query)
    line = first_line(error)
    for phrase in ("the strategy of this query changed", "'1' SECOND", "'9' SECOND", "watermark.on-change"):
        assert phrase in line
    assert "Traceback" not in str(error).split("[TIDEMARK_OFFSET]", 1)[0]
    with windows.of(scripts.stream(spark, {**changed, "watermark.on-change": "continue"})) as query:
        query.drain()
        assert query.watermarks[0] == 20, "the split keeps its watermark"
        assert query.watermarks[-1] == 36
    assert sorted(windows.found) == [(0, 1), (20, 2)]


def test_a_changed_schema_is_an_error_that_names_both(spark, tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    scripts.append("s-0", (1, "a", ""))
    collect = lambda df, _: df.count()  # noqa: E731
    with running(scripts.stream(spark), checkpoint=tmp_path / "checkpoint", for_each=collect) as query:
        query.drain()
    scripts.append("s-0", (2, "a", ""))
    other = scripts.stream(spark, {"schema": "ts TIMESTAMP, k STRING"})
    with running(other, checkpoint=tmp_path / "checkpoint", for_each=collect) as query:
        error = failure_of(query)
    for phrase in (
        "the schema of this query changed",
        "ts TIMESTAMP, k STRING, v STRING] and is [ts TIMESTAMP, k STRING]",
    ):
        assert phrase in first_line(error)


def kill_in_batch(number: int, scripts: Scripts, checkpoint: Path, out: Path) -> None:
    """Run the query in a process of its own and kill it, its JVM and its workers in the middle of a batch."""
    arguments = [str(scripts.directory), str(checkpoint), str(out), str(number)]
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.support.spark.killed_query", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        pause = threading.Event()
        for _ in range(2_400):
            if (out / STUCK).exists():
                break
            assert child.poll() is None, "the query ended before it was killed"
            pause.wait(0.1)
        assert (out / STUCK).exists()
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run_to_the_end(spark: Any, scripts: Scripts, checkpoint: Path, out: Path) -> dict[int, Any]:
    out.mkdir(exist_ok=True)
    try:
        df = loaded_with_row_watermarks(spark, scripts)
        with running(df, checkpoint=checkpoint, for_each=write_batches(out)) as query:
            query.drain()
    finally:
        register(spark)
    return read_batches(out)


@pytest.mark.long
@pytest.mark.slow
def test_a_run_killed_in_mid_batch_equals_an_undisturbed_one(spark, tmp_path):
    scripts = Scripts(tmp_path / "scripts")
    for split, first in (("s-0", 10), ("s-1", 13)):
        scripts.append(split, *((first + 7 * n + (-9 if n % 3 == 2 else 0), split, f"{n}") for n in range(8)))
    undisturbed = run_to_the_end(spark, scripts, tmp_path / "calm", tmp_path / "calm_out")
    assert len(undisturbed) == 4
    out = tmp_path / "out"
    out.mkdir()
    kill_in_batch(2, scripts, tmp_path / "checkpoint", out)
    assert len(read_batches(out)) == 2
    assert not (tmp_path / "checkpoint" / "commits" / "2").exists()
    assert (tmp_path / "checkpoint" / "offsets" / "2").exists()
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "copy")  # what the crash left, in case a run changes it
    assert run_to_the_end(spark, scripts, tmp_path / "checkpoint", out) == undisturbed
