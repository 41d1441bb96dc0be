"""Sources beside each other: idle ones follow their query, groups are aligned, clocks take over."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.spark.scripted_stream import Running, Scripts, first_line, instant, running
from watermark import SystemClock

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("tiny_queries")]

IDLE = {"scan.watermark.idle-timeout": "1 s"}


def windows(df: Any) -> Any:
    return df.groupBy(F.window("ts", "10 seconds")).count().selectExpr("unix_timestamp(window.start)", "count")


def table(progress: Any, index: int = 0) -> dict[str, Any]:
    return dict(json.loads(progress.sources[index].latestOffset))


def overshoot_ms(query: Running) -> list[int]:
    """Per batch: how far the fastest split is beyond the slowest next record plus the drift."""
    found = []
    for progress in query.progress:
        found_table = table(progress)
        marks = [s["watermark"] for s in found_table["splits"] if s["watermark"] is not None]
        if found_table["max_allowed"] is not None and marks:
            found.append(max(0, max(marks) - found_table["max_allowed"]))
    return found


# -- idle sources follow their query --


@pytest.mark.long
def test_a_never_filled_source_does_not_hold_a_union_and_after_a_restart_neither(spark, tmp_path):
    busy, empty = Scripts(tmp_path / "busy"), Scripts(tmp_path / "empty")
    busy.append("s-0", (1, "a", ""), (12, "a", ""))
    empty.append("s-0")
    for second in (61, 71):
        busy.append("s-0", (second, "a", ""))
        union = windows(busy.stream(spark).union(empty.stream(spark, IDLE)))
        with running(union, checkpoint=tmp_path / "checkpoint", for_each=lambda df, _: df.collect()) as query:
            query.wait_for(lambda running_, to=second - 1: running_.watermarks[-1:] == [to])


def test_an_idle_source_does_not_hold_a_join_and_holds_again_with_its_first_row(spark, tmp_path):
    left, right = Scripts(tmp_path / "left"), Scripts(tmp_path / "right")
    left.append("s-0", (1, "a", "l1"))
    right.append("s-0", (2, "a", "r1"))
    one = left.stream(spark).select(F.col("ts").alias("lts"), F.col("k").alias("lk"), F.col("v").alias("lv"))
    other = right.stream(spark, IDLE).select(F.col("ts").alias("rts"), F.col("k").alias("rk"), F.col("v").alias("rv"))
    near = F.expr("lk = rk AND rts BETWEEN lts - INTERVAL 5 SECONDS AND lts + INTERVAL 5 SECONDS")
    with running(one.join(other, near, "leftOuter").select("lts", "lv", "rv")) as query:
        query.drain()
        left.append("s-0", (50, "a", "l2"))
        left.append("s-0", (80, "a", "l3"))
        query.wait_for(lambda running_: (50, "l2", None) in running_.rows())
        right.append("s-0", (82, "a", "r2"))  # active again at once: it joins, and no row of it is lost
        query.drain()
        assert (80, "l3", "r2") in query.rows()


def test_an_empty_source_with_no_split_at_all_is_idle_at_once(spark, tmp_path):
    busy, nothing = Scripts(tmp_path / "busy"), Scripts(tmp_path / "nothing")
    busy.append("s-0", (1, "a", ""), (62, "a", ""))
    with running(windows(busy.stream(spark).union(nothing.stream(spark)))) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [61])


def test_where_all_sources_are_idle_the_newest_one_decides(spark, tmp_path):
    one, other = Scripts(tmp_path / "one"), Scripts(tmp_path / "other")
    one.append("s-0", (1, "a", ""), (12, "a", ""))
    other.append("s-0", (3, "b", ""), (45, "b", ""))
    with running(windows(one.stream(spark, IDLE).union(other.stream(spark, IDLE)))) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [44])
        query.wait_for(lambda running_: (10, 1) in running_.rows())


# -- alignment --


ALIGNED = {"scan.watermark.alignment.group": "g", "scan.watermark.alignment.max-drift": "10 s"}


def test_the_splits_of_a_source_move_together_and_no_row_is_lost(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", *((1_000 + n * 10, "a", "") for n in range(100)))
    scripts.append("s-1", *((n * 10, "b", "") for n in range(200)))
    stream = scripts.stream(spark, {**ALIGNED, "scan.max-rows-per-batch": "40"})
    with running(stream.groupBy("k").count(), "complete") as query:
        query.wait_for(lambda running_: sorted(running_.rows()) == [("a", 100), ("b", 200)])
        overshoots = overshoot_ms(query)
        assert len(overshoots) > 5
        assert set(overshoots) == {0}
        statuses = {s["status"] for p in query.progress for s in table(p)["splits"]}
        assert "paused" in statuses


@pytest.mark.long
def test_two_sources_of_a_query_move_together_in_far_fewer_batches_than_drifts(spark, tmp_path):
    """The fast one waits; both reach the farthest common event time together, not drift by drift (there are 200)."""
    fast, slow = Scripts(tmp_path / "fast"), Scripts(tmp_path / "slow")
    fast.append("s-0", *((1_000 + n * 10, "a", "") for n in range(100)))
    slow.append("s-0", *((n * 10, "b", "") for n in range(201)))
    union = fast.stream(spark, ALIGNED).union(slow.stream(spark, ALIGNED))
    with running(union.groupBy("k").count(), "complete") as query:
        query.wait_for(lambda running_: sorted(running_.rows()) == [("a", 100), ("b", 201)])
        assert len(query.progress) < 15


def test_two_queries_of_one_group_wait_for_each_other(spark, tmp_path):
    fast, slow = Scripts(tmp_path / "fast"), Scripts(tmp_path / "slow")
    slow.append("s-0", *((n * 10, "b", "") for n in range(10)))
    with running(slow.stream(spark, ALIGNED)) as first:
        first.drain()
        fast.append("s-0", *((n * 10, "a", "") for n in range(30)))
        with running(fast.stream(spark, ALIGNED)) as second:
            second.drain()
            second.drain()
            assert max(row[0] for row in second.rows()) == 100  # its candidate is 99 s: 89 s and 10 s of drift
            slow.append("s-0", (205, "b", ""))
            second.wait_for(lambda running_: max(row[0] for row in running_.rows()) == 210)
            first.query.stop()
            second.wait_for(lambda running_: max(row[0] for row in running_.rows()) == 290)


def test_a_group_of_timestamps_with_and_without_zone_is_refused(spark, tmp_path):
    one, other = Scripts(tmp_path / "one"), Scripts(tmp_path / "other", schema="ts TIMESTAMP_NTZ, k STRING, v STRING")
    one.append("s-0", (1, "a", ""))
    with running(one.stream(spark, ALIGNED)) as query:
        query.drain()
        with running(other.stream(spark, ALIGNED)) as refused, pytest.raises(Exception, match="TIDEMARK") as caught:
            refused.drain()
        assert "alignment group 'g'" in first_line(caught.value)
        assert "TIMESTAMP_NTZ" in first_line(caught.value)


# -- clocks --


def test_an_idle_source_can_go_on_at_the_pace_of_the_clock(spark, tmp_path):
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", ""), (12, "a", ""))
    stream = scripts.stream(spark, {**IDLE, "watermark.all-idle": "processing-time"})
    with running(windows(stream)) as query:
        query.wait_for(lambda running_: (10, 1) in running_.rows())
        query.wait_for(lambda running_: running_.watermarks[-1] >= 20)
        assert query.watermarks[-1] < 3_600  # at the pace of the clock, not to the clock


def test_in_processing_time_windows_close_by_the_clock_and_the_backlog_is_read_in_event_time(spark, tmp_path):
    """The backlog ends at 12 s after the epoch; then the clock is the watermark, and a window closes without data."""
    scripts = Scripts(tmp_path)
    scripts.append("s-0", (1, "a", ""), (12, "a", ""))
    stream = scripts.stream(spark, {"watermark.processing-time": "after-backlog"})
    with running(windows(stream)) as query:
        query.wait_for(lambda running_: sorted(running_.rows()) == [(0, 1), (10, 1)])
        assert 11 in query.watermarks
        assert query.source()["status"] == "processing-time"
        now = SystemClock().now_us() / 1_000_000
        scripts.append("s-0", {"ts": instant(now), "k": "b", "v": ""})
        query.wait_for(lambda running_: len(running_.rows()) == 3)
        start, count = max(query.rows())
        assert start == now // 10 * 10
        assert count == 1
