"""OVER of SQL tables on real Spark: the same rows as a stream and as a batch, what EXPLAIN says, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import TINY_QUERIES, settings
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = pytest.mark.spark

COLUMNS = "id INT, k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
ROWS = [
    (1, "a", 5, 0),
    (2, "b", None, 1),
    (3, "a", 7, 1),
    (4, "a", 1, 1),
    (5, None, 2, 4),
    (6, "a", 9, 12),
    (7, "b", 3, 13),
]
FRAME = "PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"


@pytest.fixture
def t(spark, tmp_path):
    records = [{"id": i, "k": k, "v": v, "ts": f"2026-03-08 00:00:{second:02d}"} for i, k, v, second in ROWS]
    write_records(tmp_path / "t", "s-0", records)
    with settings(spark, TINY_QUERIES):
        environment = TableEnvironment(spark)
        environment.sql(scripted_table("t", COLUMNS, tmp_path / "t", scripted__bounded="true"))
        yield environment


def streamed(frame: Any, checkpoint: Any) -> list[tuple[Any, ...]]:
    found: list[Any] = []
    query = (
        frame.writeStream.foreachBatch(lambda df, _: found.extend(df.collect()))
        .trigger(availableNow=True)
        .option("checkpointLocation", str(checkpoint))
        .start()
    )
    assert query.awaitTermination(120)
    return sorted((tuple(row) for row in found), key=repr)


def test_a_statement_gives_the_same_rows_as_a_stream_and_as_a_batch(t, tmp_path):
    sql = (
        f"SELECT id, SUM(v) OVER w / COUNT(*) OVER w AS m, LAST_VALUE(v) OVER w AS l FROM t x WHERE x.id <> 4 "
        f"WINDOW w AS ({FRAME})"
    )
    stream = streamed(t.sql(sql), tmp_path / "checkpoint")
    assert stream == [(1, 5.0, 5), (2, None, None), (3, 6.0, 7), (5, 2.0, 2), (6, 9.0, 9), (7, 3.0, 3)]
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert sorted((tuple(row) for row in t.sql(sql).collect()), key=repr) == stream


def test_the_first_rows_of_each_key_are_numbered_by_time(t, tmp_path):
    sql = (
        "SELECT * FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t WHERE id <> 3) "
        "WHERE rn <= 2"
    )
    assert streamed(t.sql(sql), tmp_path / "checkpoint") == [(1, 1), (2, 1), (4, 2), (5, 1), (7, 2)]


def test_explain_shows_the_operator_above_its_table(t):
    shown = str(t.sql(f"EXPLAIN SELECT id, SUM(v) OVER ({FRAME}) AS s FROM t WHERE id > 1"))
    assert (
        "OverAggregate(partitionBy=[k], orderBy=[ts ASC], window=[RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND "
        "CURRENT ROW], where=[id > 1], select=[SUM(v) AS __tidemark_over_1])\n+- "
    ) in shown


def test_what_the_operator_refuses_is_an_error_of_the_statement(t):
    with pytest.raises(SqlError, match=r"STDDEV\(v\) OVER .*: STDDEV of '__tidemark_over_1' is no aggregate of OVER"):
        t.sql(f"SELECT STDDEV(v) OVER ({FRAME}) AS s FROM t")
    with pytest.raises(SqlError, match="Spark refuses 'SUM"):
        t.sql(f"SELECT SUM(nothing) OVER ({FRAME}) AS s FROM t")
