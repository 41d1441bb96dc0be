"""Functions of text in Spark SQL."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql.flink.functions.strings import STRINGS
from tests.support.flink.translation import translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("UPPER(c)", "upper(c)", "CHAR(3)"),
        ("TRIM(c)", "trim(c)", "VARCHAR(3)"),
        ("TRIM(LEADING 'x' FROM s)", "trim(LEADING 'x' FROM s)", "STRING"),
        ("SUBSTRING(s FROM 2 FOR 3)", "substring(s, 2, 3)", "STRING"),
        ("SUBSTRING(s FROM -2)", "if(char_length(s) < 2, '', substring(s, -2))", "STRING"),
        ("LPAD(s, 8, '*')", "lpad(s, 8, '*')", "STRING"),
        ("LPAD(s, -1, '*')", "CAST(NULL AS STRING)", "STRING"),
        ("SPLIT_INDEX(s, '|', 1)", "get(split(s, '\\\\|'), 1)", "STRING"),
        ("SPLIT_INDEX(s, ' ', 0)", "get(split(nullif(s, ''), ' '), 0)", "STRING"),
        ("POSITION('a' IN s)", "locate('a', s)", "INT"),
        ("LOCATE('a', s, 0)", "locate('a', s, 1)", "INT"),
        ("REPLACE(s, 'a', 'b')", "replace(s, 'a', 'b')", "STRING"),
        ("CONCAT_WS('-', s, c)", "concat_ws('-', s, c)", "STRING"),
    ],
)
def test_calls_have_texts_and_types(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


def test_an_argument_that_is_named_twice_is_computed_once() -> None:
    found, _ = translated("SUBSTRING(TRIM(s) FROM -2)")
    assert found == "transform(array(trim(s)), v -> if(char_length(v) < 2, '', substring(v, -2)))[0]"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("STR_TO_MAP(s, s)", "the delimiters of STR_TO_MAP"),
        ("PRINTF(s, i)", "the format of PRINTF"),
        ("UPPER(i)", "UPPER takes"),
    ],
)
def test_what_has_no_exact_form_is_refused(expression: str, reason: str) -> None:
    with pytest.raises(SqlError, match=reason):
        translated(expression)


def test_names_are_upper_case() -> None:
    assert all(each.name == each.name.upper() for each in STRINGS)
