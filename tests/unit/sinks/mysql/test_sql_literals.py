"""Rows as SQL text: nothing in a value ends its literal, and what would be stored as another value is refused."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.errors import RecordError
from datasources.sinks.mysql.column_checks import ColumnWriter, LiteralKind
from datasources.sinks.mysql.sql_literals import literals_of, row_texts, statement_texts


def text_of(value: object, kind: LiteralKind, arrow_type: pa.DataType | None = None, **limits: int | bool) -> str:
    return literals_of(pa.array([value], arrow_type), ColumnWriter(name="c", kind=kind, **limits))[0].as_py()


@given(st.text(max_size=20))
def test_a_text_is_between_quotes_that_are_doubled_inside(text):
    literal = text_of(text, LiteralKind.TEXT)
    assert literal[0] == literal[-1] == "'"
    assert literal[1:-1].replace("''", "") == text.replace("'", "")
    assert literal[1:-1].replace("''", "'") == text


@given(st.integers(-(10**37), 10**37).map(lambda digits: Decimal(f"{digits}E-25")))
def test_a_decimal_is_exact_and_has_no_exponent(number):
    literal = text_of(number, LiteralKind.DECIMAL, pa.decimal128(38, 25))
    assert Decimal(literal) == number
    assert "E" not in literal


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_read_back_as_it_was(number):
    assert float(text_of(number, LiteralKind.FLOAT)) == number


@pytest.mark.parametrize(
    ("value", "kind", "literal"),
    [
        (True, LiteralKind.BOOLEAN, "1"),
        (-(2**63), LiteralKind.NUMBER, "-9223372036854775808"),
        (b"\x00'\xff", LiteralKind.BYTES, "X'0027ff'"),
        (datetime(2026, 1, 2, 3, 4, 5), LiteralKind.DATETIME, "TIMESTAMP'2026-01-02 03:04:05.000000'"),
    ],
)
def test_each_kind_has_its_literal(value, kind, literal):
    assert text_of(value, kind) == literal
    assert text_of(None, kind, pa.array([value]).type) == "NULL"


@pytest.mark.parametrize(
    ("value", "kind", "limits", "message"),
    [
        (float("inf"), LiteralKind.FLOAT, {}, "NaN or infinite"),
        ("ååå", LiteralKind.TEXT, {"max_length": 2}, "longer than 2 characters"),
        ("a ", LiteralKind.TEXT, {"refuses_blanks_at_end": True}, "ends with a blank"),
        (b"abc", LiteralKind.BYTES, {"max_length": 2}, "longer than 2 bytes"),
        (b"a", LiteralKind.BYTES, {"max_length": 2, "min_length": 2}, "shorter than the 2 bytes"),
        (datetime(2026, 1, 1, 0, 0, 0, 1000), LiteralKind.DATETIME, {"fraction": 2}, "more than the 2 digits"),
        (datetime(1969, 1, 1, 0, 0, 0, 1), LiteralKind.DATETIME, {"fraction": 0}, "more than the 0 digits"),
    ],
)
def test_a_value_that_the_column_would_change_is_refused(value, kind, limits, message):
    with pytest.raises(RecordError, match=f"column 'c' .*{message}.*would be stored as another one"):
        text_of(value, kind, **limits)


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 6), st.integers(1, 50))
def test_statements_have_all_rows_in_order_within_the_limits(lengths, max_rows, max_characters):
    rows = [f"({'x' * length})" for length in lengths]
    made = list(statement_texts(pa.array(rows, pa.large_string()), max_rows=max_rows, max_characters=max_characters))
    assert ",".join(text for _, text in made) == ",".join(rows)
    assert sum(count for count, _ in made) == len(rows)
    for count, text in made:
        assert 1 <= count <= max_rows
        assert count == 1 or len(text) - (count - 1) <= max_characters


def test_a_row_has_the_columns_in_the_order_of_their_writers():
    rows = pa.table({"a": [1, None], "b": ["x", "y"]})
    writers = [ColumnWriter(name="b", kind=LiteralKind.TEXT), ColumnWriter(name="a", kind=LiteralKind.NUMBER)]
    assert row_texts(rows, writers).to_pylist() == ["('x',1)", "('y',NULL)"]
