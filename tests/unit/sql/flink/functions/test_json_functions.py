"""Functions of JSON in Spark SQL."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql.flink.functions.json_paths import JsonPath, parse_path
from datasources.sql.flink.typed_value import Refused
from tests.support.flink.translation import translated


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$", JsonPath((), is_lax=False)),
        ("lax $.a[0].b", JsonPath(("a", 0, "b"), is_lax=True)),
        ("strict $.['a b'][\"c\"]", JsonPath(("a b", "c"), is_lax=False)),
    ],
)
def test_paths(text: str, path: JsonPath) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["", "a", "$.", "$.*", "$..a", "$.a[*]", "$.a.length()", "$[-1]"])
def test_paths_with_more_than_names_and_indexes_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse_path(text)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("JSON_VALUE(s, '$.a')", "STRING"),
        ("JSON_VALUE(s, '$.a' RETURNING INT)", "INT"),
        ("JSON_EXISTS(s, '$.a')", "BOOLEAN"),
        ("s IS JSON OBJECT", "BOOLEAN"),
    ],
)
def test_types(expression: str, kind: str) -> None:
    assert translated(expression)[1] == kind


def test_objects_have_their_keys_in_order() -> None:
    found, _ = translated("JSON_OBJECT('b' VALUE i, 'a' VALUE 1 ABSENT ON NULL)")
    assert (
        found
        == """concat('{', concat_ws(',', concat('"a":', CAST(1 AS STRING)), concat('"b":', CAST(i AS STRING))), '}')"""
    )


@pytest.mark.parametrize("expression", ["JSON_VALUE(s, c)", "JSON_STRING(d)", "JSON_QUERY(s, c)"])
def test_what_has_no_exact_form_is_refused(expression: str) -> None:
    with pytest.raises(SqlError):
        translated(expression)
