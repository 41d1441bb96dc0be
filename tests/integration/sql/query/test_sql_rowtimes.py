"""Rowtimes that a table computes: the same in the reader, in a WatermarkAssigner and in a batch, in every zone."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import running, settings
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

COLUMNS = (
    "id INT, s STRING, ms BIGINT, w AS TO_TIMESTAMP(s), z AS TO_TIMESTAMP_LTZ(ms, 3), "
    "WATERMARK FOR {0} AS {0} - INTERVAL '5' SECOND"
)
DAYS = (
    "SELECT CAST(window_start AS STRING) AS day, count(*) AS n "
    "FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(w), INTERVAL '1' DAY)) GROUP BY window_start, window_end"
)
ROWS = [
    {"id": 1, "s": "2024-03-10 02:30:00", "ms": 1_710_000_000_000},
    {"id": 2, "s": "2024-03-10 23:59:59.9999", "ms": 1_710_000_000_001},
    {"id": 3, "s": "2024-03-10T10:00:00", "ms": None},
    {"id": 4, "s": None, "ms": 2**62},
    {"id": 5, "s": "2024-03-12 00:00:10", "ms": 1_710_000_060_000},
]
VALUES = "SELECT id, CAST(w AS STRING) AS w, unix_millis(z) AS z FROM {}"
ANSWER = [
    (1, "2024-03-10 02:30:00", 1_710_000_000_000),
    (2, "2024-03-10 23:59:59.999", 1_710_000_000_001),
    (3, None, None),
    (4, None, None),
    (5, "2024-03-12 00:00:10", 1_710_000_060_000),
]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_a_rowtime_from_text_or_number_is_the_same_on_every_way(spark, tmp_path, zone):
    with settings(spark, {"spark.sql.session.timeZone": zone}):
        t = TableEnvironment(spark)
        write_records(tmp_path / "e", "s-0", ROWS)
        t.sql(scripted_table("e", COLUMNS.format("w"), tmp_path / "e"))
        t.sql(scripted_table("m", COLUMNS.format("z"), tmp_path / "e"))
        spark.createDataFrame([tuple(r.values()) for r in ROWS], "id INT, s STRING, ms BIGINT").coalesce(
            1
        ).write.parquet(str(tmp_path / "p"))
        t.sql(f"CREATE TABLE f ({COLUMNS.format('w')}) WITH ('connector' = 'parquet', 'path' = '{tmp_path / 'p'}')")
        for name, is_pushed in {"e": True, "m": True, "f": False}.items():
            assert ("WatermarkAssigner" not in str(t.sql(f"EXPLAIN SELECT * FROM {name}"))) == is_pushed
        for name in ("e", "f"):
            with running(t.sql(DAYS.format(name))) as query:
                query.wait_for(lambda running_: running_.rows() == [("2024-03-10 00:00:00", 2)])
        with running(t.sql("SELECT z, id FROM m").dropDuplicates(["z", "id"])) as query:
            query.wait_for(lambda running_: running_.watermarks[-1:] == [1_710_000_055])
        t.sql("SET 'execution.runtime-mode' = 'batch'")
        for name in ("e", "f", "m"):
            assert sorted(tuple(r) for r in t.sql(VALUES.format(name)).collect()) == ANSWER
        found = t.sql("SELECT count_if(TO_TIMESTAMP(s) <=> w AND TO_TIMESTAMP_LTZ(ms, 3) <=> z) FROM e").collect()
        assert found[0][0] == len(ROWS)


def test_casts_and_literals_of_a_table_mean_what_they_mean_in_its_queries(spark, tmp_path):
    t = TableEnvironment(spark)
    write_records(tmp_path / "e", "s-0", [{"s": "2024-03-10 02:30:00.123456"}])
    columns = (
        "s STRING, a AS CAST(s AS TIMESTAMP), b AS CAST(s AS TIMESTAMP(3)), c AS CAST(s AS TIMESTAMP_LTZ(0)), "
        "d AS TIMESTAMP '2024-03-10 02:30:00', e AS TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    )
    t.sql(scripted_table("e", columns, tmp_path / "e"))
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    frame = t.sql("SELECT * FROM e")
    kinds = {f.name: f.dataType.simpleString() for f in frame.schema}
    assert kinds == dict.fromkeys("abde", "timestamp_ntz") | {"s": "string", "c": "timestamp"}
    (row,) = frame.selectExpr("*", "CAST(b AS STRING) AS b3", "unix_micros(c) % 1000000 AS c0").collect()
    assert (row.b3, row.c0, str(row.e)) == ("2024-03-10 02:30:00.123", 0, "2024-03-10 02:30:00.123000")


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("TO_TIMESTAMP(ms)", "TO_TIMESTAMP takes text, and this is BIGINT. TO_TIMESTAMP_LTZ(ms, 3) reads milliseconds"),
        ("TO_TIMESTAMP_LTZ(s, 3)", "TO_TIMESTAMP_LTZ(..., 3) takes a number, and this is STRING"),
        ("TO_TIMESTAMP_LTZ(ms, 9)", "TO_TIMESTAMP_LTZ counts in 0, 3 or 6 digits, not 9"),
        ("TO_TIMESTAMP(s, 'EEE')", "the format holds 'EEE', which is not read here"),
        ("TO_TIMESTAMP(s, s)", "the format of TO_TIMESTAMP has to be a literal"),
        ("TO_TIMESTAMP_LTZ(s, 'yyyy', 'Mars/Base')", "there is no time zone 'Mars/Base'"),
        ("TO_TIMESTAMP()", "TO_TIMESTAMP has 0 arguments"),
        ("to_timestamp_ltz(ms, s, s, s)", "TO_TIMESTAMP_LTZ has 4 arguments"),
    ],
)
def test_a_call_without_meaning_is_an_error_of_the_statement(spark, tmp_path, expression, error):
    t = TableEnvironment(spark)
    with pytest.raises(SqlError) as raised:
        t.sql(scripted_table("e", f"s STRING, ms BIGINT, c AS {expression}", tmp_path / "e"))
    assert error in raised.value.message


@pytest.mark.parametrize(
    ("target", "column", "kind"),
    [("sink", "n", "INT"), ("sink (note, n)", "n", "INT"), ("sink (day, note)", "day", "DATE")],
)
def test_an_insert_that_would_cast_in_silence_is_refused_when_it_is_planned(spark, tmp_path, target, column, kind):
    t = TableEnvironment(spark)
    write_records(tmp_path / "e", "s-0", [{"s": "abc", "ms": 1}])
    t.sql(scripted_table("e", "s STRING, ms BIGINT", tmp_path / "e"))
    t.sql("CREATE TABLE sink (n INT, note STRING, day DATE) WITH ('connector' = 'blackhole')")
    query = {"sink": "s, s, CAST(NULL AS DATE)", "sink (note, n)": "s, ms", "sink (day, note)": "s, s"}[target]
    given = "ms', which is BIGINT" if target == "sink (note, n)" else "s', which is STRING"
    with pytest.raises(SqlError) as raised:
        t.sql(f"INSERT INTO {target} SELECT {query} FROM e")
    assert f"column '{column}' of table 'sink' is {kind}, and the query gives '{given}" in raised.value.message
    assert f"Write CAST(`{given[: given.index(chr(39))]}` AS {kind})" in raised.value.message


def test_an_insert_takes_what_fits_and_null(spark, tmp_path):
    t = TableEnvironment(spark)
    t.sql(f"CREATE TABLE sink (n BIGINT, d DOUBLE, note STRING) WITH ('connector' = 'parquet', 'path' = '{tmp_path}')")
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    t.sql("INSERT INTO sink SELECT 1, 1.5, NULL")
    assert [tuple(row) for row in t.sql("SELECT * FROM sink").collect()] == [(1, 1.5, None)]
