"""What a newcomer gets wrong, and the sentence that follows."""

from __future__ import annotations

import pytest

from datasources import keep_time_attribute, over, read_stream, register, temporal_join, with_source_watermark
from datasources.errors import OptionError, QueryError, SchemaError, SqlError
from datasources.spark.operators import session_windows
from datasources.spark.operators.buckets.partition_keys import require_keys
from datasources.sql import TableEnvironment
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = pytest.mark.spark

TS = "id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


@pytest.fixture
def t(spark, tmp_path) -> TableEnvironment:
    write_records(tmp_path / "o", "s-0", [{"id": 1, "ts": "2024-01-01 00:00:00"}])
    environment = TableEnvironment(spark)
    environment.sql(scripted_table("orders", TS, tmp_path / "o"))
    return environment


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT * FROM ordrs", "line 1, column 15: there is no table or view 'ordrs'. Did you mean 'orders'?"),
        ("SELECT o.id FROM orders o JOIN nothing x ON o.id = x.id", "there is no table or view 'nothing'. This catalog has"),
        (
            "SELECT count(*) FROM TABLE(TUMBLE(TABLE ordrs, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start",
            "there is no table or view 'ordrs'. Did you mean 'orders'?",
        ),
        (
            "SELECT count(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(tss), INTERVAL '1' MINUTE)) GROUP BY window_end",
            "there is no column 'tss'. Did you mean 'ts'?",
        ),
        (
            "SELECT count(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(x), INTERVAL '1' MINUTE)) GROUP BY window_end",
            "there is no column 'x'. Columns: id, ts.",
        ),
        ("DESCRIBE ordrs", "there is no table or view 'ordrs'. Did you mean 'orders'?"),
        ("EXPLAIN SELECT * FROM ordrs", "there is no table or view 'ordrs'. Did you mean 'orders'?"),
        ("INSERT INTO ordrs SELECT 1", "so it cannot be written by INSERT. Did you mean 'orders'? Declare the sink"),
        ("INSERT INTO nothing SELECT 1", "so it cannot be written by INSERT. Declare the sink"),
        (
            "SELECT * FROM orders AS o JOIN ordrs FOR SYSTEM_TIME AS OF o.ts AS r ON o.id = r.id",
            "and 'ordrs' is none. Join the table itself. Did you mean 'orders'?",
        ),
    ],
)  # fmt: skip
def test_an_unknown_name_is_shown_with_those_that_there_are(t, query, error):
    with pytest.raises(SqlError) as raised:
        t.sql(query)
    assert error in raised.value.message


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("'connector' = 'kafka', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'", "table 'broken': "),
        ("'connector' = 'scripted'", "table 'broken': option 'path' is required"),
        ("'connector' = 'parquet'", "table 'broken': option 'path' is required: the directory of its parquet files"),
        ("'connector' = 'scripted', 'path' = '/x', 'pth' = 'y'", "table 'broken': unknown option 'pth'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("columns", ["id INT", TS])
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_an_error_of_an_option_names_its_table(t, options, error, columns, mode):
    t.sql(f"SET 'execution.runtime-mode' = '{mode}'")
    t.sql(f"CREATE TABLE broken ({columns}) WITH ({options})")
    with pytest.raises(OptionError) as raised:
        t.sql("SELECT * FROM broken")
    assert raised.value.message.startswith(error)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sink BY NAME SELECT id FROM orders",
        "WITH x AS (SELECT 1 AS id) INSERT INTO sink SELECT id FROM x",
        "FROM orders INSERT INTO sink SELECT id",
        "TRUNCATE TABLE sink",
    ],
)
def test_a_spark_statement_on_a_catalog_table_is_a_clear_error(t, tmp_path, statement):
    t.sql(f"CREATE TABLE sink (id INT) WITH ('connector' = 'parquet', 'path' = '{tmp_path / 'sink'}')")
    with pytest.raises(SqlError) as raised:
        t.sql(statement)
    assert "'sink' is of this catalog" in raised.value.message
    assert "INSERT INTO table [(columns)] query" in raised.value.message


def test_a_sink_of_files_without_a_path_is_an_error_that_names_it(t):
    t.sql("CREATE TABLE sink (id INT) WITH ('connector' = 'parquet')")
    with pytest.raises(OptionError, match="table 'sink': option 'path' is required"):
        t.sql("INSERT INTO sink SELECT id FROM orders")


def test_a_missing_format_is_an_error_that_names_the_table(t):
    t.sql(
        f"CREATE TABLE broken ({TS}) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'b:1', 'topic' = 'x')"
    )
    with pytest.raises(SchemaError) as raised:
        t.sql("SELECT * FROM broken")
    assert raised.value.message.startswith("table 'broken': the format 'raw' gives one column")
    assert "use 'format' = 'json'" in raised.value.message


def options(path: object) -> dict[str, object]:
    return {"path": str(path), "watermark.for": "ts", "watermark.as": "ts - INTERVAL '5' SECOND"}


def test_one_time_attribute_may_be_named_and_attaching_twice_is_an_error(t, spark, tmp_path):
    df = read_stream(spark, "tidemark-scripted", options(tmp_path / "o"), "id INT, ts TIMESTAMP", time_attributes="ts")
    assert df.schema["ts"].metadata["spark.watermarkDelayMs"] == 5_000
    with pytest.raises(QueryError, match="this stream is attached already"):
        with_source_watermark(df)


def test_a_value_that_is_none_is_an_error_that_names_the_option(t, spark, tmp_path):
    with pytest.raises(OptionError) as raised:
        read_stream(spark, "tidemark-scripted", {**options(tmp_path / "o"), "scan.columns": None}, "ts TIMESTAMP")
    assert raised.value.message == "option 'scan.columns' is None: leave it out, or give it a value."
    with pytest.raises(OptionError, match="Did you mean 'tidemark-kafka'"):
        read_stream(spark, "kafka", {})
    for wrong in ({"source_format": None}, {"options": None}, {"time_attributes": None}):
        given = {"source_format": "tidemark-scripted", "options": options(tmp_path / "o"), **wrong}
        with pytest.raises(OptionError, match=f"{next(iter(wrong))} is None"):
            read_stream(spark, **given)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="names of columns"):
        read_stream(spark, "tidemark-scripted", options(tmp_path / "o"), "ts TIMESTAMP", time_attributes=[None])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "call",
    [
        lambda: register(None),
        lambda: TableEnvironment(None),
        lambda: read_stream(None, "tidemark-scripted", {"path": "x"}),
        lambda: with_source_watermark(None),
        lambda: keep_time_attribute(None, "ts"),
        lambda: over(None, {"n": "COUNT(*)"}, keys=["k"], attribute="ts"),
        lambda: session_windows(None, keys=["k"], attribute="ts", gap_ms=1),
        lambda: temporal_join(None, None, on=["k"], as_of="ts"),
    ],
)
def test_none_instead_of_a_session_or_a_dataframe_is_a_clear_error(call):
    with pytest.raises(QueryError, match="None was given"):
        call()


@pytest.mark.parametrize("statement", [None, 3, b"SELECT 1"])
def test_what_is_no_text_is_no_statement(t, statement):
    with pytest.raises(SqlError, match=f"a statement is a text, and this is {type(statement).__name__}"):
        t.sql(statement)


def test_one_key_of_an_operator_may_be_given_by_its_name(spark):
    df = spark.createDataFrame([(1, 2, 3)], "a INT, b INT, ab INT").selectExpr("*", "current_timestamp() AS ts")
    assert require_keys(df.schema, "ab") == ("ab",)
