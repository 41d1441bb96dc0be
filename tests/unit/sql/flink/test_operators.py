"""Operators: the types of their results, overflow, NaN, and what is not compared."""

from __future__ import annotations

import pytest

from tests.support.flink.translation import refusal, translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("dec + i", "dec + i", "DECIMAL(13, 2)"),
        ("dec * dec", "dec * dec", "DECIMAL(21, 4)"),
        ("dec / 3", "dec / CAST(3 AS DECIMAL(10, 0))", "DECIMAL(21, 13)"),
        ("dec + big", "TRY_CAST(try_add(dec, big) AS DECIMAL(38, 17))", "DECIMAL(38, 17)"),
        ("f + d", "CAST(CAST(f AS DOUBLE) + d AS FLOAT)", "FLOAT"),
        ("d + f", "d + CAST(f AS DOUBLE)", "DOUBLE"),
        ("i / 2", "CAST(i div 2 AS INT)", "INT"),
        ("i / -1", "CAST(shiftright(shiftleft(i div -1, 32), 32) AS INT)", "INT"),
        ("-d", "-d", "DOUBLE"),
        ("-(-d)", "-(-d)", "DOUBLE"),
        (
            "CAST(dec AS DECIMAL(4, 0)) % l",
            "CAST(TRY_CAST(dec AS DECIMAL(4, 0)) % CAST(l AS DECIMAL(19, 0)) AS BIGINT)",
            "BIGINT",
        ),
        ("c || 'x'", "c || 'x'", "CHAR(4)"),
        ("CAST(s AS VARCHAR(3)) || c", "left(s, 3) || c", "VARCHAR(6)"),
        ("s || c", "s || c", "STRING"),
        ("bin || bin", "bin || bin", "BYTES"),
        ("HEX(ti)", "hex(ti)", "STRING"),
        ("PI", "pi()", "DOUBLE"),
    ],
)
def test_arithmetic(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("i = 7", "i = 7"),
        ("dec > 0.5", "dec > 0.5"),
        ("dec BETWEEN 0.5 AND 1", "dec BETWEEN 0.5 AND 1"),
        ("dec IN (0.5, 1)", "dec IN (0.5, 1)"),
        ("d > 0", "(d > 0 AND NOT isnan(d))"),
        ("d = d", "d = d"),
        ("dec < d", "dec < d"),
        ("f IS NOT DISTINCT FROM d", "f <=> d AND NOT isnan(f)"),
        ("f IS DISTINCT FROM d", "NOT (f <=> d AND NOT isnan(f))"),
        ("f IN (0.1)", "(f = CAST(CAST(0.1 AS DECIMAL(2, 1)) AS FLOAT) AND NOT isnan(f))"),
        ("i IN (7.0, 5.5)", "i IN (CAST(7.0 AS INT), CAST(5.5 AS INT))"),
        ("ai = ARRAY[1e0]", "transform(ai, element0 -> CAST(element0 AS DOUBLE)) = array(1e0)"),
        ("dt > '2024-01-01'", "dt > CAST('2024-01-01' AS DATE)"),
        ("ts = ltz", "ts = CAST(ltz AS TIMESTAMP_NTZ)"),
        ("ltz = ts", "ltz = CAST(ts AS TIMESTAMP_LTZ)"),
        ("ts < ltz", "CAST(ts AS TIMESTAMP_LTZ) < ltz"),
        ("(i, i2) = (7, 3)", "i = 7 AND i2 = 3"),
        ("(i, i2) IN ((7, 3), (0, 0))", "i = 7 AND i2 = 3 OR i = 0 AND i2 = 0"),
    ],
)
def test_comparisons(expression: str, text: str) -> None:
    assert translated(expression) == (text, "BOOLEAN")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ts + INTERVAL '1' DAY", "ts + INTERVAL '1' DAY"),
        ("ts + INTERVAL '1' MONTH", "ts + INTERVAL '1' MONTH"),
        ("ltz - INTERVAL '10' SECOND", "ltz - INTERVAL '10' SECOND"),
        ("ltz + INTERVAL '1' DAY", "ltz + INTERVAL '12' HOUR + INTERVAL '12' HOUR"),
        ("ltz - INTERVAL '30' DAY", "timestamp_micros(unix_micros(ltz) - (2592000000000L))"),
    ],
)
def test_a_day_of_a_moment_has_24_hours(expression: str, text: str) -> None:
    assert translated(expression)[0] == text


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("ltz + INTERVAL '1' MONTH", "months of a TIMESTAMP_LTZ in UTC"),
        ("m = m", "does not compare maps"),
        ("d % 2", "% takes whole numbers"),
        ("i = ai", "cannot be compared"),
        ("s + 1", "there is no STRING + INT"),
        ("-s", "there is no - of STRING"),
    ],
)
def test_refused(expression: str, wanted: str) -> None:
    assert wanted in refusal(expression)
