"""Encodings, hashes and regular expressions in Spark SQL."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from tests.support.flink.translation import translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("MD5(s)", "md5(s)", "CHAR(32)"),
        ("SHA224(bin)", "sha2(bin, 224)", "CHAR(56)"),
        ("SHA2(s, 256)", "sha2(s, 256)", "VARCHAR(128)"),
        (
            "UNHEX(s)",
            "CASE WHEN length(s) % 2 = 0 THEN unhex(s) WHEN s RLIKE '^[0-9A-Fa-f]' THEN unhex(concat('00', substr(s, 2))) END",
            "BYTES",
        ),
        ("TO_BASE64(s)", "base64(s)", "STRING"),
        ("DECODE(bin, 'UTF-8')", "make_valid_utf8(CAST(bin AS STRING))", "STRING"),
        ("REGEXP(s, 'a+')", "(s RLIKE 'a+')", "BOOLEAN"),
        ("REGEXP_REPLACE(s, 'a', '$1')", "regexp_replace(s, 'a', '\\\\$1')", "STRING"),
        ("REGEXP_EXTRACT(s, '(a)b', 1)", "CASE WHEN s RLIKE '(a)b' THEN regexp_extract(s, '(a)b', 1) END", "STRING"),
        ("REGEXP_EXTRACT(s, 'a', 1)", "CAST(NULL AS STRING)", "STRING"),
    ],
)
def test_calls_have_texts_and_types(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


@pytest.mark.parametrize("expression", ["SHA2(s, 1)", "ENCODE(s, 'x')", "REGEXP(s, c)", "REGEXP_COUNT(s, '(')"])
def test_what_has_no_exact_form_is_refused(expression: str) -> None:
    with pytest.raises(SqlError):
        translated(expression)
