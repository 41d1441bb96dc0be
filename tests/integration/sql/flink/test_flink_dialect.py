"""The dialect `flink` in a session: statements, definitions, views, scripts, and both dialects beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from datasources.sql.catalog import open_catalog
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

_SET_FLINK = "SET 'table.sql-dialect' = 'flink'"
_SET_SPARK = "SET 'table.sql-dialect' = 'spark'"


@pytest.fixture
def flink(spark: Any) -> TableEnvironment:
    return TableEnvironment(spark, settings={"table.sql-dialect": "flink"})


def _first(environment: TableEnvironment, query: str) -> tuple[Any, ...]:
    return tuple(environment.query(query).collect()[0])


def test_each_environment_has_its_dialect(spark: Any, flink: TableEnvironment) -> None:
    query = "SELECT 5 / 2 AS a"
    assert _first(flink, query) == (2,)
    assert _first(TableEnvironment(spark), query) == (2.5,)


def test_a_script_may_change_the_dialect_and_strings_end_as_flink_ends_them(spark: Any) -> None:
    environment = TableEnvironment(spark)
    script = rf"SELECT 5 / 2 AS a; {_SET_FLINK}; SELECT 5 / 2, '\', 'it''s'; {_SET_SPARK}; SELECT 'a\'b'"
    found = [tuple(result.collect()[0]) for _, result in environment.run_script(script) if hasattr(result, "collect")]
    assert found == [(2.5,), (2, "\\", "it's"), ("a'b",)]


def test_definitions_keep_the_dialect_they_were_created_in(spark: Any, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    write_records(rows, "s-0", [{"id": 7, "name": r"a\b", "ts": "2026-03-02 09:00:01"}])
    catalog = tmp_path / "catalog"
    first = TableEnvironment(spark, catalog, settings={"table.sql-dialect": "flink"})
    statement = (
        "CREATE TABLE t (id INT, name STRING, ts TIMESTAMP(3), half AS id / 2, sign AS CASE WHEN name LIKE 'x\\_' THEN "
        "'no' ELSE name || '\\' END, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'scripted', "
        f"'path' = '{rows}')"
    )
    first.execute(statement)
    first.execute("CREATE VIEW v AS SELECT id / 2 AS h, half / 2 AS q, sign FROM t")
    second = TableEnvironment(spark, catalog, settings={"execution.runtime-mode": "batch"})
    assert _first(second, "SELECT half, sign, id / 2 FROM t") == (3, "a\\b\\", 3.5)
    assert _first(second, "SELECT h, q, h / 2 FROM v") == (3, 1, 1.5)
    shown = str(first.execute("SHOW CREATE TABLE t"))
    assert "half AS id / 2" in shown
    assert r"name LIKE 'x\_' THEN 'no' ELSE name || '\' END" in shown
    third = TableEnvironment(spark, settings={"table.sql-dialect": "flink", "execution.runtime-mode": "batch"})
    third.execute(shown)
    assert _first(third, "SELECT half, sign FROM t") == (3, "a\\b\\")
    described = str(first.execute("DESCRIBE t"))
    assert "AS id / 2" in described


def test_a_view_of_spark_s_dialect_is_read_in_flink_s_and_back(spark: Any) -> None:
    environment = TableEnvironment(spark)
    environment.execute("CREATE VIEW numbers AS SELECT 5 / 2 AS half, 7 AS n, timestamp_ntz '2026-01-01' AS at")
    environment.execute(_SET_FLINK)
    assert _first(environment, "SELECT half, n / 2 AS m, CAST(at AS STRING) AS at FROM numbers") == (
        2.5,
        3,
        "2026-01-01 00:00:00.000000",
    )


def test_like_does_not_copy_expressions_of_the_other_dialect(spark: Any, tmp_path: Path) -> None:
    environment = TableEnvironment(spark)
    environment.execute(f"CREATE TABLE a (i INT, h AS i / 2) WITH ('connector' = 'scripted', 'path' = '{tmp_path}')")
    environment.execute(_SET_FLINK)
    with pytest.raises(SqlError, match="created in the dialect 'spark'"):
        environment.execute("CREATE TABLE b WITH ('connector' = 'scripted') LIKE a")


def test_names_are_those_of_flink(flink: TableEnvironment) -> None:
    frame = flink.query("SELECT 1 + 1, UPPER('a'), x AS `My Name` FROM (VALUES (1, 'a')) AS t (x, y)")
    assert frame.columns == ["EXPR$0", "EXPR$1", "My Name"]
    with pytest.raises(SqlError, match="Names are case-sensitive in Flink SQL: it is 'x'"):
        flink.query("SELECT X FROM (VALUES (1, 'a')) AS t (x, y)")


def test_session_windows_through_views_are_those_of_the_table(spark: Any, tmp_path: Path) -> None:
    rows = [(1, "a", 1), (2, "no", 2), (3, "b", 3), (4, "a", 4), (20, "a", 5), (21, "no", 6), (59, "z", 9)]
    rows_with_times = [{"k": k, "v": v, "ts": f"2026-03-02 09:00:{at:02d}"} for at, k, v in rows]
    write_records(tmp_path / "t", "s-0", [*rows_with_times, {"k": "z", "v": 8, "ts": "2026-03-02 09:05:00"}])
    environment = TableEnvironment(spark)
    columns = "k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    environment.execute(scripted_table("t", columns, tmp_path / "t", scripted__bounded="true"))
    environment.execute("CREATE VIEW w AS SELECT v AS x, k, ts FROM (SELECT * FROM t WHERE k <> 'no')")
    query = "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM w WHERE x < 9 GROUP BY k, SESSION(ts, INTERVAL '5' SECOND)"
    found = _streamed(environment.query(query))
    assert found == [("a", 1, 5), ("a", 2, 5), ("b", 1, 3), ("z", 1, 8)]


def _streamed(frame: Any) -> list[tuple[Any, ...]]:
    found: list[Any] = []
    query = frame.writeStream.foreachBatch(lambda df, _: found.extend(df.collect())).trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    return sorted(map(tuple, found))


def test_files_are_looked_up_as_they_are_now(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "side").mkdir()
    (tmp_path / "side" / "one.json").write_text('{"key": 1, "value": "one"}\n{"key": 2, "value": "two"}\n')
    write_records(tmp_path / "orders", "s-0", [{"id": n, "ts": f"2026-03-02 09:00:0{n}"} for n in range(6)])
    environment = TableEnvironment(spark, settings={"table.sql-dialect": "flink"})
    environment.execute(
        scripted_table("orders", "id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", tmp_path / "orders")
    )
    environment.execute(
        f"CREATE TABLE side (`key` BIGINT, `value` STRING) WITH ('connector' = 'json', 'path' = '{tmp_path / 'side'}')"
    )
    frame = environment.query(
        "SELECT B.id, S.`value` FROM (SELECT *, PROCTIME() AS p_time FROM orders) B "
        "JOIN side FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.id, 3) = S.key"
    )
    assert _streamed(frame) == [(1, "one"), (2, "two"), (4, "one"), (5, "two")]
    with pytest.raises(SqlError, match="this is no processing time"):
        environment.query("SELECT * FROM orders AS o JOIN side FOR SYSTEM_TIME AS OF o.ts AS s ON o.id = s.key")


def test_explain_and_check_name_what_differs(spark: Any, flink: TableEnvironment) -> None:
    environment = TableEnvironment(spark)
    query = "SELECT 5 / 2 AS a, GREATEST(1, NULL) AS g"
    hints = environment.execute(f"EXPLAIN {query}").hints
    assert [each for each in hints if "`5 / 2`" in each]
    assert [each for each in hints if "GREATEST" in each]
    assert environment.check(query) == tuple(each for each in hints if "dialect" in each or "Flink" in each)
    assert flink.check(query) == ()
    assert flink.execute(f"EXPLAIN {query}").hints == ()


def test_stored_text_of_the_dialect_is_marked(tmp_path: Path, spark: Any) -> None:
    environment = TableEnvironment(spark, tmp_path, settings={"table.sql-dialect": "flink"})
    environment.execute("CREATE VIEW one AS SELECT 1 AS x")
    stored = [text for path in tmp_path.rglob("*") if path.is_file() and "sql-dialect" in (text := path.read_text())]
    assert len(stored) == 1
    assert open_catalog(tmp_path).find("one").dialect == "flink"  # type: ignore[union-attr]
