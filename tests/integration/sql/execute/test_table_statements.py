"""Statements about tables on a real Spark: AS SELECT, ALTER, SHOW COLUMNS, USE, EXPLAIN with details, both dialects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import OptionError, SqlError
from datasources.sql import StatementResult, TableEnvironment
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

TS = "id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


@pytest.fixture
def t(spark, tmp_path) -> TableEnvironment:
    write_records(tmp_path / "o", "s-0", [{"id": n, "ts": f"2020-01-01 00:00:0{n}"} for n in (1, 2)])
    environment = TableEnvironment(spark)
    environment.sql(scripted_table("orders", TS, tmp_path / "o", scripted__bounded="true"))
    environment.sql("SET 'execution.trigger' = 'available-now'")
    environment.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    return environment


def done(result: Any) -> StatementResult:
    assert isinstance(result, StatementResult)
    if result.query is not None:
        assert result.query.awaitTermination(60)
    return result


def described(t: TableEnvironment, name: str) -> list[tuple[Any, ...]]:
    return [(row[0], row[1], row[5]) for row in t.execute(f"DESCRIBE {name}").rows]


def in_files(path: Path, format_name: str = "json") -> str:
    return f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_name}')"


# -- AS SELECT --


def test_a_table_is_created_from_a_query_and_filled(t, tmp_path):
    statement = (
        f"CREATE TABLE out {in_files(tmp_path / 'out')} AS SELECT id + 1 AS n, ts, CAST(id AS STRING) AS s FROM orders"
    )
    result = done(t.sql(statement))
    assert (result.kind, result.columns, result.rows[0][2]) == ("CREATE TABLE", ("query", "name", "target"), "out")
    assert t.queries == (result.query,)
    assert described(t, "out") == [("n", "INT", ""), ("ts", "TIMESTAMP(6)", ""), ("s", "STRING", "")]
    assert "SELECT" not in str(t.execute("SHOW CREATE TABLE out"))
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert sorted((row.n, row.s) for row in t.query("SELECT * FROM out").collect()) == [(2, "1"), (3, "2")]


def test_columns_of_the_statement_come_first_and_give_types(t, tmp_path):
    done(
        t.sql(
            "CREATE TABLE out (note STRING, id BIGINT COMMENT 'wide', twice AS id * 2, WATERMARK FOR ts AS ts) "
            f"PARTITIONED BY (day) {in_files(tmp_path / 'out')} "
            "AS SELECT ts, id, 'd' AS day FROM orders"
        )
    )
    assert described(t, "out") == [
        ("note", "STRING", ""),
        ("twice", "BIGINT", ""),
        ("ts", "TIMESTAMP(6) *ROWTIME*", "ts"),
        ("id", "BIGINT", ""),
        ("day", "STRING", ""),
    ]
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(tuple(row) for row in t.query("SELECT note, id, twice, day FROM out").collect()) == [
        (None, 1, 2, "d"),
        (None, 2, 4, "d"),
    ]


def test_the_columns_of_the_query_may_have_another_order(t, tmp_path):
    done(t.sql(f"CREATE TABLE out (s, id) {in_files(tmp_path / 'out')} AS SELECT id, 'x' AS s FROM orders"))
    assert [row[0] for row in described(t, "out")] == ["s", "id"]
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(tuple(row) for row in t.query("SELECT * FROM out").collect()) == [("x", 1), ("x", 2)]


def test_types_are_flinks_in_the_dialect(t, tmp_path):
    t.sql("SET 'table.sql-dialect' = 'flink'")
    done(
        t.sql(
            f"CREATE TABLE out {in_files(tmp_path / 'out')} AS "
            "SELECT id / 2 AS half, 'abc' AS c, CAST(ts AS TIMESTAMP(3)) AS ts FROM orders"
        )
    )
    assert described(t, "out") == [("half", "INT", ""), ("c", "CHAR(3)", ""), ("ts", "TIMESTAMP(3)", "")]


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    [
        ("CREATE TABLE out WITH ('connector' = 'parquet', 'path' = '/x') AS SELECT id FROM orders", OptionError, "nowhere to keep"),
        ("CREATE TABLE out WITH ('connector' = 'mysql-cdc') AS SELECT id FROM orders", SqlError, "reads and does not write"),
        ("CREATE TABLE out WITH ('connector' = 'print') AS SELECT id AS a, ts AS A FROM orders", SqlError, "two columns of the query"),
        ("CREATE TABLE out WITH ('connector' = 'print') AS SELECT NULL AS a FROM orders", SqlError, "column 'a' of the query is void"),
        ("CREATE TABLE out (a, b) WITH ('connector' = 'print') AS SELECT id AS a FROM orders", SqlError, "no column 'b'"),
        ("CREATE TABLE out (a) WITH ('connector' = 'print') AS SELECT id AS a, ts FROM orders", SqlError, "leaves out ts"),
        ("CREATE TABLE out (a AS 1) WITH ('connector' = 'print') AS SELECT id AS a FROM orders", SqlError, "this one is not stored"),
        ("CREATE TABLE out (id STRING) WITH ('connector' = 'print') AS SELECT id FROM orders", SqlError, "is STRING, and the query gives"),
    ],
)  # fmt: skip
def test_a_table_whose_insert_cannot_start_is_not_left_behind(t, statement, error, message):
    t.sql("RESET 'execution.checkpointing.dir'")
    with pytest.raises(error, match=message):
        t.sql(statement)
    assert [row[0] for row in t.execute("SHOW TABLES").rows] == ["orders"]
    assert t.queries == ()


def test_a_table_that_exists_stays_as_it_is(t):
    t.sql("CREATE TABLE out (a INT) WITH ('connector' = 'print')")
    with pytest.raises(SqlError, match="exists already|already"):
        t.sql("CREATE TABLE out WITH ('connector' = 'print') AS SELECT id FROM orders")
    assert (
        t.execute("CREATE TABLE IF NOT EXISTS out WITH ('connector' = 'print') AS SELECT id FROM orders").query is None
    )
    assert [row[0] for row in described(t, "out")] == ["a"]
    assert t.queries == ()


def test_a_check_plans_the_query_and_starts_nothing(t):
    assert t.check("CREATE TABLE out WITH ('connector' = 'blackhole') AS SELECT id FROM orders") == ()
    assert [row[0] for row in described(t, "out")] == ["id"]
    assert t.queries == ()
    with pytest.raises(SqlError, match="no column 'idd'"):
        t.check("CREATE TABLE other WITH ('connector' = 'blackhole') AS SELECT idd FROM orders")


# -- ALTER --


def test_what_was_altered_is_checked_like_a_new_table(t):
    t.sql("CREATE TABLE a (id INT) WITH ('connector' = 'kafka')")
    t.sql(
        "ALTER TABLE a ADD (text STRING AFTER id, ts AS to_timestamp_ntz(text) AFTER text, PRIMARY KEY (id) NOT ENFORCED, "
        "WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)"
    )
    assert described(t, "a") == [
        ("id", "INT", ""),
        ("text", "STRING", ""),
        ("ts", "TIMESTAMP(6) *ROWTIME*", "ts - INTERVAL '1' HOUR"),
    ]
    with pytest.raises(SqlError, match="is STRING: a time attribute is TIMESTAMP"):
        t.sql("ALTER TABLE a MODIFY ts STRING")
    with pytest.raises(SqlError, match="there is no column 'nothing'"):
        t.sql("ALTER TABLE a ADD b AS nothing + 1")
    t.sql("ALTER TABLE a DROP WATERMARK")
    t.sql("ALTER TABLE a DROP (ts, text)")
    t.sql("ALTER TABLE a RENAME id TO order_id")
    assert described(t, "a") == [("order_id", "INT", "")]
    assert t.execute("DESCRIBE a").rows[0][3] == "PRI(order_id)"


def test_expressions_of_a_table_are_of_one_dialect(t):
    t.sql("CREATE TABLE a (id INT, b AS id / 2) WITH ('connector' = 'kafka')")
    t.sql("SET 'table.sql-dialect' = 'flink'")
    with pytest.raises(SqlError, match="was created in the dialect 'spark'"):
        t.sql("ALTER TABLE a ADD c AS id / 2")
    t.sql("ALTER TABLE a ADD c INT")


# -- SHOW, USE, EXPLAIN --


def test_columns_are_shown_like_a_pattern(t, spark):
    assert [row[0] for row in t.execute("SHOW COLUMNS FROM orders").rows] == ["id", "ts"]
    assert [row[0] for row in t.execute("SHOW COLUMNS IN orders LIKE 'I_'").rows] == ["id"]
    assert [row[0] for row in t.execute("SHOW COLUMNS FROM orders NOT LIKE '%d'").rows] == ["ts"]
    t.sql("CREATE VIEW v AS SELECT id AS only FROM orders")
    assert t.execute("SHOW COLUMNS FROM v").rows == (("only", "int"),)
    assert "CREATE VIEW v AS SELECT id AS only FROM orders" in str(t.execute("SHOW CREATE VIEW v"))
    spark.range(1).createOrReplaceTempView("of_spark")
    assert t.execute("SHOW COLUMNS IN of_spark").rows == (("id",),)


def test_the_names_of_flinks_scripts_are_accepted_in_the_dialect(t):
    assert t.execute("SHOW CURRENT CATALOG").rows == (("default_catalog",),)
    assert t.execute("SHOW CATALOGS").columns == ("catalog",)
    t.sql("SET 'table.sql-dialect' = 'flink'")
    assert t.execute("SHOW CATALOGS").columns == ("catalog name",)
    assert t.execute("SHOW DATABASES").rows == (("default_database",),)
    assert t.execute("SHOW CURRENT DATABASE").columns == ("current database name",)
    for name in ("CATALOG default_catalog", "default_database", "default_catalog.default_database"):
        assert t.execute(f"USE {name}").kind == "USE"
    for name in ("CATALOG hive", "shop", "hive.default_database"):
        with pytest.raises(SqlError, match="there is one"):
            t.execute(f"USE {name}")


def test_explain_shows_the_kinds_of_rows(t):
    mode = "EXPLAIN CHANGELOG_MODE SELECT {}"
    assert "changelogMode=[I]\n" in str(t.execute(mode.format("id FROM orders")))
    assert "changelogMode=[I,UB,UA,D]\n" in str(t.execute(mode.format("id, max(ts) FROM orders GROUP BY id")))
    result = t.execute("EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN SELECT id FROM orders")
    assert json.loads(str(result))["changelogMode"] == ["I"]
    assert any("estimates no cost" in hint for hint in result.hints)
    assert "changelogMode" not in str(t.execute("EXPLAIN SELECT id FROM orders"))


def test_words_of_flink_are_refused_with_the_reason(t):
    t.sql("SET 'table.sql-dialect' = 'flink'")
    for statement, message in (
        ("CREATE FUNCTION f AS 'com.example.Upper' LANGUAGE JAVA", "LANGUAGE PYTHON"),
        ("ADD JAR '/x.jar'", "do not run in Spark"),
        ("LOAD MODULE hive", "no modules"),
    ):
        with pytest.raises(SqlError, match=message):
            t.execute(statement)
