"""A length of time in place of a watermark: the expression that was meant is proposed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.errors import ExpressionError
from datasources.expressions.compiler.compile import compile_watermark

SCHEMA = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("s", pa.int64())])


@pytest.mark.parametrize(
    ("written", "proposed"),
    [
        ("5 seconds", "ts - INTERVAL '5' SECOND"),
        ("'5 seconds'", "ts - INTERVAL '5' SECOND"),
        ("5s", "ts - INTERVAL '5' SECOND"),
        (" 2 min ", "ts - INTERVAL '2' MINUTE"),
        ("200 ms", "ts - INTERVAL '0.200' SECOND"),
        ("1500 ms", "ts - INTERVAL '1.500' SECOND"),
        ("INTERVAL '5' SECOND", "ts - INTERVAL '5' SECOND"),
        ("interval 1 hour", "ts - INTERVAL '1' HOUR"),
        ("1 d", "ts - INTERVAL '1' DAY"),
    ],
)
def test_a_length_of_time_is_refused_with_the_expression_that_was_meant(written, proposed):
    with pytest.raises(ExpressionError) as raised:
        compile_watermark(written, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True)
    assert "this is a length of time, and a watermark is a moment" in raised.value.message
    assert f"Write {proposed}." in raised.value.message


@pytest.mark.parametrize("written", ["ts - INTERVAL '5' SECOND", "s", "s - 5"])
def test_an_expression_is_none(written):
    compile_watermark(written, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True)


@pytest.mark.parametrize("written", ["5", " 5000 ", "-5", "0", "5L"])
def test_a_number_that_never_changes_is_no_watermark(written):
    with pytest.raises(ExpressionError) as raised:
        compile_watermark(written, SCHEMA, rowtime="ts", time_zone="UTC", ansi=True)
    assert "the watermark would never move" in raised.value.message
    assert "Five seconds behind is ts - INTERVAL '5' SECOND." in raised.value.message
