"""Joins of two streams by a bound on their times: Flink's replays, and both times as time attributes of the result."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.forms import full
from tests.support.spark.scripted_stream import Running, Scripts, running

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

BY_MARKS = {"watermark.as": "CASE WHEN k LIKE 'wm%' THEN ts END", "watermark.dedup-horizon": "0 s"}
SLACK_S = 3
ROWS = 90


class Sides:
    """A left and a right stream, whose watermarks are what `watermark` says."""

    def __init__(self, spark: Any, directory: Path, bounds: tuple[int, int], how: str) -> None:
        self._left, self._right = Scripts(directory / "left"), Scripts(directory / "right")
        frames = []
        for name, scripts in (("l", self._left), ("r", self._right)):
            scripts.append("s-0")
            columns = [F.col("ts").alias(f"{name}_ts"), F.col("k").alias(f"{name}_k")]
            frames.append(scripts.stream(spark, BY_MARKS).select(*columns))
        low, high = (f"r_ts + INTERVAL {bound} SECONDS" for bound in bounds)
        near = F.expr(f"l_k = r_k AND l_ts BETWEEN {low} AND {high}")
        joined = frames[0].join(frames[1], near, how).where("coalesce(l_k, r_k) NOT LIKE 'wm%'")
        self.df = joined.selectExpr("unix_timestamp(l_ts)", "unix_timestamp(r_ts)")

    def watermark(self, second: int) -> None:
        """A row on each side that meets nothing and carries the watermark."""
        self._left.append("s-0", (second, "wm left", ""))
        self._right.append("s-0", (second, "wm right", ""))

    def rows(self, key: str, left: tuple[int, ...] = (), right: tuple[int, ...] = ()) -> None:
        """Rows on both sides."""
        self._left.append("s-0", *((second, key, "") for second in left))
        self._right.append("s-0", *((second, key, "") for second in right))


def late_rows(query: Running) -> int:
    """How many rows Spark dropped before it joined them."""
    return sum(o.numRowsDroppedByWatermark for progress in query.progress for o in progress.stateOperators)


@pytest.mark.long
def test_replay_26_an_inner_join_keeps_rows_as_long_as_they_can_be_met(spark, tmp_path):
    sides = Sides(spark, tmp_path, (-10, 20), "inner")
    with running(sides.df) as query:
        sides.watermark(1)
        query.drain()
        sides.rows("k1", left=(1, 2, 5), right=(2, 15))
        query.drain()
        sides.watermark(20)
        query.drain()
        sides.rows("k1", left=(35,))
        query.drain()
        sides.watermark(38)
        query.drain()
        sides.rows("k2", left=(40,), right=(39,))
        sides.watermark(61)
        query.drain()
        # Flink meets (1, 2) as well: a late row is joined with what is still there. Spark drops it, and counts it.
        assert sorted(query.rows()) == [(2, 2), (5, 2), (5, 15), (35, 15), (40, 39)]
        assert late_rows(query) == 1


@pytest.mark.long
def test_replay_26_a_join_whose_bound_lies_behind_the_other_side(spark, tmp_path):
    sides = Sides(spark, tmp_path, (-10, -7), "inner")
    with running(sides.df) as query:
        sides.watermark(1)
        query.drain()
        sides.rows("k1", right=(2,))
        sides.watermark(2)
        query.drain()
        sides.rows("k1", left=(3,), right=(3, 13))
        query.drain()
        sides.rows("k1", left=(6,))
        query.drain()
        sides.watermark(10)
        query.drain()
        sides.watermark(18)
        query.drain()
        assert sorted(query.rows()) == [(3, 13), (6, 13)]


def test_replay_26_a_left_join_gives_up_waiting_by_the_watermark(spark, tmp_path):
    sides = Sides(spark, tmp_path, (-5, 9), "leftOuter")
    with running(sides.df) as query:
        sides.rows("k1", left=(1,))
        sides.rows("k2", right=(1,))
        query.drain()
        assert query.rows() == []
        sides.watermark(14)
        query.drain()
        assert query.rows() == [(1, None)]
        sides.watermark(18)
        query.drain()
        sides.rows("k1", left=(2,))
        sides.rows("k1", right=(2,))
        query.drain()
        # Flink gives (2, NULL) at once; Spark drops both late rows, and counts them.
        assert query.rows() == [(1, None)]
        assert late_rows(query) == 2


@pytest.mark.long
@pytest.mark.parametrize("column", ["l_ts", *full("r_ts")])
def test_both_times_of_the_result_are_time_attributes_and_no_result_is_late(spark, tmp_path, column):
    """The watermark behind the join is held back by its bounds, so that a window over either time loses nothing."""
    chance = random.Random(7)
    rows, scripts, frames = {}, {}, {}
    for side in "lr":  # in the order of arrival, never later than SLACK_S
        rows[side] = [(100 + n - chance.uniform(0, SLACK_S), chance.choice("abc")) for n in range(ROWS)]
        scripts[side] = Scripts(tmp_path / side)
        scripts[side].append("s-0")
        stream = scripts[side].stream(spark, {"watermark.as": f"ts - INTERVAL {SLACK_S} SECOND"})
        frames[side] = stream.select(*(F.col(name).alias(f"{side}_{name}") for name in ("ts", "k")))
    near = F.expr("l_k = r_k AND l_ts BETWEEN r_ts - INTERVAL 5 SECONDS AND r_ts + INTERVAL 12 SECONDS")
    counted = frames["l"].join(frames["r"], near).groupBy(F.window(column, "10 seconds")).count()
    with running(counted.selectExpr("unix_timestamp(window.start)", "count")) as query:
        for part in range(0, ROWS, 15):
            for side, scripted in scripts.items():
                scripted.append("s-0", *((second, key, "") for second, key in rows[side][part : part + 15]))
            query.drain()
        for scripted in scripts.values():
            scripted.append("s-0", (500, "end", ""))
        query.drain()
        at = ("l_ts", "r_ts").index(column)
        pairs = [
            (l_ts, r_ts)
            for l_ts, l_k in rows["l"]
            for r_ts, r_k in rows["r"]
            if l_k == r_k and r_ts - 5 <= l_ts <= r_ts + 12
        ]
        wanted = Counter(int(pair[at] // 10 * 10) for pair in pairs)
        assert dict(query.rows()) == wanted
        assert late_rows(query) == 0
        assert len(wanted) >= 9
