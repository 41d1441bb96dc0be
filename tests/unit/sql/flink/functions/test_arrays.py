"""Functions of arrays and maps in Spark SQL."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from tests.support.flink.translation import translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("CARDINALITY(ai)", "array_size(ai)", "INT"),
        ("CARDINALITY(m)", "array_size(map_keys(m))", "INT"),
        ("ARRAY_CONTAINS(ai, 3)", "exists(ai, e -> e <=> 3)", "BOOLEAN"),
        ("ARRAY_SORT(ai, FALSE, TRUE)", "reverse(array_sort(ai))", "ARRAY<INT>"),
        ("ARRAY_SLICE(ai, 2, 3)", "slice(ai, 2, 2)", "ARRAY<INT>"),
        ("MAP['a', 1, 'a', 2]", "map('a', 2)", "MAP<CHAR(1), INT>"),
        ("r['a']", "r.a", "INT"),
    ],
)
def test_calls_have_texts_and_types(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


@pytest.mark.parametrize("expression", ["ARRAY_APPEND(ai, 'x')", "ARRAY_CONTAINS(ai, 2.5)", "ARRAY[NULL]", "ai[NULL]"])
def test_what_flink_refuses_is_refused(expression: str) -> None:
    with pytest.raises(SqlError):
        translated(expression)
