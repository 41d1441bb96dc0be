"""Temporal joins on real Spark: Flink's answers, restarts, batches, changelogs, errors."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from datasources import temporal_join, with_source_watermark
from datasources.errors import QueryError
from tests.support.oracles.oracle_joins import JOIN_CASES, load_join_case
from tests.support.spark.scripted_stream import DEADLINE_S, DyingSink, Scripts, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("operator_queries")]


def oracle_join(spark: Any, path: Any, name: str, rows_per_batch: int, how: str, *, buckets: int = 2) -> Any:
    ev, rates = load_join_case(name).loaded(spark, path, rows_per_batch)
    return temporal_join(ev, rates, on=["k"], as_of="ts", how=how, prefix="r_", buckets=buckets)


def collected(query: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in query.spark.table(query.name).collect()), key=repr)


@pytest.mark.parametrize(
    ("name", "how", "rows_per_batch"),
    [
        ("joins_01", "left", 7),
        ("joins_03", "inner", 1_000),
        *(
            pytest.param(name, how, rows, marks=pytest.mark.full)
            for name in JOIN_CASES
            for how, rows in (("left", 1), ("inner", 7), ("left", 1_000))
        ),
    ],
)
def test_an_event_time_join_gives_flinks_answer_however_rows_fall_into_batches(
    spark, tmp_path, name, how, rows_per_batch
):
    joined = oracle_join(spark, tmp_path, name, rows_per_batch, how)
    with running(with_source_watermark(joined).select("id", "r_rate")) as query:
        query.drain()
        assert collected(query) == load_join_case(name).answers[f"temporal_{how}"]
        assert query.counted("late_probe_rows") == query.counted("late_build_rows") == 0


def test_a_batch_gives_flinks_answer(spark, tmp_path):
    ev, rates = load_join_case("joins_03").write(tmp_path)
    plain = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}
    loaded = [
        spark.read.format("tidemark-scripted").options(**scripts.options(plain)).load() for scripts in (ev, rates)
    ]
    for how in ("left", "inner"):
        joined = temporal_join(*loaded, on=["k"], as_of="ts", build_time="ts", how=how, prefix="r_")
        found = sorted((tuple(row) for row in joined.select("id", "r_rate").collect()), key=repr)
        assert found == load_join_case("joins_03").answers[f"temporal_{how}"]


@pytest.mark.long
def test_a_query_that_died_goes_on_as_if_it_had_not_and_refuses_other_buckets(spark, tmp_path):
    batches: dict[int, list[tuple[Any, ...]]] = {}

    def run_query(buckets: int, dies_in: int | None) -> None:
        joined = with_source_watermark(oracle_join(spark, tmp_path, "joins_01", 16, "left", buckets=buckets))
        trigger = {"availableNow": True}
        selected = joined.select("id", "r_rate")
        keep = DyingSink(batches, dies_in)
        with running(selected, checkpoint=tmp_path / "checkpoint", for_each=keep, trigger=trigger) as query:
            assert query.query.awaitTermination(DEADLINE_S)

    with pytest.raises(StreamingQueryException, match="died"):
        run_query(buckets=2, dies_in=1)
    with pytest.raises(StreamingQueryException) as refused:
        run_query(buckets=3, dies_in=None)
    reason = "[TIDEMARK_OFFSET] the checkpoint's temporal joins were made with other settings: buckets was 2 and is 3."
    assert reason in str(refused.value)
    run_query(buckets=2, dies_in=None)
    rows = sorted((row for batch in batches.values() for row in batch), key=repr)
    assert rows == load_join_case("joins_01").answers["temporal_left"]


PROBE = "ts TIMESTAMP_NTZ, k INT, big BIGINT, amount DECIMAL(20,4)"
BUILD = "row_kind STRING, n INT, key BIGINT, at TIMESTAMP_NTZ, rate DOUBLE, tags ARRAY<STRUCT<a: INT, t: TIMESTAMP>>"
WALL = "2024-03-10 0{}"  # in New York the clock went from 2 to 3 that night; a wall clock knows nothing of it
PROBES = [
    {"ts": WALL.format("1:59:00"), "k": 1, "big": 9_007_199_254_740_993, "amount": "1.0001"},
    {"ts": WALL.format("2:10:00"), "k": 1, "big": 2, "amount": None},
    {"ts": WALL.format("2:20:00"), "k": 1, "big": 3, "amount": None},
    {"ts": WALL.format("2:30:00"), "k": 1, "big": 4, "amount": None},
    {"ts": WALL.format("2:30:00"), "k": None, "big": 5, "amount": None},
    {"ts": None, "k": 1, "big": 6, "amount": None},
    {"ts": WALL.format("2:31:00"), "k": 2, "big": 7, "amount": None},
    {"ts": WALL.format("2:41:00"), "k": 2, "big": 8, "amount": None},
    {"ts": WALL.format("2:41:00"), "k": 3, "big": 9, "amount": None},
]
CHANGES = [
    {
        "row_kind": "+I",
        "n": 1,
        "key": 1,
        "at": WALL.format("1:00:00"),
        "rate": 1.0,
        "tags": [{"a": 1, "t": "2500-01-01T00:00:00Z"}],
    },
    # The image before carries the time of the version that it shows; what that version was valid for must stay.
    {"row_kind": "-U", "n": 2, "key": 1, "at": WALL.format("1:00:00"), "rate": 1.0, "tags": None},
    {"row_kind": "+U", "n": 3, "key": 1, "at": WALL.format("2:05:00"), "rate": 2.0, "tags": []},
    {"row_kind": "-D", "n": 4, "key": 1, "at": WALL.format("2:15:00"), "rate": 2.0, "tags": None},
    {"row_kind": "-D", "n": 5, "key": 1, "at": WALL.format("2:25:00"), "rate": 2.0, "tags": None},
    {"row_kind": "+I", "n": 6, "key": 1, "at": WALL.format("2:25:00"), "rate": 4.0, "tags": None},
    {"row_kind": "+I", "n": 7, "key": None, "at": WALL.format("2:25:00"), "rate": 5.0, "tags": None},
    {"row_kind": "-U", "n": 8, "key": 3, "at": WALL.format("2:26:00"), "rate": 0.0, "tags": None},
    {"row_kind": "+U", "n": 9, "key": 2, "at": WALL.format("2:26:00"), "rate": 7.0, "tags": None},
    {"row_kind": "T", "n": 10, "key": None, "at": WALL.format("2:40:00"), "rate": None, "tags": None},
    {"row_kind": "+I", "n": 11, "key": 3, "at": WALL.format("2:40:00"), "rate": 9.0, "tags": None},
]
WANTED = {9_007_199_254_740_993: 1.0, 2: 2.0, 3: None, 4: 4.0, 5: None, 7: 7.0, 8: None, 9: 9.0}


def changelog_join(spark: Any, path: Any, *, streaming: bool, **how: Any) -> Any:
    probe, build = Scripts(path / "probe", schema=PROBE), Scripts(path / "build", schema=BUILD)
    if not list(probe.directory.iterdir()):
        probe.append("s-0", *PROBES)
        build.append("s-0", *CHANGES)
    # The end of the build side is far behind its last row: results wait for it, not for the probe side alone.
    options = {"scripted.bounded": "true", "watermark.as": "ts - INTERVAL '1' HOUR"}
    of_build = {**options, "watermark.for": "at", "watermark.as": "at - INTERVAL '2' HOUR"}
    sides = (probe, options), (build, of_build)
    if streaming:
        left, right = (scripts.loaded(spark, chosen) for scripts, chosen in sides)
    else:
        left, right = (
            spark.read.format("tidemark-scripted").options(**scripts.options(chosen)).load()
            for scripts, chosen in sides
        )
    return temporal_join(left, right, **{"on": [("k", "KEY")], "as_of": "TS", "sequence": "n", "buckets": 3, **how})


def test_changelogs_wide_rows_and_unusual_keys_equal_the_batch(spark, tmp_path):
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        joined = changelog_join(spark, tmp_path, streaming=True, how="left")
        assert joined.columns == ["ts", "k", "big", "amount", "key", "at", "rate", "tags", "_watermark", "_heartbeat"]
        with running(with_source_watermark(joined)) as query:
            query.drain()
            found = [row.asDict() for row in spark.table(query.name).collect()]
            assert (query.counted("null_rowtime_rows"), query.counted("null_key_build_rows")) == (1, 1)
        from_batch = [row.asDict() for row in changelog_join(spark, tmp_path, streaming=False, how="left").collect()]
    assert {row["big"]: row["rate"] for row in found} == WANTED
    assert sorted(map(repr, found)) == sorted(map(repr, from_batch))


def test_a_condition_besides_leaves_rows_out_or_gives_nulls(spark, tmp_path):
    condition = "rate > 1 AND tags IS NOT NULL"
    inner = changelog_join(spark, tmp_path, streaming=True, condition=condition)
    left = changelog_join(spark, tmp_path, streaming=True, how="left", condition=condition)
    with running(with_source_watermark(inner).select("big", "rate")) as query:
        query.drain()
        assert collected(query) == [(2, 2.0)]
    with running(with_source_watermark(left).select("big", "rate")) as query:
        query.drain()
        assert dict(collected(query)) == {**dict.fromkeys(WANTED), 2: 2.0}


def test_in_processing_time_rows_meet_the_latest_version_and_the_build_side_needs_no_watermark(spark, tmp_path):
    probe, build = Scripts(tmp_path / "probe", schema=PROBE), Scripts(tmp_path / "build", schema=BUILD)
    build.append("s-0", *CHANGES)
    none = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}
    joined = temporal_join(
        probe.loaded(spark, {"scan.hold.until": "changes"}),
        build.loaded(spark, {**none, "scan.hold.name": "changes"}),
        on=[("k", "key")],
        as_of="PROCTIME()",
        how="left",
        buckets=2,
    )
    with running(with_source_watermark(joined).select("big", "rate")) as query:
        query.drain()
        probe.append("s-0", *PROBES)
        query.drain()
        assert dict(collected(query)) == {**dict.fromkeys(row["big"] for row in PROBES), 9: 9.0}
    batch = temporal_join(
        *(spark.read.format("tidemark-scripted").options(**scripts.options(none)).load() for scripts in (probe, build)),
        on=[("k", "key")],
        as_of="PROCTIME()",
    )
    assert {row["big"]: row["rate"] for row in batch.collect()} == {9: 9.0}


REFUSED = [
    ({"on": []}, "a temporal join needs on="),
    ({"on": ["k"]}, "the build side has no column 'k' to join on"),
    ({"on": [("big", "rate")]}, "the join compares 'big' BIGINT with 'rate' DOUBLE: cast one of them"),
    ({"on": [("k", "tags")]}, "column 'tags' of type ARRAY<STRUCT<A:INT,T:TIMESTAMP>> cannot be a join's key"),
    ({"as_of": "nothing"}, "there is no column 'nothing' for the time attribute"),
    ({"as_of": "big"}, "column 'big' is BIGINT, but a time attribute is a TIMESTAMP"),
    ({"how": "full"}, "how='full': a temporal join is 'inner' or 'left'"),
    ({"buckets": 0}, "buckets = 0: it must be between 1 and 4096"),
    ({"forget_deleted_ms": -1}, "forget_deleted_ms = -1: it cannot be negative"),
    ({"row_kind": "kind"}, "the build side has no column 'kind'"),
    ({"row_kind": "rate"}, "column 'rate' is DOUBLE, but a row kind is a STRING"),
    ({"sequence": "rate"}, "column 'rate' is DOUBLE, but a change's position in its log is a whole number"),
]


def test_what_cannot_work_is_refused_before_anything_runs(spark, tmp_path):
    for change, reason in REFUSED:
        with pytest.raises(QueryError, match=reason):
            changelog_join(spark, tmp_path, streaming=True, **change)
    probe = Scripts(tmp_path / "probe", schema=PROBE).loaded(spark)
    build = Scripts(tmp_path / "build", schema=BUILD).loaded(spark, {"watermark.for": "at", "watermark.as": "at"})
    how = {"on": [("k", "key")], "as_of": "ts"}
    with pytest.raises(QueryError, match="the probe side is attached already"):
        temporal_join(with_source_watermark(probe), build, **how)
    with pytest.raises(QueryError, match="the build side has no columns '_watermark' and '_heartbeat'"):
        temporal_join(probe, build.drop("_watermark", "_heartbeat"), **how)
    with pytest.raises(QueryError, match="both sides of the join have a column 'ts'"):
        temporal_join(probe, build.withColumnRenamed("rate", "ts"), **how, build_time="at")
    with pytest.raises(QueryError, match="the probe side has a column 'row_kind'"):
        temporal_join(build, build, on=["key"], as_of="at")
    with pytest.raises(QueryError, match="the join is AS OF 'other', but the probe side's watermark is that of 'ts'"):
        temporal_join(probe.withColumn("other", probe["ts"]), build, on=[("k", "key")], as_of="other")
    with pytest.raises(QueryError, match="both time attributes must be of one type"):
        temporal_join(probe, build.withColumn("at", build["at"].cast("timestamp")), **how)
    with pytest.raises(QueryError, match="one side of the temporal join is a stream and the other is not"):
        temporal_join(probe, spark.range(1), on=[("k", "id")], as_of="ts")


def test_in_processing_time_the_probe_has_to_wait_unless_it_is_a_source_of_sparks(spark, tmp_path):
    probe = Scripts(tmp_path / "probe", schema=PROBE)
    build = Scripts(tmp_path / "build", schema=BUILD)
    how = {"on": [("k", "key")], "as_of": "PROCTIME()"}
    at = {"watermark.for": "at", "watermark.as": "at"}
    named = build.loaded(spark, {**at, "scan.hold.name": "changes"})
    with pytest.raises(QueryError, match=r"read it with the option scan\.hold\.name"):
        temporal_join(probe.loaded(spark), build.loaded(spark, at), **how)
    with pytest.raises(QueryError, match=r"before the table is loaded: .* scan\.hold\.until = 'changes'"):
        temporal_join(probe.loaded(spark), named, **how)
    clock = spark.readStream.format("rate").load().withColumnRenamed("value", "k").drop("timestamp")
    assert temporal_join(clock, build.loaded(spark, at), prefix="r_", **how).columns[0] == "k"
