"""Calls of the user's own functions in expressions: typing, nulls, errors and their place, and how they travel."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark import cloudpickle

from datasources.errors import ExpressionError, RecordError
from datasources.expressions import ExpressionEvaluationError
from datasources.expressions.arrow_function import ArrowFunction
from datasources.expressions.compiler.compile import (
    compile_expression,
    compile_filter,
    compile_rowtime_expression,
    compile_watermark,
)
from datasources.source.api.reader import Chunk
from datasources.source.watermarks.rowtime import RowTimes
from tests.support.source.memory_source import strategy

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("n", pa.int64()), ("s", pa.string()), ("flag", pa.bool_())])


def doubled(numbers: pa.Array) -> pa.Array:
    return pc.multiply(numbers, 2)


def strict(numbers: pa.Array) -> pa.Array:
    for number in numbers.to_pylist():
        if number is not None and number < 0:
            raise ValueError(f"{number} is below zero")
    return numbers


FUNCTIONS = {
    "Doubled": ArrowFunction(doubled, "BIGINT"),
    "strict": ArrowFunction(strict, "BIGINT"),
    "on_flag": ArrowFunction(lambda ts, flag: pc.if_else(flag, ts, None), "TIMESTAMP"),
    "types": ArrowFunction(
        lambda *columns: pa.array([", ".join(str(c.type) for c in columns)] * len(columns[0])), "STRING"
    ),
    "wrong_type": ArrowFunction(lambda numbers: pc.cast(numbers, pa.string()), "BIGINT"),
    "too_short": ArrowFunction(lambda numbers: numbers.slice(1), "BIGINT"),
    "known": ArrowFunction(lambda values: values.is_valid(), "BOOLEAN"),
    "bytes": ArrowFunction(lambda texts: texts.cast(pa.binary()), "BINARY"),
    "lucky": ArrowFunction(doubled, "BIGINT", deterministic=False),
    "upper": ArrowFunction(lambda texts: texts, "STRING"),
    "seven": ArrowFunction(lambda: pa.array([7], pa.int64()), "BIGINT"),
}
COMPILER_SETTINGS: dict[str, Any] = {"time_zone": "UTC", "ansi": True, "functions": FUNCTIONS}


def batch(**columns):
    rows = len(next(iter(columns.values())))
    arrays = [pa.array(columns.get(field.name, [None] * rows), field.type) for field in SCHEMA]
    return pa.record_batch(arrays, schema=SCHEMA)


def values(text, **columns):
    return compile_expression(text, SCHEMA, **COMPILER_SETTINGS).evaluator().evaluate(batch(**columns)).to_pylist()


def refusal(text, compiler=compile_expression, **more):
    with pytest.raises(ExpressionError) as caught:
        compiler(text, SCHEMA, **COMPILER_SETTINGS, **more)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doubled(n)", [2, None, 6]),
        ("DOUBLED(doubled(n) + 1L)", [6, None, 14]),
        ("doubled(7L)", [14, 14, 14]),
        ("seven() + n", [8, None, 10]),
        ("CASE WHEN n > 2 THEN doubled(n) ELSE 0L END", [0, 0, 6]),
        ("known(n)", [True, False, True]),
        ("known(NULL)", [False, False, False]),
    ],
)
def test_a_registered_function_is_called_with_columns_nulls_included(text, expected):
    assert values(text, n=[1, None, 3]) == expected


def test_arguments_have_the_arrow_types_that_spark_has_for_them():
    assert values("types(ts, n, s, flag, CAST(n AS INT), CAST(ts AS DATE), 1.5)", n=[1]) == [
        "timestamp[us, tz=UTC], int64, string, bool, int32, date32[day], decimal128(2, 1)"
    ]


def test_functions_of_spark_come_first():
    assert values("upper(s)", s=["abc"]) == ["ABC"]


def test_a_function_is_not_called_for_no_rows():
    assert values("strict(n)", n=[]) == []


def test_an_error_of_an_argument_is_the_error_of_its_row_and_the_function_sees_null():
    with pytest.raises(ExpressionEvaluationError, match="division by zero") as caught:
        values("known(10 div n)", n=[1, 0, 2])
    assert caught.value.row_index == 1
    assert values("CASE WHEN n <> 0 THEN known(10 div n) END", n=[1, 0, 2]) == [True, None, True]


@pytest.mark.parametrize(("numbers", "row"), [([-1], 0), ([1, 2, -3, 4, -5], 2), ([None, 1, 2, -3], 3)])
def test_an_error_of_the_function_names_the_first_row_that_it_is_about(numbers, row):
    with pytest.raises(ExpressionEvaluationError) as caught:
        values("strict(n)", n=numbers)
    assert caught.value.row_index == row
    assert f"watermark.as: `strict(n)` has no value for row {row} of the batch: the function " in caught.value.message
    assert "ValueError: " in caught.value.message


def test_an_error_of_the_function_reaches_the_user_with_the_place_of_the_record():
    compiled = compile_watermark("strict(n)", SCHEMA, rowtime="ts", **COMPILER_SETTINGS)
    rowtime = compile_rowtime_expression("ts", SCHEMA, attribute="d", **COMPILER_SETTINGS)
    base = strategy()
    how = type(base)(
        **{name: getattr(base, name) for name in base.__slots__} | {"rowtime": rowtime, "watermark": compiled}
    )
    chunk = Chunk(columns=batch(n=[1, -2]), position=lambda row: row, describe_row=lambda row: f"offset {40 + row}")
    with pytest.raises(RecordError, match=r"^\[TIDEMARK_RECORD\] offset 41: watermark.as: `strict\(n\)` has no value"):
        RowTimes(how, ceiling_us=None).of(chunk)


@pytest.mark.parametrize("text", ["wrong_type(n)", "too_short(n)"])
def test_a_result_that_is_not_what_was_declared_is_an_error_about_no_row(text):
    name = text.removesuffix("(n)")
    with pytest.raises(ExpressionEvaluationError, match=f"watermark.as: `{name}\\(n\\)` has no value for ") as caught:
        values(text, n=[1, 2])
    assert "returned" in caught.value.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lucky(n)", "watermark.as: lucky is not deterministic"),
        ("bytes(s)", "watermark.as: bytes gives BINARY, of which the reader has no values"),
        ("doubled(x)", "watermark.as: the column x does not exist"),
        ("dubbled(n)", "watermark.as: the function dubbled is not evaluated in the reader"),
    ],
)
def test_a_call_that_cannot_be_evaluated_is_refused(text, reason):
    message = refusal(text)
    assert message.startswith(reason)
    assert "^" in message


def test_near_matches_know_the_registered_functions():
    assert "Did you mean doubled" in refusal("dubbled(n)")


def test_a_function_may_be_the_whole_strategy():
    watermark = compile_watermark("on_flag(ts, flag)", SCHEMA, rowtime="ts", **COMPILER_SETTINGS)
    found, valid = watermark.evaluator().event_time_us(batch(ts=[1_500, 2_500, 3_500], flag=[True, False, None]))
    assert (found[0], valid.tolist()) == (1_000, [True, False, False])
    assert watermark.paths == (("ts",), ("flag",))
    assert watermark.constant_delay_ms is None


def test_a_delay_behind_a_rowtime_that_a_function_computes_is_known():
    rowtime = compile_rowtime_expression("on_flag(ts, flag)", SCHEMA, attribute="d", **COMPILER_SETTINGS)
    watermark = compile_watermark(
        "on_flag(ts, flag) - INTERVAL '4' SECOND", SCHEMA, rowtime=rowtime, **COMPILER_SETTINGS
    )
    assert watermark.constant_delay_ms == 4_000


def test_a_filter_may_call_functions():
    condition = compile_filter("doubled(n) > 3", SCHEMA, **COMPILER_SETTINGS)
    assert condition.evaluator().evaluate(batch(n=[1, 2, None])).to_pylist() == [False, True, None]


def test_without_functions_nothing_changes():
    with pytest.raises(ExpressionError, match="the function doubled is not evaluated in the reader"):
        compile_expression("doubled(n)", SCHEMA, time_zone="UTC", ansi=True)


def test_a_compiled_call_travels_with_its_function_and_loads_without_the_parser():
    def tripled(numbers: pa.Array) -> pa.Array:
        return pc.multiply(numbers, 3)

    functions = {"tripled": ArrowFunction(tripled, "BIGINT")}
    compiled = compile_expression("tripled(n)", SCHEMA, time_zone=None, ansi=True, functions=functions)
    text = cloudpickle.dumps(compiled).hex()
    code = (
        "import sys, pyarrow as pa\nfrom pyspark import cloudpickle\n"
        f"compiled = cloudpickle.loads(bytes.fromhex('{text}'))\n"
        "batch = pa.record_batch({'n': pa.array([5], pa.int64())})\n"
        "print(compiled.evaluator().evaluate(batch).to_pylist(), 'sqlglot' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[15] False\n"
