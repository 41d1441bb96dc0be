"""Values, nulls and errors of compiled expressions, and what they need to run."""

from __future__ import annotations

import datetime as dt
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import ExpressionError, InternalError
from datasources.expressions import ExpressionEvaluationError
from datasources.expressions.compiler.compile import (
    compile_expression,
    compile_filter,
    compile_rowtime,
    compile_watermark,
)

TIMESTAMP = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [
        ("ts", TIMESTAMP),
        ("n", pa.int64()),
        ("s", pa.string()),
        ("flag", pa.bool_()),
        ("a", pa.struct([("b", pa.struct([("c", TIMESTAMP)]))])),
        ("m", pa.int32()),
        ("ntz", pa.timestamp("us")),
    ]
)
SECOND = 1_000_000


def batch(**columns: list[Any]):
    rows = len(next(iter(columns.values())))
    return pa.record_batch(
        [pa.array(columns.get(field.name, [None] * rows), field.type) for field in SCHEMA], schema=SCHEMA
    )


def compiled(text, *, ansi=True, zone="UTC"):
    return compile_expression(text, SCHEMA, time_zone=zone, ansi=ansi)


def values(text, *, ansi=True, zone="UTC", **columns: list[Any]):
    array = compiled(text, ansi=ansi, zone=zone).evaluator().evaluate(batch(**columns))
    return (array.cast(pa.int64()) if pa.types.is_temporal(array.type) else array).to_pylist()


def test_a_constant_delay_is_taken_off():
    assert values("ts - INTERVAL '5' SECOND", ts=[10 * SECOND, None, 0]) == [5 * SECOND, None, -5 * SECOND]


def test_a_null_struct_has_null_fields():
    rows = [{"b": {"c": 7}}, {"b": {"c": None}}, {"b": None}, None]
    assert values("a.b.c + INTERVAL '1' SECOND", a=rows) == [SECOND + 7, None, None, None]


def test_a_slice_of_a_batch_is_read_where_it_lies():
    whole = batch(
        ts=[1, None, 3, 4],
        a=[None, {"b": {"c": 2}}, {"b": {"c": 3}}, None],
        s=["a", "b", None, "d"],
        flag=[True, None, False, True],
    )
    for text, expected in {
        "ts": [None, 3],
        "a.b.c": [2, 3],
        "concat(s, s)": ["bb", None],
        "NOT flag": [None, True],
    }.items():
        array = compiled(text).evaluator().evaluate(whole.slice(1, 2))
        assert (array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array).to_pylist() == expected


def test_an_empty_batch_gives_an_empty_array_of_the_type():
    for text in (
        "ts",
        "ts - INTERVAL '5' SECOND",
        "to_timestamp(s)",
        "n * 2",
        "concat(s, 'x')",
        "CASE WHEN flag THEN ts END",
        "CAST(n AS DECIMAL(20,2))",
        "ts > ts",
        "get_json_object(s, '$.a')",
    ):
        expression = compiled(text)
        array = expression.evaluator().evaluate(batch(ts=[]))
        assert (len(array), array.type) == (0, expression.result_type)


def test_punctuated_records_give_a_watermark_only_where_the_flag_is_true():
    assert values("CASE WHEN flag THEN ts END", ts=[1, 2, 3], flag=[True, False, None]) == [1, None, None]


def test_the_delay_may_depend_on_the_record():
    text = "ts - CASE WHEN flag THEN INTERVAL '5' SECOND ELSE INTERVAL '1' MINUTE END"
    assert values(text, ts=[0, 0], flag=[True, False]) == [-5 * SECOND, -60 * SECOND]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r"'a\u0041\101'", "aAA"),
        (r"'\'\n\%\d'", "'\n\\%d"),
        (r"'\ud83d\ude00\U0001F600'", "\U0001f600\U0001f600"),
        (r"r'\d'", r"\d"),
        ("\"a''b\"", "a''b"),
    ],
)
def test_a_text_has_the_value_that_sparks_escapes_give(literal, value):
    assert values(f"concat(s, {literal})", s=[""]) == [value]


def test_a_branch_that_is_not_taken_may_have_errors():
    assert values("CASE WHEN n <> 0 THEN 10 div n END", n=[0, 5]) == [None, 2]
    assert values("n = 0 OR 10 div n > 1", n=[0, 5]) == [True, True]
    assert values("n <> 0 AND 10 div n > 1", n=[0, 5]) == [False, True]
    assert values("coalesce(n, m div 0)", n=[1], m=[1]) == [1]


def test_a_null_before_an_error_hides_it():
    assert values("n + CAST(s AS INT)", n=[None], s=["x"]) == [None]
    with pytest.raises(ExpressionEvaluationError):
        values("CAST(s AS INT) + n", n=[None], s=["x"])


def test_a_row_is_left_out_at_the_first_part_of_a_filter_that_is_not_true():
    rows = {"n": [None, 0, 1], "m": [None, None, 1], "s": ["x", "x", "1"]}

    def kept(text):
        found = (
            compile_filter(text, batch(**rows).schema, time_zone="UTC", ansi=True).evaluator().evaluate(batch(**rows))
        )
        return [each is True for each in found.to_pylist()]

    assert kept("n > 0 AND CAST(s AS INT) > 0") == [False, False, True]
    assert kept("n >= 0 AND m > 0 AND CAST(s AS INT) > 0") == [False, False, True]
    assert kept("n > 0 AND (CAST(s AS INT) > 0 AND m > 0)") == [False, False, True]
    for text in ("NOT (n > 0 AND CAST(s AS INT) > 0)", "n > 0 OR CAST(s AS INT) > 0", "CAST(s AS INT) > 0 AND n > 0"):
        with pytest.raises(ExpressionEvaluationError, match="cast to a number"):
            kept(text)
    with pytest.raises(ExpressionEvaluationError, match="cast to a number"):
        values("n > 0 AND CAST(s AS INT) > 0", n=[None], s=["x"])


ERRORS = [
    ("n + 1", {"n": [0, 2**63 - 1]}, "leaves the range of its type"),
    ("10 div n", {"n": [1, 0]}, "division by zero"),
    ("CAST(n AS INT)", {"n": [1, 2**31]}, "does not fit the type"),
    ("CAST(s AS INT)", {"s": ["1", "x"]}, "cast to a number is none"),
    ("to_timestamp(s)", {"s": ["2026-01-01T00:00:00Z", "nonsense"]}, "read as a timestamp is none"),
    ("CAST(n AS DECIMAL(3,1))", {"n": [1, 100]}, "too many digits"),
    ("timestamp_seconds(n)", {"n": [1, 2**62]}, "leaves the range of timestamps"),
    ("ts - INTERVAL '5' SECOND", {"ts": [1, -(2**63)]}, "leaves the range of timestamps"),
]


@pytest.mark.parametrize(("text", "columns", "reason"), ERRORS, ids=[row[0] for row in ERRORS])
def test_an_error_of_a_record_names_expression_row_and_reason(text, columns, reason):
    with pytest.raises(ExpressionEvaluationError) as caught:
        values(text, **columns)
    assert str(caught.value).startswith(
        f"[TIDEMARK_EXPRESSION] watermark.as: `{text}` has no value for row 1 of the batch: "
    )
    assert reason in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.row_index, again.is_reader_limit, str(again)) == (1, False, str(caught.value))
    assert isinstance(again, ExpressionError)


LIMITS = [
    ("n * 1000", False, "UTC", {"n": [2**62]}, "without ANSI mode Spark would continue with a wrong number"),
    ("to_timestamp(s)", True, "America/New_York", {"s": ["2026-01-01 00:00:00"]}, "no offset from UTC"),
    ("to_timestamp(s)", False, None, {"s": ["2026-01-01 00:00:00"]}, "no offset from UTC"),
    ("try_to_timestamp(s)", True, "UTC", {"s": ["2026-01-01 00:00:00 Europe/Paris"]}, "by region"),
    ("try_to_timestamp(s)", True, "UTC", {"s": ["12:30:00"]}, "from its clock"),
    ("get_json_object(s, '$.a')", True, "UTC", {"s": ['{"a":1.5}']}, "a fraction, an object or an array"),
    ("get_json_object(s, '$.a')", True, "UTC", {"s": ["{'a':1}"]}, "single quotes"),
    ("get_json_object(s, '$.a')", True, "UTC", {"s": ['{"a":1,"a":2}']}, "a repeated name"),
    ("get_json_object(s, '$.a')", True, "UTC", {"s": ["[" * 600]}, "very deep"),
    ("upper(s)", True, "UTC", {"s": ["é"]}, "ASCII text only"),
]


@pytest.mark.parametrize(("text", "ansi", "zone", "columns", "reason"), LIMITS)
def test_a_reader_limit_is_an_error_and_never_a_guess(text, ansi, zone, columns, reason):
    with pytest.raises(ExpressionEvaluationError) as caught:
        values(text, ansi=ansi, zone=zone, **columns)
    assert caught.value.is_reader_limit
    assert reason in str(caught.value)


def test_try_forms_give_null_for_errors_of_their_own_only():
    assert values("try_to_timestamp(s)", s=["nonsense"]) == [None]
    with pytest.raises(ExpressionEvaluationError):
        values("TRY_CAST(n + 1 AS INT)", n=[2**63 - 1])


def test_without_ansi_mode_failed_casts_and_divisions_are_null():
    assert values("to_timestamp(s)", ansi=False, s=["nonsense"]) == [None]
    assert values("CAST(s AS INT)", ansi=False, s=["12.7"]) == [12]
    assert values("10 div n", ansi=False, n=[0]) == [None]


def test_a_plan_is_small_and_runs_without_parser_or_database():
    expression = compile_watermark("ts - INTERVAL '5' SECOND", SCHEMA, rowtime="ts", time_zone=None, ansi=None)
    blob = pickle.dumps(expression)
    assert len(blob) < 500
    code = (
        "import pickle, sys, pyarrow as pa\n"
        f"expression = pickle.loads({blob!r})\n"
        "batch = pa.record_batch([pa.array([7_000_001], pa.timestamp('us', 'UTC'))], names=['ts'])\n"
        "assert expression.evaluator().event_time_us(batch)[0].tolist() == [2_000_000]\n"
        "print(sorted({'sqlglot', 'duckdb', 'pyspark'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_plan_survives_pickling():
    for text in (
        "ts - CASE WHEN flag THEN INTERVAL '5' SECOND ELSE NULL END",
        "greatest(n, 3L)",
        "n IN (1, NULL)",
        "flag <=> NULL",
        "regexp_extract(s, '(a)', 1)",
        "ts IS NULL OR flag",
    ):
        expression = compiled(text)
        assert pickle.loads(pickle.dumps(expression)) == expression


def test_paths_are_the_columns_and_fields_that_are_read():
    assert compiled("CASE WHEN flag THEN a.b.c ELSE ts END").paths == (("flag",), ("a", "b", "c"), ("ts",))
    assert compiled("1 + 1").paths == ()


def test_the_batch_needs_no_other_columns():
    narrow = pa.record_batch([pa.array([5], TIMESTAMP)], names=["ts"])
    assert compiled("ts").evaluator().evaluate(narrow).cast(pa.int64()).to_pylist() == [5]


def test_a_batch_of_another_schema_is_an_internal_error():
    with pytest.raises(InternalError, match="no column ts of type TIMESTAMP"):
        compiled("ts").evaluator().evaluate(pa.record_batch([pa.array([5])], names=["ts"]))
    with pytest.raises(InternalError, match="no column ts"):
        compiled("ts").evaluator().evaluate(pa.record_batch([pa.array([5])], names=["x"]))


DELAYS = {
    "ts": 0,
    "ts - INTERVAL '5' SECOND": 5000,
    "ts - INTERVAL '0.0015' SECOND": 2,
    "ts - INTERVAL '5' SECOND - INTERVAL '1' MINUTE": 65000,
    "(ts) - (INTERVAL '5' SECOND + INTERVAL '1' SECOND)": 6000,
    "ts + INTERVAL '5' SECOND": None,
    "ts + INTERVAL '-5' SECOND": 5000,
    "a.b.c - INTERVAL '1' SECOND": None,
    "CASE WHEN flag THEN ts END": None,
    "n": None,
}


@pytest.mark.parametrize(("text", "delay_ms"), DELAYS.items(), ids=DELAYS)
def test_a_constant_delay_behind_the_time_attribute_is_known(text, delay_ms):
    assert compile_watermark(text, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True).constant_delay_ms == delay_ms


def event_times(text, **columns: list[Any]):
    expression = compile_watermark(text, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True)
    times, valid = expression.evaluator().event_time_us(batch(**columns))
    assert times.dtype == np.int64
    return times.tolist(), None if valid is None else valid.tolist()


def test_candidates_are_floored_to_whole_milliseconds():
    assert event_times("ts", ts=[1999, -1, 0, -1000, -(2**63)]) == (
        [1000, -1000, 0, -1000, -(2**63 // 1000) * 1000],
        None,
    )


def test_a_null_gives_no_candidate():
    times, valid = event_times("ts", ts=[1000, None])
    assert (times[0], valid) == (1000, [True, False])


def test_epoch_milliseconds_become_microseconds():
    assert event_times("n", n=[1, -1]) == ([1000, -1000], None)
    assert event_times("m", m=[7]) == ([7000], None)


def test_epoch_milliseconds_beyond_the_range_are_an_error():
    with pytest.raises(ExpressionEvaluationError, match="epoch milliseconds leave the range"):
        event_times("n", n=[0, 2**62])


def test_a_null_beside_an_extreme_number_is_no_error():
    assert event_times("CASE WHEN flag THEN n END", n=[2**62, 5], flag=[False, True])[1] == [False, True]


def test_the_event_time_of_a_row_keeps_its_microseconds():
    expression = compile_rowtime("ntz", SCHEMA)
    times, valid = expression.evaluator().event_time_us(batch(ntz=[dt.datetime(1970, 1, 1, 0, 0, 0, 1999)]))
    assert (times.tolist(), valid) == ([1999], None)
