"""Literals of Flink SQL: their types, and the text of Spark SQL with the same value."""

from __future__ import annotations

import pytest

from tests.support.flink.translation import refusal, translated


@pytest.mark.parametrize(
    ("literal", "text", "kind"),
    [
        ("7", "7", "INT"),
        ("2147483648", "2147483648", "BIGINT"),
        ("-2147483648", "-2147483648", "INT"),
        ("-9223372036854775808", "-9223372036854775808", "BIGINT"),
        ("1.", "1", "INT"),
        ("1.50", "1.50", "DECIMAL(3, 2)"),
        ("0.001", "CAST(0.001 AS DECIMAL(4, 3))", "DECIMAL(4, 3)"),
        (".5", "CAST(.5 AS DECIMAL(1, 1))", "DECIMAL(1, 1)"),
        ("-0.5", "CAST(-0.5 AS DECIMAL(2, 1))", "DECIMAL(2, 1)"),
        ("1e3", "1e3", "DOUBLE"),
        ("'it''s'", "'it''s'", "CHAR(4)"),
        ("'é😀'", "'é😀'", "CHAR(3)"),
        (r"'a\nb'", r"'a\\nb'", "CHAR(4)"),
        ("X'00ff'", "X'00ff'", "BINARY(2)"),
        ("UNKNOWN", "CAST(NULL AS BOOLEAN)", "BOOLEAN"),
        ("DATE '2024-2-9'", "DATE '2024-2-9'", "DATE"),
        ("TIMESTAMP '2024-02-29 12:34:56.7'", "TIMESTAMP_NTZ '2024-02-29 12:34:56.7'", "TIMESTAMP(1)"),
        (
            "TIMESTAMP WITH LOCAL TIME ZONE '2024-02-29 12:34:56'",
            "TIMESTAMP_LTZ '2024-02-29 12:34:56 UTC'",
            "TIMESTAMP_LTZ(0)",
        ),
    ],
)
def test_literals(literal: str, text: str, kind: str) -> None:
    assert translated(literal) == (text, kind)


@pytest.mark.parametrize(
    ("literal", "text", "kind"),
    [
        ("INTERVAL '10' SECOND", "INTERVAL '10' SECOND", "INTERVAL SECOND(3)"),
        ("INTERVAL '1.5' SECOND", "INTERVAL '1.5' SECOND", "INTERVAL SECOND(3)"),
        ("INTERVAL '1.123456' SECOND", "INTERVAL '0 00:00:01.123' DAY TO SECOND", "INTERVAL SECOND(3)"),
        ("INTERVAL '100' DAY(3)", "INTERVAL '100 00:00:00.000' DAY TO SECOND", "INTERVAL SECOND(3)"),
        ("INTERVAL -'1 02:03' DAY TO MINUTE", "INTERVAL '-1 02:03:00.000' DAY TO SECOND", "INTERVAL SECOND(3)"),
        ("INTERVAL 5 YEARS", "INTERVAL '60' MONTH", "INTERVAL MONTH"),
        ("INTERVAL '-1-2' YEAR TO MONTH", "INTERVAL '-14' MONTH", "INTERVAL MONTH"),
    ],
)
def test_intervals_have_two_types(literal: str, text: str, kind: str) -> None:
    assert translated(literal) == (text, kind)


@pytest.mark.parametrize(
    ("literal", "wanted"),
    [
        ("9223372036854775808", "out of the range of BIGINT"),
        ("DATE '2024-02-30'", "not of the form yyyy-MM-dd"),
        ("TIMESTAMP '2024-02-29T12:34:56'", "not of the form yyyy-MM-dd HH:mm:ss"),
        ("TIMESTAMP '2024-02-29 12:34:56.789123456'", "microseconds"),
        ("TIME '12:34:56'", "the type TIME"),
        ("INTERVAL '1' WEEK", "for another span of time"),
        ("INTERVAL '1:60' HOUR TO MINUTE", "is no INTERVAL of HOUR TO MINUTE"),
        ("INTERVAL 'abc' DAY", "is no INTERVAL of DAY"),
        ("5L", "not a number of Flink SQL"),
        ("X'6'", "pairs of hexadecimal digits"),
    ],
)
def test_refused(literal: str, wanted: str) -> None:
    assert wanted in refusal(literal)
