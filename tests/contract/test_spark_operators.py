"""Every operator of Spark that follows event time follows the reader's watermark.

One contract, many operators. All cases read the same script in two steps, and the table says what each must emit.

    left, step 1    0-a@1 0-b@12 0-c@25   1-a@3 1-b@12        split 0 is at 24, split 1 at 11: the source at 11
    left, step 2    0-a@5 0-z@61          1-c@27 1-z@62       a@5 is late; then 60 and 61: the source at 60
    right, step 1   0-a@2 0-b@14 0-c@24                       the source at 23
    right, step 2   0-z@61                                    the source at 60

The watermark is one second behind. Spark's own would be at 24 after the first step, the maximum, and would drop what
split 1 still brings. A window is emitted when its end <= the watermark: [60, 70) never is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.forms import full
from tests.support.spark.batch_files import persisted, read_rows, twice
from tests.support.spark.scripted_stream import TINY_QUERIES, Running, Scripts, running, settings
from tests.support.spark.spark_state import RANG, TIMED_OUT, Alarms, Relay, time_out_after_silence

pytestmark = [pytest.mark.spark, pytest.mark.connect]

LEFT_MOVES = {0, 11, 24, 60}
BOTH_MOVE = {0, 11, 23, 24, 60}
ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}


class Inputs:
    """The scripts of one case, and streams over them."""

    def __init__(self, spark: Any, directory: Path) -> None:
        self.spark = spark
        self._left = Scripts(directory / "left")
        self._right = Scripts(directory / "right")

    def left(self) -> Any:
        return self._left.stream(self.spark)

    def right(self) -> Any:
        return self._right.stream(self.spark)

    def step_1(self) -> None:
        self._left.append("left-0", (1, "a", "a1"), (12, "b", "b12"), (25, "c", "c25"))
        self._left.append("left-1", (3, "a", "a3"), (12, "b", "b12'"))
        self._right.append("right-0", (2, "a", "A"), (14, "b", "B"), (24, "c", "C"))

    def step_2(self) -> None:
        self._left.append("left-1", (27, "c", "c27"), (62, "z", "z62"))
        self._left.append("left-0", (5, "a", "late"), (61, "z", "z61"))
        self._right.append("right-0", (61, "z", "Z"))


@dataclass(frozen=True)
class Case:
    """One operator.

    `expected` are the rows that it emits, in any order; in update and complete mode the last state of each key, which
    is the first column. `moves` are the values that Spark's watermark may take, `end` the one that it ends with.
    """

    name: str
    build: Callable[[Inputs], Any]
    expected: list[tuple[Any, ...]]
    mode: str = "append"
    moves: set[int] = field(default_factory=lambda: LEFT_MOVES)
    end: int = 60
    settings: Mapping[str, str] = field(default_factory=dict)
    consume: Callable[[str], Callable[[Any, int], None]] | None = None


START = "unix_timestamp(window.start) AS start"
VALUES = "sort_array(collect_list(v)) AS `values`"


def windows(df: Any, *, column: str = "ts") -> Any:
    return df.groupBy(F.window(column, "10 seconds")).agg(F.expr(VALUES)).selectExpr(START, "`values`")


def counts(df: Any) -> Any:
    return df.groupBy(F.window("ts", "10 seconds")).count().selectExpr(START, "count")


def view(inputs: Inputs, query: str) -> Any:
    inputs.left().createOrReplaceTempView("left_side")
    return inputs.spark.sql(query)


def outer_join(inputs: Inputs) -> Any:
    left = inputs.left().withColumnsRenamed({"ts": "l_ts", "v": "l_v"})
    right = inputs.right().withColumnsRenamed({"ts": "r_ts", "v": "r_v", "k": "r_k"})
    near = F.expr("k = r_k AND r_ts >= l_ts AND r_ts <= l_ts + INTERVAL 5 SECONDS")
    return left.join(right, near, "leftOuter")


def pairs_by_window(df: Any, column: str) -> Any:
    pair = F.concat_ws("-", "l_v", F.coalesce("r_v", F.lit("none")))
    grouped = df.groupBy(F.window(column, "10 seconds")).agg(F.sort_array(F.collect_list(pair)).alias("pairs"))
    return grouped.selectExpr(START, "pairs")


def window_join(inputs: Inputs) -> Any:
    left = inputs.left().select("k", "v", F.window("ts", "10 seconds").alias("window"))
    right = inputs.right().select("k", F.col("v").alias("r_v"), F.window("ts", "10 seconds").alias("window"))
    return left.join(right, ["k", "window"], "leftOuter").select("v", "r_v")


def self_join(inputs: Inputs) -> Any:
    df = inputs.left()
    first, second = df.alias("x"), df.alias("y")
    after = F.expr("x.k = y.k AND y.ts > x.ts AND y.ts <= x.ts + INTERVAL 5 SECONDS")
    return first.join(second, after, "leftOuter").select("x.v", "y.v")


def session_windows(inputs: Inputs) -> Any:
    grouped = inputs.left().groupBy(F.session_window("ts", "5 seconds").alias("window"), "k").agg(F.expr(VALUES))
    return grouped.selectExpr(START, "unix_timestamp(window.end)", "`values`")


def chained(inputs: Inputs, outer: Any) -> Any:
    inner = inputs.left().groupBy(F.window("ts", "10 seconds")).count().withColumnRenamed("window", "inner")
    return inner.groupBy(outer.alias("window")).agg(F.sum("count").alias("n")).selectExpr(START, "n")


def alarms(df: Any) -> Any:
    return df.groupBy("k").transformWithStateInPandas(Alarms(20), RANG, "Append", "EventTime")


def relayed(inputs: Inputs) -> Any:
    rows = (
        inputs.left()
        .groupBy("k")
        .transformWithStateInPandas(Relay(), "ts TIMESTAMP, v STRING", "Append", "EventTime", eventTimeColumnName="ts")
    )
    return windows(rows)


def with_timeouts(inputs: Inputs) -> Any:
    return (
        inputs.left()
        .groupBy("k")
        .applyInPandasWithState(time_out_after_silence, TIMED_OUT, "newest INT", "append", "EventTimeTimeout")
    )


def with_names(inputs: Inputs) -> Any:
    names = inputs.spark.createDataFrame([("a", "Ada"), ("c", "Cy")], "k STRING, name STRING")
    return inputs.left().join(names, "k").withColumn("v", F.col("name"))


# a@5 is late and nowhere; both b stand at 12; z waits in its open window.
CLOSED = [(0, ["a1", "a3"]), (10, ["b12", "b12'"]), (20, ["c25", "c27"])]
OPEN = (60, ["z61", "z62"])
# left outer, right within [ts, ts + 5]: A@2 follows a1 but not a3; C@24 is before c25; z62 is still waiting.
PAIRS = [(0, ["a1-A", "a3-none"]), (10, ["b12'-B", "b12-B"]), (20, ["c25-none", "c27-none"])]

CASES = [
    Case("window append", lambda i: windows(i.left()), CLOSED),
    Case("window update", lambda i: windows(i.left()), [*CLOSED, OPEN], mode="update"),
    # Complete mode keeps every group for ever and therefore drops nothing: Spark counts the late row.
    Case(
        "window complete",
        lambda i: windows(i.left()),
        [(0, ["a1", "a3", "late"]), *CLOSED[1:], OPEN],
        mode="complete",
        # No state is evicted, so Spark runs no batch of its own to see the last watermark.
        end=24,
    ),
    # 1 and 3 are less than 5 s apart, 25 and 27 too; [61, 67) is open.
    Case(
        "session window with key",
        session_windows,
        [(1, 8, ["a1", "a3"]), (12, 17, ["b12", "b12'"]), (25, 32, ["c25", "c27"])],
    ),
    Case(
        "dropDuplicates",
        lambda i: i.left().dropDuplicates(["k", "ts"]).select("k", F.unix_timestamp("ts")),
        [("a", 1), ("a", 3), ("b", 12), ("c", 25), ("c", 27), ("z", 61), ("z", 62)],
    ),
    # The horizon is the strategy's bound, 1 s: c25 is remembered to 26, the watermark is 11 when c27 comes.
    Case(
        "dropDuplicatesWithinWatermark",
        lambda i: i.left().dropDuplicatesWithinWatermark(["k"]).select("k"),
        [("a",), ("b",), ("c",), ("z",)],
    ),
    Case("chained windows", lambda i: chained(i, F.window("inner", "30 seconds")), [(0, 6)]),
    Case("window_time", lambda i: chained(i, F.window(F.window_time("inner"), "30 seconds")), [(0, 6)]),
    Case("left outer join", lambda i: pairs_by_window(outer_join(i), "l_ts"), PAIRS, moves=BOTH_MOVE),
    # Rows without a partner have no right time and are in no window.
    Case(
        "left outer join, window on the other side",
        lambda i: pairs_by_window(outer_join(i), "r_ts"),
        [(0, ["a1-A"]), (10, ["b12'-B", "b12-B"])],
        moves=BOTH_MOVE,
    ),
    # c25 and C@24 share a window; so does c27. z meets Z at once. a@5 is late on its window.
    Case(
        "window join",
        window_join,
        [("a1", "A"), ("a3", "A"), ("b12", "B"), ("b12'", "B"), ("c25", "C"), ("c27", "C"), ("z61", "Z"), ("z62", "Z")],
        moves=BOTH_MOVE,
    ),
    Case(
        "union",
        lambda i: windows(i.left().union(i.right())),
        [(0, ["A", "a1", "a3"]), (10, ["B", "b12", "b12'"]), (20, ["C", "c25", "c27"])],
        moves=BOTH_MOVE,
    ),
    # z62 waits for a partner up to 67; all others are decided at 60.
    Case(
        "self-join",
        self_join,
        [("a1", "a3"), ("a3", None), ("b12", None), ("b12'", None), ("c25", "c27"), ("c27", None), ("z61", "z62")],
    ),
    Case(
        "SQL view",
        lambda i: view(
            i,
            "SELECT unix_timestamp(window.start), sort_array(collect_list(v)) FROM left_side "
            "GROUP BY window(ts, '10 seconds')",
        ),
        CLOSED,
    ),
    Case(
        "SQL subquery",
        lambda i: view(
            i,
            "SELECT unix_timestamp(window(s.t, '10 seconds').start), count(*) FROM "
            "(SELECT ts AS t, upper(v) AS u FROM left_side WHERE v <> 'a3') s GROUP BY window(s.t, '10 seconds')",
        ),
        [(0, 1), (10, 2), (20, 2)],
    ),
    Case("foreachBatch with two actions", lambda i: windows(i.left()), CLOSED, consume=twice),
    Case("foreachBatch with persist", lambda i: windows(i.left()), CLOSED, consume=persisted),
    Case("static join", lambda i: windows(with_names(i)), [(0, ["Ada", "Ada"]), (20, ["Cy", "Cy"])]),
    Case(
        "filter that is never true on one branch",
        lambda i: counts(i.left().filter("1 = 0").union(i.right())),
        [(0, 1), (10, 1), (20, 1)],
        moves=BOTH_MOVE,
    ),
    # Once its window is closed nothing is in state: from then on heartbeats may be 30 s apart.
    Case("filter", lambda i: windows(i.left().filter("k = 'a'")), [(0, ["a1", "a3"])], end=24),
    # Nothing keeps state: heartbeats are 30 s apart, and Spark's watermark is what the rows carried.
    Case("limit", lambda i: i.left().limit(2).select(F.lit("any")), [("any",), ("any",)], end=0),
    Case(
        "stateless",
        lambda i: i.left().select("v"),
        [("a1",), ("a3",), ("b12",), ("b12'",), ("c25",), ("c27",), ("late",), ("z61",), ("z62",)],
        end=0,
    ),
    # Without event time in the grouping Spark keeps everything; heartbeats are counted nowhere.
    Case(
        "count without window",
        lambda i: i.left().groupBy("k").count(),
        [("a", 3), ("b", 2), ("c", 2), ("z", 2)],
        mode="update",
        end=24,
    ),
    # All timers stand at 20. z came in the batch that still had 11.
    Case(
        "transformWithState with event-time timers",
        lambda i: alarms(i.left()),
        [("a", 2, 20, False), ("b", 2, 20, False), ("c", 2, 20, False), ("z", 2, 20, False)],
        settings=ROCKSDB,
    ),
    # Without ts Spark cannot see that a@5 is late.
    Case(
        "transformWithState without the time attribute",
        lambda i: alarms(i.left().select("k", "v")),
        [("a", 3, 20, False), ("b", 2, 20, False), ("c", 2, 20, False), ("z", 2, 20, False)],
        settings=ROCKSDB,
    ),
    Case("transformWithState chained by eventTimeColumnName", relayed, CLOSED, settings=ROCKSDB),
    # 5 s after the newest row: a at 8 (at watermark 11), b at 17, c at 32; z at 67 is not yet.
    Case(
        "applyInPandasWithState with event-time timeouts",
        with_timeouts,
        [("a", 8, False), ("b", 17, False), ("c", 32, False)],
    ),
]

SIMILAR = {
    "window complete",
    "dropDuplicates",
    "window_time",
    "left outer join, window on the other side",
    "self-join",
    "SQL view",
    "SQL subquery",
    "foreachBatch with persist",
    "static join",
    "filter",
    "limit",
    "count without window",
    "transformWithState without the time attribute",
}
"""Operators that are close to another one."""


def run(case: Case, inputs: Inputs, found: Path) -> tuple[list[tuple[Any, ...]], Running]:
    consume = None if case.consume is None else case.consume(str(found))
    with running(case.build(inputs), case.mode, for_each=consume) as query:
        query.drain()
        inputs.step_2()
        query.drain()
        if consume is None:
            return query.rows(), query
        return read_rows(found), query


def final(rows: list[tuple[Any, ...]], mode: str) -> list[tuple[Any, ...]]:
    """In update mode the sink holds every state of a key; the last one counts."""
    return list({row[0]: row for row in rows}.values()) if mode == "update" else rows


@pytest.mark.parametrize(
    "case",
    [each for case in CASES for each in (full(case) if case.name in SIMILAR else [case])],
    ids=lambda case: case.name,
)
def test_operator_follows_the_readers_watermark_and_never_sees_a_heartbeat(case: Case, spark: Any, tmp_path: Path):
    inputs = Inputs(spark, tmp_path)
    inputs.step_1()
    with settings(spark, {**TINY_QUERIES, **case.settings}):
        rows, query = run(case, inputs, tmp_path / "found.jsonl")
    assert sorted(final(rows, case.mode), key=repr) == sorted(case.expected, key=repr)
    moves = query.watermarks
    assert moves == sorted(moves), "a watermark never goes back"
    assert set(moves) <= case.moves, "Spark's watermark takes only values that the reader's combination took"
    assert moves[-1] >= case.end
