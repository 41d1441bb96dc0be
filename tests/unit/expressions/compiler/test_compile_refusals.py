"""What a user sees when an expression is refused: the reason, the place, the way out."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from datasources.errors import ExpressionError
from datasources.expressions.compiler.compile import compile_expression, compile_rowtime, compile_watermark

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("ntz", pa.timestamp("us")),
        ("amount", pa.decimal128(11, 3)),
        ("i", pa.int32()),
        ("s", pa.string()),
        ("Case", pa.int32()),
        ("cAse", pa.int32()),
        ("a", pa.struct([("b", pa.timestamp("us", "UTC"))])),
        ("list", pa.list_(pa.int32())),
        ("nanos", pa.timestamp("ns", "UTC")),
        ("wide", pa.decimal128(38, 10)),
        ("end", pa.int32()),
        ("order time", pa.timestamp("us", "UTC")),
    ]
)

# expression, part of the reason, the part that is underlined
REFUSED = [
    ("tss - INTERVAL '5' SECOND", "the column tss does not exist", "tss"),
    ("a.c", "the field a.c does not exist", "a.c"),
    ("ts.x", "ts is TIMESTAMP, which has no fields", "ts.x"),
    ("case", "does not parse", "case"),
    ("`case` + 1", "ambiguous", "`case`"),
    ("a", "no values of type STRUCT", "a"),
    ("list", "no values of type", "list"),
    ("nanos", "no values of type", "nanos"),
    ("list[0]", "is not a form", "list[0]"),
    ("ts + 1", "a number cannot be added to a timestamp", "ts + 1"),
    ("1 + (ts + 1)", "a number cannot be added to a timestamp", "ts + 1"),
    ("ts - INTERVAL '1' MONTH", "months or years has no fixed length", "INTERVAL '1' MONTH"),
    ("ts - INTERVAL '1-2' YEAR TO MONTH", "no fixed length", "INTERVAL '1-2' YEAR TO MONTH"),
    ("ts - INTERVAL '5' FORTNIGHT", "not a unit", "INTERVAL '5' FORTNIGHT"),
    ("ts - INTERVAL '5.5' MINUTE", "fractions are for seconds", "INTERVAL '5.5' MINUTE"),
    ("ts - INTERVAL '0.1234567' SECOND", "up to 6 digits", "INTERVAL '0.1234567' SECOND"),
    ("ts - INTERVAL '01:61' MINUTE TO SECOND", "too large", "INTERVAL '01:61' MINUTE TO SECOND"),
    ("ts - INTERVAL i SECOND", "has to be a literal", "INTERVAL i SECOND"),
    ("ts -", "does not parse (an operand is missing)", "-"),
    ("((ts)", "does not parse", ")"),
    ("ts, i", "does not parse", ","),
    ("ts; i", "not one expression", "ts; i"),
    ("select ts", "not one expression", "select ts"),
    ("ts AS x", "not one expression", "ts AS x"),
    ("ts x", "not one expression", "ts x"),
    ("frobnicate(ts)", "the function frobnicate is not evaluated", "frobnicate(ts)"),
    ("unix_timestamp()", "does not depend on the record alone", "unix_timestamp()"),
    ("i + current_timestamp", "does not depend on the record alone", "current_timestamp"),
    ("coalesce()", "coalesce takes at least 1 arguments, not 0", "coalesce()"),
    ("hour(ntz, 1)", "hour takes 1 argument, not 2", "hour(ntz, 1)"),
    ("IF(i = 1, ts)", "IF takes 3 arguments", "IF(i = 1, ts)"),
    ("CASE WHEN i THEN ts END", "a condition does not take INT", "CASE WHEN i THEN ts END"),
    (
        "CASE WHEN i = 1 THEN ts ELSE ntz END",
        "different types (TIMESTAMP and TIMESTAMP_NTZ)",
        "CASE WHEN i = 1 THEN ts ELSE ntz END",
    ),
    ("coalesce(NULL, NULL)", "gives NULL for every record", "coalesce(NULL, NULL)"),
    ("i + s", "not evaluated for INT and STRING", "i + s"),
    ("ts > '2026-01-01'", "TIMESTAMP and STRING", "ts > '2026-01-01'"),
    ("ts = ntz", "TIMESTAMP and TIMESTAMP_NTZ", "ts = ntz"),
    ("i = 1 = TRUE", "group the operators", "i = 1 = TRUE"),
    ("s || s + 1", "group the operators", "s || s + 1"),
    ("amount / 3", "the operator / is not evaluated", "amount / 3"),
    ("wide * wide", "more than 38 digits", "wide * wide"),
    ("CAST(s AS DOUBLE)", "a cast of STRING to DOUBLE", "CAST(s AS DOUBLE)"),
    ("CAST(ts AS VARCHAR(5))", "casts to this type", "CAST(ts AS VARCHAR(5))"),
    ("CAST(i AS CHAR(5))", "casts to this type", "CAST(i AS CHAR(5))"),
    ("CAST(i AS DECIMAL(40,2))", "casts to this type", "CAST(i AS DECIMAL(40,2))"),
    ("TIME '12:00:00'", "", None),
    ("date_trunc('FORTNIGHT', ts)", "date_trunc has no unit 'FORTNIGHT'", "'FORTNIGHT'"),
    ("date_trunc(s, ts)", "has to be a text literal", "s"),
    ("date_trunc('HOUR', ntz)", "date_trunc does not take TIMESTAMP_NTZ", "ntz"),
    ("substring(s, 0)", "the position 0", "0"),
    ("substring(s, i)", "has to be a whole number literal", "i"),
    ("s RLIKE '(?i)x'", "look-around, a name or flags", "'(?i)x'"),
    ("s LIKE s", "has to be a text literal", "s"),
    ("s ILIKE 'x'", "is not a form", "s ILIKE 'x'"),
    ("i IN (i, 1)", "lists of literals only", "i IN (i, 1)"),
    ("i IN ('1')", "the list of IN does not take STRING", "i IN ('1')"),
    ("get_json_object(s, '$.a[0]')", "plain names only", "'$.a[0]'"),
    ("TIMESTAMP 'yesterday'", "not a moment", "TIMESTAMP 'yesterday'"),
    ("DATE '2026-02-30'", "DATE 'yyyy-mm-dd'", "DATE '2026-02-30'"),
    ("300Y", "beyond the range", "300Y"),
    ("i & 1", "is not a form", "i & 1"),
    ("count(i) FILTER (WHERE i > 1)", "", None),
    ("sum(i) OVER ()", "is not a form", "sum(i) OVER ()"),
    ("(SELECT 1)", "not one expression", "(SELECT 1)"),
    ("coalesce(DISTINCT i)", "", None),
    ("coalesce(*)", "", None),
    ("?", "is not a form", "?"),
    ("regexp_extract(s, 'a', 1)", "has 0 groups", "'a'"),
]


def refused(text):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text, SCHEMA, time_zone="UTC", ansi=True)
    return str(caught.value)


@pytest.mark.parametrize(("text", "reason", "marked"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_refusal_names_the_reason_and_underlines_the_place(text, reason, marked):
    lines = refused(text).splitlines()
    assert lines[0].startswith("[TIDEMARK_EXPRESSION] watermark.as: ")
    assert reason in lines[0]
    assert lines[1] == f"  {text}"
    start, width = lines[2].index("^"), lines[2].count("^")
    assert marked is None or lines[1][start : start + width] == marked
    assert lines[3].endswith(".")


def test_the_mark_stands_under_the_line_that_holds_the_place():
    lines = refused("CASE\n  WHEN x > 1 THEN ts\nEND").splitlines()
    assert lines[1:3] == ["    WHEN x > 1 THEN ts", "         ^"]


def test_an_unknown_column_names_near_matches_and_the_known_columns():
    message = refused("amuont")
    assert "Did you mean amount?" in message
    assert "Known names: ts, ntz, amount" in message


def test_an_unknown_function_names_near_matches():
    assert "Did you mean unix_millis" in refused("unix_milis(ts)")


def test_an_empty_expression_is_refused():
    assert "the expression is empty" in refused("  ")


def test_the_purpose_is_named():
    with pytest.raises(ExpressionError, match=r"computed\.x: the column y"):
        compile_expression("y", SCHEMA, time_zone=None, ansi=None, purpose="computed.x")


def test_a_refusal_crosses_processes():
    with pytest.raises(ExpressionError) as caught:
        compile_expression("y", SCHEMA, time_zone=None, ansi=None)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("tz", "the column tz does not exist"),
        ("s", "is STRING, and has to be TIMESTAMP"),
        ("a", "STRUCT"),
        ("a.x", "the field a.x"),
        ("", "is not a column"),
        ("a..b", "is not a column"),
        ("`ts", "is not a column"),
    ],
)
def test_a_time_attribute_has_to_be_a_column_of_time(path, reason):
    with pytest.raises(ExpressionError, match=r"watermark\.for: ") as caught:
        compile_rowtime(path, SCHEMA)
    assert reason in str(caught.value)


@pytest.mark.parametrize("path", ["ts", "TS", "ntz", "a.b", "`order time`", "order time"])
def test_a_time_attribute_is_found_as_spark_finds_it(path):
    assert compile_rowtime(path, SCHEMA).constant_delay_ms == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ntz", "TIMESTAMP and TIMESTAMP_NTZ are different clocks"),
        ("s", "the watermark is STRING"),
        ("i > 1", "the watermark is BOOLEAN"),
        ("amount", "the watermark is DECIMAL(11,3)"),
        ("NULL", "the watermark is VOID"),
        ("ntz - ntz", "the watermark is INTERVAL DAY TO SECOND"),
    ],
)
def test_a_watermark_has_to_be_of_the_time_attributes_type_or_epoch_milliseconds(text, reason):
    with pytest.raises(ExpressionError) as caught:
        compile_watermark(text, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["(" * 400 + "i" + ")" * 400, "abs(" * 200 + "i" + ")" * 200, " + ".join(["i"] * 160), " + ".join(["i"] * 5_000)],
    ids=["parentheses", "calls", "a long sum", "a very long sum"],
)
def test_what_is_nested_too_deeply_is_refused(text):
    with pytest.raises(ExpressionError, match="the expression is nested too deeply"):
        compile_expression(text, SCHEMA, time_zone="UTC", ansi=True)


@pytest.mark.parametrize("joint", [" + ", " * ", " - "])
def test_the_deepest_expression_that_is_accepted_reaches_a_task_and_is_evaluated(joint):
    compiled = compile_expression(joint.join(["i"] * 150), SCHEMA, time_zone="UTC", ansi=True)
    rows = pa.record_batch({"i": pa.array([None, 0], pa.int32())})
    assert pickle.loads(pickle.dumps(compiled)).evaluator().evaluate(rows).to_pylist() == [None, 0]
