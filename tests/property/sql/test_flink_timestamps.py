"""TO_TIMESTAMP and TO_TIMESTAMP_LTZ: Flink's results, in the reader and in Spark, whatever the session's zone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.expressions.compiler.compile import compile_expression
from datasources.sql.resolve.flink_timestamps import moment_of_number, moment_of_text, wall_clock_of_text

GOLDEN = json.loads((Path(__file__).parent / "flink_timestamps.json").read_text())
"""Text or number -> Flink's result: answers of its classes, java.time and java.sql, as its source calls them."""
ZONES = ["UTC", "America/New_York", "Asia/Shanghai"]
EPOCH = datetime(1970, 1, 1)
SCHEMA = pa.schema([("s", pa.string()), ("b", pa.int64()), ("i", pa.int32()), ("f", pa.float64())])


def in_reader(expression: str, name: str, values: list, zone: str = "America/New_York") -> list:
    """Evaluate an expression as a source's reader does, to microseconds."""
    compiled = compile_expression(expression, SCHEMA, time_zone=zone, ansi=True)
    rows = [{field.name: (value if field.name == name else None) for field in SCHEMA} for value in values]
    column = compiled.evaluator().evaluate(pa.Table.from_pylist(rows, SCHEMA).to_batches()[0])
    return column.cast(pa.int64()).to_pylist()


def micros(text: str | None) -> int | None:
    return None if text is None else (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("zone", ZONES)
def test_the_reader_reads_text_as_flink_does(zone):
    cases = GOLDEN["text"]
    found = in_reader(wall_clock_of_text("s"), "s", [*cases, None], zone)
    assert dict(zip(cases, found, strict=False)) == {text: micros(answer) for text, answer in cases.items()}
    assert found[-1] is None
    assert in_reader(moment_of_text("s"), "s", [*cases, None], zone) == found


@pytest.mark.parametrize("pattern", GOLDEN["formats"])
def test_the_reader_reads_formats_as_flink_does(pattern):
    cases = GOLDEN["formats"][pattern]
    found = in_reader(wall_clock_of_text("s", pattern), "s", list(cases))
    assert dict(zip(cases, found, strict=True)) == {text: micros(answer) for text, answer in cases.items()}


@pytest.mark.parametrize("precision", [0, 3])
def test_the_reader_reads_numbers_as_flink_does(precision):
    unit = timedelta(seconds=1) if precision == 0 else timedelta(milliseconds=1)
    first, last = (
        (datetime(1, 1, 1) - EPOCH) // unit - 366 * (timedelta(days=1) // unit),
        (datetime.max - EPOCH) // unit,
    )
    values = [0, -1, 1, 1_700_000_000, first, last, first - 1, last + 1, 2**63 - 1, -(2**63), None]
    per = 1_000_000 if precision == 0 else 1_000
    wanted = [v * per if v is not None and first <= v <= last else None for v in values]
    assert in_reader(moment_of_number("b", precision, "BIGINT"), "b", values) == wanted
    assert in_reader(moment_of_number("i", precision, "INT"), "i", [-5, 2**31 - 1, None]) == [
        -5 * per,
        (2**31 - 1) * per,
        None,
    ]


@given(
    st.builds(
        "{}-{:0{}}-{:0{}}{}".format,
        st.integers(1000, 9999), st.integers(1, 12), st.integers(1, 2), st.integers(1, 28), st.integers(1, 2),
        st.one_of(st.just(""), st.times().map(lambda t: f" {t.isoformat()}")),
    )
)  # fmt: skip
def test_every_moment_survives_cut_to_milliseconds(text):
    date, _, time = text.partition(" ")
    year, month, day = map(int, date.split("-"))
    moment = datetime.fromisoformat(f"{year:04}-{month:02}-{day:02}T{time or '00:00:00'}")
    cut = (moment - EPOCH) // timedelta(milliseconds=1) * 1_000
    assert in_reader(wall_clock_of_text("s"), "s", [text]) == [cut]


@pytest.mark.spark
@pytest.mark.parametrize("zone", ZONES)
def test_spark_gives_what_the_reader_gives(spark, zone):
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        questions = [(wall_clock_of_text("s"), list(GOLDEN["text"])), (moment_of_text("s"), list(GOLDEN["text"]))]
        questions += [(wall_clock_of_text("s", p), list(cases)) for p, cases in GOLDEN["formats"].items()]
        for expression, texts in questions:
            frame = spark.createDataFrame([(t,) for t in [*texts, None]], "s STRING").coalesce(1)
            rows = frame.selectExpr("s", f"{expression} AS t").toArrow()
            assert rows["t"].cast(pa.int64()).to_pylist() == in_reader(expression, "s", [*texts, None], zone)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("number", "precision", "answer"),
    [
        ("CAST(1.9996 AS DOUBLE)", 0, 1_999_000),
        ("CAST(-1.9996 AS DOUBLE)", 0, -1_999_000),
        ("CAST(1.9996 AS DOUBLE)", 3, 1_000),
        ("CAST(1.9996 AS FLOAT)", 0, 1_000_000),
        ("CAST(1.9996 AS DECIMAL(10, 4))", 0, 1_000_000),
        ("CAST(-1.9996 AS DECIMAL(10, 4))", 3, -1_000),
        ("CAST('Infinity' AS DOUBLE)", 3, None),
        ("CAST(1e20 AS DOUBLE)", 0, None),
        ("CAST(NULL AS DOUBLE)", 0, None),
        ("CAST(5 AS SMALLINT)", 3, 5_000),
    ],
)
def test_spark_reads_numbers_as_flink_does_whether_their_type_is_known_or_not(spark, number, precision, answer):
    kind = spark.sql(f"SELECT {number} AS n").schema["n"].dataType.simpleString().upper()
    for known in (kind, ""):
        text = moment_of_number("n", precision, known)
        rows = spark.sql(f"SELECT unix_micros({text}) AS t FROM (SELECT {number} AS n)").collect()
        assert rows[0].t == answer


@pytest.mark.spark
def test_a_zone_of_its_own_moves_what_falls_into_its_gap(spark):
    texts = ["2024-03-10 02:30:00", "2024-11-03 01:30:00", "2024-01-01", "2024-01-31 24:00:00", "no"]
    text = moment_of_text("s", "yyyy-MM-dd HH:mm:ss", "America/New_York")
    frame = (
        spark.createDataFrame([(t,) for t in texts], "s STRING").coalesce(1).selectExpr(f"unix_seconds({text}) AS t")
    )
    utc = UTC
    wanted = [
        datetime(2024, 3, 10, 7, 30, tzinfo=utc),
        datetime(2024, 11, 3, 5, 30, tzinfo=utc),
        datetime(2024, 1, 1, 5, tzinfo=utc),
        datetime(2024, 2, 1, 5, tzinfo=utc),
    ]
    assert [row.t for row in frame.collect()] == [*(int(w.timestamp()) for w in wanted), None]
