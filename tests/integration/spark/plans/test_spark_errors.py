"""What a user sees first: our code and sentence in the first line, and no traceback of ours before it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import ScriptedDataSource, register, with_source_watermark
from datasources.errors import OptionError, QueryError, SchemaError
from datasources.spark.adapter.binding import Binding
from datasources.spark.plans.session_checks import require_classic
from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import FORMAT, Scripts, drain, first_line, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

PLAIN = {"watermark.for": None, "watermark.as": None, "scan.watermark.heartbeat-interval": None}
POLICY = "spark.sql.streaming.multipleWatermarkPolicy"
ALLOW_MULTIPLE = "spark.sql.streaming.statefulOperator.allowMultiple"
NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"


@pytest.fixture
def scripts(tmp_path):
    found = Scripts(tmp_path / "scripts")
    found.append("s-0", (1, "a", "a1"), (12, "b", "b12"), (25, "c", "c25"))
    return found


def failure(run: Any, *arguments: Any) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the kind is Spark's; the test is about its text
        run(*arguments)
    return caught.value


def assert_message(error: Exception, code: str, *phrases: str) -> None:
    line = first_line(error)
    assert f"[{code}]" in line
    for phrase in phrases:
        assert phrase in line
    assert "Traceback" not in str(error).split(f"[{code}]", 1)[0]


def test_a_stream_that_was_never_attached_is_stopped_before_its_first_row(spark, scripts):
    with running(scripts.loaded(spark)) as query:
        error = failure(query.drain)
        assert_message(error, "TIDEMARK_QUERY", "was not attached", "with_source_watermark(df)")
        assert query.rows() == []


def test_dropping_the_hidden_columns_is_no_way_of_attaching(spark, scripts):
    error = failure(drain, scripts.loaded(spark).select("ts", "v"))
    assert_message(error, "TIDEMARK_QUERY", "was not attached")


def test_one_attached_branch_does_not_excuse_another(spark, scripts):
    other = scripts.loaded(spark).filter("NOT _heartbeat").select("ts", "k", "v")
    error = failure(drain, scripts.stream(spark).union(other))
    assert_message(error, "TIDEMARK_QUERY", "was not attached")


@pytest.fixture
def by_hand(spark):
    """A class that a user registered: no listener hears of it that way, no coordinator is bound to it."""
    spark.dataSource.register(ScriptedDataSource)
    yield spark
    register(spark)


def test_a_class_registered_by_hand_refuses_to_run_unattached(by_hand, scripts):
    loaded = scripts.loaded(by_hand)
    assert loaded.columns == ["ts", "k", "v", "_watermark", "_heartbeat"]
    for df in (loaded, loaded.select("v"), loaded.groupBy("k").count().select("count")):
        error = failure(drain, df, "update")
        assert_message(error, "TIDEMARK_QUERY", "was not attached", "with_source_watermark(df)")
    rows, _ = drain(with_source_watermark(loaded).select("v"))
    assert sorted(rows) == [("a1",), ("b12",), ("c25",)]


def test_where_nobody_listens_the_whole_session_reuses_no_exchange(spark, scripts, monkeypatch):
    monkeypatch.setattr("datasources.spark.attach.attach.registered_formats", lambda _: frozenset())
    reuse = "spark.sql.exchange.reuse"
    with settings(spark, {reuse: "true"}):
        with_source_watermark(scripts.loaded(spark))
        assert spark.conf.get(reuse) == "false"


def test_whoever_sets_the_option_sees_hidden_columns_and_heartbeats(spark, scripts):
    rows, _ = drain(scripts.loaded(spark, {"SCAN.attached": True}))
    assert sorted(row[2] for row in rows if not row[4]) == ["a1", "b12", "c25"]
    heartbeats = [row for row in rows if row[4]]
    assert heartbeats
    assert all(row[:3] == (None, None, None) for row in heartbeats)


def test_a_batch_and_a_stream_without_watermark_need_no_attachment(spark, scripts):
    rows = spark.read.format(FORMAT).options(**scripts.options()).load().collect()
    assert sorted(row["v"] for row in rows) == ["a1", "b12", "c25"]
    assert len(drain(scripts.loaded(spark, PLAIN))[0]) == 3


def test_attaching_leaves_the_loaded_stream_as_it_was(spark, scripts):
    loaded = scripts.loaded(spark)
    with_source_watermark(loaded)
    assert_message(failure(drain, loaded), "TIDEMARK_QUERY", "was not attached")


def test_a_stream_that_is_attached_twice_is_one_source(spark, scripts):
    """As many sources as in the checkpoints of such queries so far."""
    loaded = scripts.loaded(spark)
    first, second = with_source_watermark(loaded), with_source_watermark(loaded)
    _rows, query = drain(first.union(second).select("v"))
    assert len(query.progress[-1].sources) == 1
    assert sorted(_rows) == sorted([("a1",), ("b12",), ("c25",)] * 2)


def test_columns_that_are_chosen_below_the_attachment_keep_their_source(spark, scripts):
    chosen = scripts.loaded(spark).withColumn("n", F.length("v")).drop("v").filter("k <> 'a'")
    rows, _ = drain(with_source_watermark(chosen).select("k", "n"))
    assert sorted(rows) == [("b", 3), ("c", 3)]


def test_streams_that_are_put_together_are_attached_one_by_one(spark, scripts):
    loaded = scripts.loaded(spark)
    for df in (loaded.union(scripts.loaded(spark)), loaded.join(scripts.loaded(spark).select("k"), "k")):
        with pytest.raises(QueryError, match="several streams .* Attach each"):
            with_source_watermark(df)


def test_a_source_whose_schema_changed_is_not_attached(spark, scripts):
    loaded = scripts.loaded(spark)
    marking = Binding(defaults={"watermark.late-rows": "mark"})  # one column more
    other = type("ScriptedDataSource", (ScriptedDataSource,), {"binding": marking, "__module__": "__main__"})
    spark.dataSource.register(other)
    try:
        with pytest.raises(QueryError, match="another schema than when it was loaded"):
            with_source_watermark(loaded)
    finally:
        register(spark)


def test_a_schema_given_to_spark_is_refused_in_a_stream(spark, scripts):
    reader = spark.readStream.format(FORMAT).options(**scripts.options())
    error = failure(drain, reader.schema("ts TIMESTAMP, k STRING, v STRING").load())
    assert_message(error, "TIDEMARK_SCHEMA", ".schema(...)", '.option("schema", "...")')


def test_a_schema_given_to_spark_is_refused_in_a_batch(spark, scripts):
    reader = spark.read.format(FORMAT).options(**scripts.options())
    error = failure(lambda: reader.schema("ts TIMESTAMP, k STRING, v STRING").load().collect())
    assert_message(error, "TIDEMARK_SCHEMA", ".schema(...)", '.option("schema", "...")')


def test_a_bad_option_beside_a_schema_given_to_spark_is_named(spark, scripts):
    reader = spark.readStream.format(FORMAT).options(**scripts.options({"watermark.as": "ts - 5"}))
    error = failure(drain, reader.schema("ts TIMESTAMP").load())
    assert_message(error, "TIDEMARK_EXPRESSION", "watermark.as: a number cannot be added to a timestamp")
    assert "ts - 5" in str(error)


@pytest.mark.parametrize("name", ["_watermark", "_heartbeat", "_late", "_Watermark"])
def test_hidden_column_names_are_reserved(spark, tmp_path, name):
    scripts = Scripts(tmp_path, schema=f"ts TIMESTAMP, {name} STRING")
    with pytest.raises(SchemaError, match=f"'{name}' is the name of a column that Tidemark adds"):
        scripts.stream(spark)
    assert_message(failure(scripts.loaded, spark), "TIDEMARK_SCHEMA", f"'{name}'")


def test_an_unknown_option_is_an_error_with_near_matches_on_both_ways_in(spark, scripts):
    with pytest.raises(OptionError, match=r"unknown option 'watermark\.fro'.*Did you mean 'watermark\.for'"):
        scripts.stream(spark, {"watermark.fro": "ts"})
    error = failure(scripts.loaded, spark, {"watermark.fro": "ts"})
    assert_message(error, "TIDEMARK_OPTION", "unknown option 'watermark.fro'", "'watermark.for'")


def test_a_malformed_record_stops_a_stream_and_names_its_place(spark, scripts):
    scripts.append("s-0", "{nonsense")
    error = failure(drain, scripts.stream(spark))
    assert_message(error, "TIDEMARK_RECORD", "script 's-0', line 4", "format.on-error")


def test_a_malformed_record_stops_a_batch_read_without_a_traceback_before_the_reason(spark, scripts):
    scripts.append("s-0", "{nonsense")
    error = failure(spark.read.format(FORMAT).options(**scripts.options()).load().collect)
    # PySpark itself puts a line of its own before what a task of a batch says.
    assert "[TIDEMARK_RECORD] the record at script 's-0', line 4" in str(error).splitlines()[1]
    assert "Traceback" not in str(error)


def test_an_error_of_the_planner_stands_in_the_first_line_too(spark, scripts):
    with running(scripts.stream(spark)) as query:
        query.drain()
        (scripts.directory / "s-0.jsonl").unlink()
        error = failure(lambda: query.query.awaitTermination(30))
    assert_message(error, "TIDEMARK_DATA_LOSS", "split 's-0' does not exist any more", "failOnDataLoss")


@pytest.mark.parametrize(("key", "value", "advice"), [(POLICY, "max", "'min'"), (ALLOW_MULTIPLE, "false", "true")])
def test_a_setting_that_breaks_event_time_is_refused_when_attaching(spark, scripts, key, value, advice):
    with settings(spark, {key: value}), pytest.raises(QueryError) as caught:
        scripts.stream(spark)
    assert_message(caught.value, "TIDEMARK_QUERY", key, f"Set it to {advice}")


def test_a_setting_that_breaks_event_time_stops_a_query_that_was_attached_before(spark, scripts):
    df = scripts.stream(spark)
    with settings(spark, {POLICY: "max"}):
        error = failure(drain, df)
    assert_message(error, "TIDEMARK_QUERY", POLICY, "Set it to 'min'")


def test_a_setting_that_delays_results_is_a_warning(spark, scripts, caplog):
    with settings(spark, {NO_DATA: "false"}), caplog.at_level(logging.WARNING):
        scripts.stream(spark)
    assert any(NO_DATA in record.getMessage() for record in caplog.records)


def test_what_needs_a_plan_is_refused_on_spark_connect_with_a_way_out():
    client = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(QueryError) as caught:
        require_classic(client, "a query whose rows change")
    assert_message(caught.value, "TIDEMARK_QUERY", "Spark Connect", "spark-submit")
    with pytest.raises(QueryError, match="there is no Spark session"):
        TableEnvironment(None)  # type: ignore[arg-type]


def test_only_a_loaded_stream_with_its_hidden_columns_can_be_attached(spark, scripts):
    register(spark)
    for df in (scripts.loaded(spark, PLAIN), scripts.loaded(spark).select("ts")):
        with pytest.raises(QueryError, match="no columns '_watermark' and '_heartbeat'"):
            with_source_watermark(df)
    with pytest.raises(QueryError, match="attached already"):
        with_source_watermark(scripts.stream(spark))


def test_a_hidden_column_that_was_computed_cannot_be_attached(spark, scripts):
    loaded = scripts.loaded(spark).selectExpr("ts", "_watermark + INTERVAL 1 HOUR AS _watermark", "_heartbeat")
    with pytest.raises(QueryError, match="lost its metadata"):
        with_source_watermark(loaded)


def test_an_unknown_time_attribute_is_named_with_the_columns_that_exist(spark, scripts):
    with pytest.raises(QueryError, match=r"no column 'nope' .*'ts', 'k', 'v'"):
        with_source_watermark(scripts.loaded(spark), "nope")


def test_a_source_without_watermark_has_no_hidden_columns_and_no_time_attribute(spark, scripts):
    df = scripts.stream(spark, PLAIN)
    assert df.columns == ["ts", "k", "v"]
    assert sorted(drain(df.select("v"))[0]) == [("a1",), ("b12",), ("c25",)]
    with pytest.raises(OptionError, match="time_attributes need a watermark"):
        scripts.stream(spark, PLAIN, "ts")
