"""TableEnvironment on a real Spark: statements, plans, streams and batches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from datasources.errors import OptionError, SqlError
from datasources.sql import StatementResult, TableEnvironment
from tests.support.spark.scripted_stream import running, seconds, settings
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.connect, pytest.mark.usefixtures("tiny_queries")]

TS = "id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
COUNT = (
    "SELECT window_start, count(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end"
)


@pytest.fixture
def t(spark) -> TableEnvironment:
    return TableEnvironment(spark)


def at(second: float) -> str:
    return f"1970-01-01 00:{int(second) // 60:02d}:{second % 60:06.3f}"


def records(*seconds_: float) -> list[dict[str, Any]]:
    return [{"id": number, "ts": at(second)} for number, second in enumerate(seconds_)]


def text(result: Any) -> str:
    assert isinstance(result, StatementResult)
    return str(result)


def test_queries_and_statements_have_a_method_with_one_type_of_result_each(t, tmp_path):
    write_records(tmp_path / "o", "s-0", records(1))
    table = scripted_table("orders", TS, tmp_path / "o", scripted__bounded="true")
    with pytest.raises(SqlError, match=r"no query, and was not run: use execute"):
        t.query(table)
    with pytest.raises(SqlError, match=r"unknown|not found|no table"):
        t.query("SELECT * FROM orders")  # it was not created
    assert t.execute(table).kind == "CREATE TABLE"
    with pytest.raises(SqlError, match=r"is a query, and was not run: use query"):
        t.execute("SELECT * FROM orders")
    t.execute("SET 'execution.runtime-mode' = 'batch'")
    assert [row.id for row in t.query("SELECT id FROM orders").collect()] == [0]
    assert t.execute("EXPLAIN SELECT id FROM orders").kind == "EXPLAIN"
    of_spark = t.execute("SHOW CATALOGS LIKE 'spark_catalog'")
    assert (of_spark.columns, of_spark.rows) == (("catalog",), (("spark_catalog",),))
    assert repr(t).startswith("TableEnvironment(relations=['orders'], settings={'execution.runtime-mode': 'batch'")


def test_results_are_tables_in_a_notebook():
    rows = (("<b>", None), ("c&d", 2))
    shown = StatementResult(kind="SHOW TABLES", columns=("a", "b"), rows=rows)._repr_html_()
    assert "<th>a</th><th>b</th>" in shown
    assert "<tr><td>&lt;b&gt;</td><td></td></tr><tr><td>c&amp;d</td><td>2</td></tr>" in shown
    assert StatementResult(kind="DROP VIEW")._repr_html_() == "<pre>DROP VIEW: ok</pre>"
    plan = StatementResult(kind="EXPLAIN", columns=("plan",), rows=(("a <- b",),))
    assert plan._repr_html_() == "<pre>a &lt;- b</pre>"


# -- streams --


def test_a_window_of_a_pushed_table_closes_by_the_slowest_split(t, tmp_path):
    write_records(tmp_path / "o", "s-0", records(1, 12, 61))
    write_records(tmp_path / "o", "s-1", records(2, 16))
    t.sql(scripted_table("orders", TS, tmp_path / "o"))
    with running(t.sql(COUNT.format("orders"))) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [11])  # s-1 is at 16, and five seconds behind
        query.drain()
        assert [tuple(map(seconds, row)) for row in query.rows()] == [(0, 2)]


def test_the_watermark_of_a_computed_attribute_that_nobody_selects_is_still_made(t, tmp_path):
    """Replay 31: d = c - 5 s, WATERMARK FOR d AS d + 5 s; SELECT leaves d out."""
    rows = [{"a": 1, "c": "2020-11-21 19:00:05.230"}, {"a": 2, "c": "2020-11-21 21:00:05.230"}]
    write_records(tmp_path / "e", "s-0", rows)
    columns = "a INT, c TIMESTAMP(3), d AS c - INTERVAL '5' SECOND, WATERMARK FOR d AS d + INTERVAL '5' SECOND"
    t.sql(scripted_table("e", columns, tmp_path / "e", scan__watermark__emit__strategy="on-event"))
    with running(t.sql("SELECT a, c FROM e").dropDuplicates(["a"])) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [1_605_992_405.23])


def test_a_nested_attribute_with_nulls_moves_by_the_rows_that_have_one(t, tmp_path):
    """Replay 33: g AS c.d.f; null rowtimes fail nothing and move nothing."""
    values = [None, "2020-11-21 19:00:05.230", "2020-11-21 21:00:05.230", None]
    write_records(tmp_path / "e", "s-0", ({"a": n, "c": {"d": {"f": value}}} for n, value in enumerate(values)))
    columns = "a INT, c ROW<d ROW<f TIMESTAMP(3)>>, g AS c.d.f, WATERMARK FOR g AS g - INTERVAL '5' SECOND"
    t.sql(scripted_table("e", columns, tmp_path / "e"))
    with running(t.sql("SELECT a FROM e").dropDuplicates(["a"])) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [1_605_992_400.23])
        assert sorted(query.rows()) == [(0,), (1,), (2,), (3,)]


def test_ltz_attributes_are_instants_in_any_session_zone(spark, tmp_path):
    """Replay 32: text without a zone is of the session's zone."""
    write_records(tmp_path / "e", "s-0", [{"c": "2020-11-21 19:00:05.230"}])
    with settings(spark, {"spark.sql.session.timeZone": "Asia/Shanghai"}):
        t = TableEnvironment(spark)
        columns = "c TIMESTAMP_LTZ(3), WATERMARK FOR c AS c"
        t.sql(scripted_table("e", columns, tmp_path / "e"))
        with running(t.sql("SELECT c FROM e").dropDuplicates(["c"])) as query:
            query.wait_for(lambda running_: running_.watermarks[-1:] == [1_605_956_405.23])  # 11:00:05.230Z


def test_a_source_of_sparks_keeps_its_watermark_assigner(t, spark, tmp_path):
    spark.createDataFrame([(1, at(1)), (2, at(30))], "id INT, text STRING").write.parquet(str(tmp_path / "p"))
    t.sql(
        "CREATE TABLE files (id INT, text STRING, ts AS to_timestamp_ntz(text), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'parquet', 'path' = '{tmp_path / 'p'}')"
    )
    plan = text(t.sql(f"EXPLAIN {COUNT.format('files')}"))
    assert "notPushed=[the connector 'parquet' makes no watermarks in its reader]" in plan
    with running(t.sql(COUNT.format("files"))) as query:
        query.wait_for(lambda running_: [tuple(map(seconds, r)) for r in running_.rows()] == [(0, 1)])


def test_an_assigner_takes_the_largest_candidate_and_nulls_move_nothing(t, spark, tmp_path):
    """Replay 25: (rowtime, watermark) in ms; BIGINT candidates are epoch milliseconds."""
    pairs = [(1, 0), (2, 1), (3, 1), (4, 2), (2, 1), (1, 0), (6, None), (9, 8), (8, 7), (10, None), (11, 10)]
    rows = [(ts, at(ts / 1_000), candidate) for ts, candidate in pairs]
    spark.createDataFrame(rows, "id INT, text STRING, wm BIGINT").coalesce(1).write.parquet(str(tmp_path / "p"))
    t.sql(
        "CREATE TABLE pairs (id INT, text STRING, wm BIGINT, ts AS to_timestamp_ntz(text), WATERMARK FOR ts AS wm) "
        f"WITH ('connector' = 'parquet', 'path' = '{tmp_path / 'p'}')"
    )
    with running(t.sql("SELECT id, ts FROM pairs").dropDuplicates(["id", "ts"])) as query:
        query.wait_for(lambda running_: running_.watermarks[-1:] == [0.01])
        assert len(query.rows()) == len({ts for ts, _ in pairs})


def test_an_insert_writes_and_goes_on_from_its_checkpoint(t, spark, tmp_path):
    write_records(tmp_path / "o", "s-0", records(1, 2, 3))
    t.sql(scripted_table("orders", TS, tmp_path / "o"))
    t.sql(f"CREATE TABLE out (n INT, at TIMESTAMP(3)) WITH ('connector' = 'parquet', 'path' = '{tmp_path / 'out'}')")
    t.sql("SET 'execution.trigger' = 'available-now'")
    with pytest.raises(OptionError, match=r"execution\.checkpointing\.dir"):
        t.sql("INSERT INTO out SELECT id, ts FROM orders")
    t.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    for expected in (3, 4):
        again = TableEnvironment(spark, t.catalog, settings=t.settings)
        result = again.sql("INSERT INTO out SELECT id, ts FROM orders")
        assert isinstance(result, StatementResult)
        assert result.query is not None
        assert result.query.awaitTermination(60)
        assert spark.read.parquet(str(tmp_path / "out")).count() == expected
        write_records(tmp_path / "o", "s-0", records(4))
    assert (tmp_path / "checkpoints" / "out").is_dir()


def test_a_window_over_processing_time_closes_by_the_clock(t, tmp_path):
    write_records(tmp_path / "o", "s-0", [{"id": 1}, {"id": 2}])
    t.sql(scripted_table("clicks", "id INT, pt AS PROCTIME()", tmp_path / "o"))
    sql = COUNT.format("clicks").replace("DESCRIPTOR(ts)", "DESCRIPTOR(pt)").replace("'10'", "'2'")
    with running(t.sql(sql)) as query:
        query.wait_for(lambda running_: sum(row[1] for row in running_.rows()) == 2)


# -- batches --


def test_the_same_statement_gives_the_same_rows_as_a_batch(t, tmp_path):
    write_records(tmp_path / "o", "s-0", records(1, 2, 12, 15, 24, 33))
    t.sql(scripted_table("orders", TS, tmp_path / "o", scripted__bounded="true"))
    with running(t.sql(COUNT.format("orders"))) as query:
        query.wait_for(lambda running_: len(running_.rows()) == 4)
        streamed = sorted(query.rows())
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    batch = t.sql(COUNT.format("orders"))
    assert not batch.isStreaming
    assert sorted(tuple(map(seconds, row)) for row in batch.collect()) == streamed


def test_a_batch_of_a_condition_obeys_no_option_of_the_watermark(t, tmp_path):
    write_records(tmp_path / "o", "s-0", records(1, 2, 12))
    options = {"scan.watermark.idle-timeout": "1 min", "scan.watermark.heartbeat-interval": "1 s"}
    t.sql(scripted_table("orders", TS, tmp_path / "o", **options))
    t.sql("CREATE VIEW late_orders AS SELECT * FROM orders WHERE id > 0")
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    for relation in ("(SELECT * FROM orders WHERE id > 0)", "late_orders"):
        assert sorted(row.id for row in t.sql(f"SELECT id FROM {relation}").collect()) == [1, 2]
        assert "filter=[id > 0]" in text(t.sql(f"EXPLAIN SELECT id FROM {relation}"))


# -- plans --


@pytest.mark.classic
def test_explain_shows_what_was_pushed(t, tmp_path):
    options = {"scan.watermark.idle-timeout": "1 min", "scan.watermark.alignment.group": "g"}
    options["scan.watermark.alignment.max-drift"] = "30 s"
    t.sql(scripted_table("orders", TS + ", note STRING", tmp_path, **options))
    hinted = COUNT.format("orders /*+ OPTIONS('scan.watermark.emit.strategy' = 'on-event') */")
    plan = text(t.sql(f"EXPLAIN {hinted}"))
    for part in (
        "watermark=[ts - INTERVAL '5' SECOND]",
        "idletimeout=[60000]",
        "watermarkEmitStrategy=[on-event]",
        "watermarkAlignment=[g, 30000, 1000]",
        "fields=[ts]",
        "aggregates=[COUNT(*)]",
        "== TABLE(TUMBLE(TABLE orders",
    ):
        assert part in plan
    plan_json = json.loads(text(t.sql(f"EXPLAIN JSON_EXECUTION_PLAN {hinted}")))
    ability, aggregates = plan_json["tables"][0]["abilities"]
    assert aggregates == {"type": "AggregatePushDown", "grouping": [], "aggregateCalls": ["COUNT(*)"]}
    assert ability["watermarkParams"] == {
        "emitStrategy": "ON_EVENT",
        "alignGroupName": "g",
        "alignMaxDrift": "PT30S",
        "alignUpdateInterval": "PT1S",
        "sourceIdleTimeout": 60_000,
    }
    assert ability["watermarkExpr"] == "ts - INTERVAL '5' SECOND"


def test_an_unknown_connector_is_refused_with_near_matches(t):
    t.sql(f"CREATE TABLE orders ({TS}) WITH ('connector' = 'kafak')")
    with pytest.raises(OptionError, match=r"table 'orders': there is no connector 'kafak'\. Did you mean 'kafka'"):
        t.sql("SELECT * FROM orders")


def test_no_plan_shows_a_secret(t, monkeypatch):
    monkeypatch.setenv("ORDERS_PASSWORD", "hunter2hunter2")
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter2hunter2";'
    t.sql(
        f"CREATE TABLE orders ({TS}) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json', "
        "'properties.bootstrap.servers' = 'b:9092', 'properties.security.protocol' = 'SASL_SSL', "
        "'properties.sasl.mechanism' = 'PLAIN', 'properties.sasl.username' = 'u', "
        "'properties.sasl.password' = '${env:ORDERS_PASSWORD}')"
    )
    shown = text(t.sql("EXPLAIN SELECT * FROM orders")) + text(t.sql("SHOW CREATE TABLE orders"))
    assert "hunter2" not in shown
    assert "${env:ORDERS_PASSWORD}" in shown
    t.sql("ALTER TABLE orders SET ('properties.sasl.jaas.config' = '" + jaas + "')")
    assert "hunter2" not in text(t.sql("SHOW CREATE TABLE orders"))


def test_options_that_nobody_would_obey_are_refused(t, tmp_path):
    t.sql(
        "CREATE TABLE files (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'parquet', "
        f"'path' = '{tmp_path}', 'scan.watermark.idle-timeout' = '5 s')"
    )
    with pytest.raises(OptionError, match=r"scan\.watermark\.idle-timeout.*'parquet' makes no watermarks"):
        t.sql("SELECT * FROM files")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scan.watermark.alignment.group": "g"}, "max-drift"),
        ({"scan.watermark.alignment.update-interval": "1 s"}, "alignment.group"),
        ({"scan.watermark.idle-timout": "1 s"}, "Did you mean 'scan.watermark.idle-timeout'"),
        ({"watermark.for": "ts"}, "WATERMARK FOR column AS expression"),
    ],
)
def test_wrong_options_are_refused_when_the_table_is_used(t, tmp_path, options, expected):
    t.sql(scripted_table("orders", TS, tmp_path, **options))
    with pytest.raises(OptionError, match=expected):
        t.sql("SELECT * FROM orders")


# -- the catalog --


def test_tables_of_a_directory_survive_the_session(spark, tmp_path):
    first = TableEnvironment(spark, tmp_path / "catalog")
    first.sql(scripted_table("orders", TS, tmp_path))
    first.sql("CREATE VIEW late AS SELECT id FROM orders WHERE id > 3")
    first.sql("ALTER TABLE orders MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE")
    second = TableEnvironment(spark, str(tmp_path / "catalog"))
    assert "INTERVAL '1' MINUTE" in text(second.sql("SHOW CREATE TABLE orders"))
    assert "watermark=[ts - INTERVAL '1' MINUTE]" in text(second.sql("EXPLAIN SELECT * FROM late"))
    result = second.sql("DESCRIBE orders")
    assert isinstance(result, StatementResult)
    assert [row[0] for row in result.rows] == ["id", "ts"]
    second.sql("DROP VIEW late")
    second.sql("DROP TABLE orders")
    assert TableEnvironment(spark, tmp_path / "catalog").sql("SHOW TABLES").rows == ()


def test_what_is_sparks_reaches_spark_as_it_was_written(t, spark):
    assert [tuple(row) for row in t.sql("SELECT 1 AS a, 'x;y' AS b").collect()] == [(1, "x;y")]
    t.sql("SET 'spark.sql.shuffle.partitions' = '1'")
    assert spark.conf.get("spark.sql.shuffle.partitions") == "1"
    with pytest.raises(OptionError, match=r"Did you mean 'execution\.runtime-mode'"):
        t.sql("SET 'execution.runtime-mod' = 'batch'")


def test_an_unknown_column_is_underlined_with_near_matches(t, tmp_path):
    t.sql(scripted_table("orders", TS + ", price INT", tmp_path))
    with pytest.raises(SqlError, match=r"line 1, column 12: there is no column 'prise'\. Did you mean 'price'"):
        t.sql("SELECT id, prise FROM orders")


def test_two_statements_at_once_are_refused(t):
    with pytest.raises(SqlError, match="line 1, column 9"):
        t.sql("SELECT 1; SELECT 2")
