"""What the reader is certain of: a value, or Spark's own error, for every row."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.arrow_types import DOUBLE, NTZ, STRING, TIMESTAMP
from datasources.expressions.compiler.compile import compile_expression
from datasources.expressions.evaluation.certainty import Certainty, certainty

SCHEMA = pa.schema(
    [("x", pa.int32()), ("f", DOUBLE), ("s", STRING), ("d", pa.decimal128(5, 2)), ("t", TIMESTAMP), ("n", NTZ)]
)


@pytest.mark.parametrize(
    ("text", "ansi", "expected"),
    [
        ("x", True, Certainty.TOTAL),
        ("x > 3 AND s IS NOT NULL OR f <= 0.5D", True, Certainty.TOTAL),
        ("CASE WHEN x IN (1, 2) THEN f ELSE -f END", True, Certainty.TOTAL),
        ("CAST(x AS DOUBLE) * f", False, Certainty.TOTAL),
        ("COALESCE(s, 'none')", True, Certainty.TOTAL),
        ("x + 1", True, Certainty.FAILS_AS_SPARK),
        ("10 % x", True, Certainty.FAILS_AS_SPARK),
        ("CAST(s AS INT)", True, Certainty.FAILS_AS_SPARK),
        ("CAST(s AS INT)", False, Certainty.TOTAL),
        ("x + 1", False, Certainty.LIMITED),
        ("UPPER(s) = 'A'", True, Certainty.LIMITED),
        ("t > CAST(s AS TIMESTAMP)", True, Certainty.LIMITED),
        ("GET_JSON_OBJECT(s, '$.a')", True, Certainty.LIMITED),
        ("s = 'a' AND UPPER(s) = 'A'", True, Certainty.LIMITED),
    ],
)
def test_the_certainty_of_an_expression_is_that_of_its_least_certain_part(text, ansi, expected):
    plan = compile_expression(text, SCHEMA, time_zone="America/New_York", ansi=ansi).plan
    assert certainty(plan) is expected


@pytest.mark.parametrize("null", ["NULL", "CAST(NULL AS INT)"])
def test_in_with_a_null_is_null_where_nothing_is_equal(null):
    batch = pa.RecordBatch.from_pylist([{"x": 1}, {"x": 2}, {"x": None}], schema=pa.schema([("x", pa.int32())]))
    compiled = compile_expression(f"x IN (1, {null})", batch.schema, time_zone="UTC", ansi=True)
    assert compiled.evaluator().evaluate(batch).to_pylist() == [True, None, None]
