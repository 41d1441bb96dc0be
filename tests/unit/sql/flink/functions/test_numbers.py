"""Functions of numbers: the types of their results, and where Spark's function of the name gives something else."""

from __future__ import annotations

import pytest

from tests.support.flink.translation import refusal, translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("SQRT(i)", "sqrt(CAST(i AS DOUBLE))", "DOUBLE"),
        ("LN(10)", "ln(CAST(10 AS DOUBLE))", "DOUBLE"),
        ("ABS(dec)", "abs(dec)", "DECIMAL(10, 2)"),
        ("SIGN(dec)", "CAST(sign(dec) AS DECIMAL(10, 2))", "DECIMAL(10, 2)"),
        ("CEIL(i)", "i", "INT"),
        ("FLOOR(dec)", "CAST(floor(dec) AS DECIMAL(10, 0))", "DECIMAL(10, 0)"),
        ("ROUND(dec)", "CAST(round(dec, 0) AS DECIMAL(9, 0))", "DECIMAL(9, 0)"),
        ("ROUND(dec, 5)", "CAST(round(dec, 5) AS DECIMAL(10, 2))", "DECIMAL(10, 2)"),
        ("ROUND(d, 2)", "round(d, 2)", "DOUBLE"),
        ("ROUND(i, -1)", "round(i, -1)", "INT"),
        ("TRUNCATE(i, -1)", "CAST(i - i % 10 AS INT)", "INT"),
        ("MOD(l, 3)", "CAST(l % 3 AS INT)", "INT"),
        ("ABS(i)", "if(i = -2147483648, i, abs(i))", "INT"),
        ("ABS(d)", "abs(d)", "DOUBLE"),
        ("RAND_INTEGER(10)", "CAST(floor(rand() * 10) AS INT)", "INT"),
        ("UUID()", "uuid()", "CHAR(36)"),
    ],
)
def test_results(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


def test_a_logarithm_of_zero_is_infinite() -> None:
    text, kind = translated("LN(d)")
    assert kind == "DOUBLE"
    assert text == (
        "CASE WHEN d > 0 THEN ln(d) WHEN d = 0 THEN CAST('-Infinity' AS DOUBLE) WHEN d < 0 THEN CAST('NaN' AS DOUBLE) END"
    )


def test_large_doubles_are_whole_numbers_already() -> None:
    text, kind = translated("FLOOR(d + 1)")
    assert kind == "DOUBLE"
    assert text.startswith("transform(array(d + CAST(1 AS DOUBLE)), bound -> CASE WHEN abs(bound) < 4503599627370496 ")


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("ROUND(dec, i)", "the number of digits is a constant here"),
        ("TRUNCATE(d, 1)", "CAST the number to DECIMAL first"),
        ("ABS(s)", "ABS takes"),
    ],
)
def test_refused(expression: str, wanted: str) -> None:
    assert wanted in refusal(expression)
