"""CAST and TRY_CAST: the Spark SQL with Flink's results, and what there is no cast for."""

from __future__ import annotations

import pytest

from tests.support.flink.translation import refusal, translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("CAST(i AS BIGINT)", "CAST(i AS BIGINT)", "BIGINT"),
        ("CAST(i AS INT)", "i", "INT"),
        ("CAST(i AS TINYINT)", "CAST(shiftright(shiftleft(CAST(i AS BIGINT), 56), 56) AS TINYINT)", "TINYINT"),
        ("CAST(dec AS DECIMAL(4, 1))", "TRY_CAST(dec AS DECIMAL(4, 1))", "DECIMAL(4, 1)"),
        ("CAST(dec AS DECIMAL(12, 2))", "CAST(dec AS DECIMAL(12, 2))", "DECIMAL(12, 2)"),
        ("CAST(d AS DECIMAL(4, 1))", "TRY_CAST(d AS DECIMAL(4, 1))", "DECIMAL(4, 1)"),
        ("CAST(b AS STRING)", "upper(CAST(b AS STRING))", "STRING"),
        ("CAST(i AS VARCHAR(2))", "left(CAST(i AS STRING), 2)", "VARCHAR(2)"),
        ("CAST(s AS CHAR(5))", "rpad(s, 5)", "CHAR(5)"),
        ("CAST(c AS STRING)", "c", "STRING"),
        ("CAST(bin AS BINARY(4))", "rpad(bin, 4, X'00')", "BINARY(4)"),
        ("CAST(bin AS STRING)", "CAST(bin AS STRING)", "STRING"),
    ],
)
def test_numbers_and_texts(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


def test_text_with_a_point_is_a_whole_number() -> None:
    pattern = r"r'^ *([+-]?)(?=[0-9.])([0-9]*)(?:[.][0-9]*)? *\z', '$10$2'"
    assert translated("CAST(s AS INT)") == (f"CAST(regexp_replace(s, {pattern}) AS INT)", "INT")
    assert translated("TRY_CAST(s AS BIGINT)") == (f"TRY_CAST(regexp_replace(s, {pattern}) AS BIGINT)", "BIGINT")


def test_cast_of_text_to_a_date_is_lenient_and_try_cast_is_not() -> None:
    pattern = r"r'^ *([0-9]{4}(?:-[0-9]{1,2}){0,2})(?: .*)?\z', 1"
    assert translated("CAST(s AS DATE)") == ("CAST(s AS DATE)", "DATE")
    assert translated("TRY_CAST(s AS DATE)") == (f"TRY_CAST(regexp_extract(s, {pattern}) AS DATE)", "DATE")


def test_timestamps_have_all_digits_of_their_precision_as_text() -> None:
    padded = r"rpad(regexp_replace(CAST({} AS STRING), r'^([^.]*)\z', '$1.'), {}, '0')"
    assert translated("CAST(ts AS STRING)") == (padded.format("ts", 23), "STRING")
    assert translated("CAST(ts6 AS STRING)") == (padded.format("ts6", 26), "STRING")
    assert translated("CAST(TIMESTAMP '2024-01-01 00:00:00' AS STRING)")[0].startswith("left(CAST(")


def test_digits_of_text_behind_the_precision_are_cut() -> None:
    text, kind = translated("CAST(s AS TIMESTAMP(3))")
    assert text == r"CAST(regexp_replace(s, r'([.][0-9]{3})[0-9]+\z', '$1') AS TIMESTAMP_NTZ)"
    assert kind == "TIMESTAMP(3)"
    assert translated("CAST(s AS TIMESTAMP_LTZ(6))") == ("CAST(s AS TIMESTAMP_LTZ)", "TIMESTAMP_LTZ(6)")


def test_collections_are_text_as_flink_writes_them() -> None:
    element = "coalesce(CAST(element0 AS STRING), 'NULL')"
    assert (
        translated("CAST(ai AS STRING)")[0]
        == f"concat('[', array_join(transform(ai, element0 -> {element}), ', '), ']')"
    )
    assert translated("CAST(r AS STRING)")[0] == (
        "if(r IS NULL, NULL, concat('(', concat_ws(', ', coalesce(CAST(r.`a` AS STRING), 'NULL'), "
        "coalesce(r.`b`, 'NULL')), ')'))"
    )
    assert "map_entries(m)" in translated("CAST(m AS STRING)")[0]


def test_elements_and_fields_are_cast_one_by_one() -> None:
    assert translated("CAST(ai AS ARRAY<STRING>)") == (
        "transform(ai, element0 -> CAST(element0 AS STRING))",
        "ARRAY<STRING>",
    )
    assert translated("CAST(r AS ROW<x BIGINT, y STRING>)")[0] == (
        "if(r IS NULL, NULL, named_struct('x', CAST(r.`a` AS BIGINT), 'y', r.`b`))"
    )


def test_a_computed_row_is_computed_once() -> None:
    text = translated("CAST(ROW(i + 1, s) AS STRING)")[0]
    assert text.startswith("transform(array(named_struct(")
    assert text.count("named_struct(") == 1


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("CAST(i AS TIMESTAMP(3))", "TO_TIMESTAMP_LTZ"),
        ("CAST(i AS TIMESTAMP_LTZ(3))", "TO_TIMESTAMP_LTZ"),
        ("CAST(ts AS BIGINT)", "UNIX_TIMESTAMP"),
        ("CAST(dt AS INT)", "there is no cast from DATE to INT"),
        ("CAST(s AS TIME)", "the type TIME"),
        ("CAST(INTERVAL '1' DAY AS STRING)", "an INTERVAL is not cast here"),
        ("CAST(r AS ROW<x INT>)", "is not one of 1"),
        ("CAST(s AS ARRAY<INT>)", "there is no cast from STRING to ARRAY<INT>"),
    ],
)
def test_refused(expression: str, wanted: str) -> None:
    assert wanted in refusal(expression)
