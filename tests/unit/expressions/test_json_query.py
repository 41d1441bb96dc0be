"""JSON_QUERY gives what Flink gives; its answers are recorded."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pytest

from datasources.errors import SqlError
from datasources.expressions.json_query import ANY, JsonQuery, JsonQueryError, json_query
from datasources.sql.flink.functions.json_paths import parse_query
from datasources.sql.flink.typed_value import Refused
from tests.support.flink.answers import CellFailure, scalar_answers
from tests.support.flink.inputs import input_table
from tests.support.flink.translation import translated

FAILED = "fails"
DOCUMENTS = [row[input_table().names.index("js")] for row in input_table().rows]
NOT_THERE = ("$..f", "'a'", "''", "'$.'", "length()", "?(", "[0,1]", "[0:2]", "CAST(NULL", "JSON_QUERY(1")


def asked(expression):
    """Return the document's text in Spark SQL, and the query."""
    text, _ = translated(expression.replace("JSON_QUERY(js", "JSON_QUERY(s"))
    found = re.fullmatch(
        r"(?:from_json\()?tidemark_json_query\((?P<document>.*), '(?P<query>\{.*\})'\)(?:, 'ARRAY<STRING>'\))?", text
    )
    return found["document"], JsonQuery.from_text(found["query"])


def answer(query, document):
    try:
        found = query.of(document)
    except JsonQueryError:
        return FAILED
    return json.loads(found) if query.returns_array and found is not None else found


def test_every_answer_of_flink_is_given():
    compared = 0
    for each in scalar_answers("json"):
        is_supported = not any(part in each.expression for part in NOT_THERE)
        if not each.expression.startswith("JSON_QUERY(") or each.refused is not None or not is_supported:
            continue
        document, query = asked(each.expression)
        documents = DOCUMENTS if document == "s" else [document[1:-1].replace("\\\\", "\\")]
        expected = [FAILED if isinstance(value, CellFailure) else value for value in each.values]
        assert [answer(query, each) for each in documents] == expected, each.expression
        compared += 1
    assert compared > 150


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$", ()),
        ("$.a[*].b.*", ("a", ANY, "b", ANY)),
        ("strict $['a b'].[*][-1]", ("a b", ANY, -1)),
    ],
)
def test_paths(path, steps):
    assert parse_query(path) == JsonQuery(steps=steps)
    assert parse_query(f"lax {path.removeprefix('strict ')}") == JsonQuery(steps=steps, is_lax=True)


@pytest.mark.parametrize("path", ["", "a", "$.", "$..a", "$.a.length()", "$[0,1]", "$[0:2]", "$[?(@.a > 1)]"])
def test_paths_with_more_are_refused(path):
    with pytest.raises(Refused):
        parse_query(path)


@pytest.mark.parametrize(
    "expression",
    [
        "JSON_QUERY(s, c)",
        "JSON_QUERY(s, '$' RETURNING INT)",
        "JSON_QUERY(s, '$' RETURNING ARRAY<INT>)",
        "JSON_QUERY(s, '$' RETURNING ARRAY<STRING> EMPTY OBJECT ON EMPTY)",
        "JSON_QUERY(i, '$')",
    ],
)
def test_what_flink_does_not_have_is_refused(expression):
    with pytest.raises(SqlError):
        translated(expression)


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (r'["\u0001\b\f\r\n\t\"\\\/é😀"]', r'["\u0001\b\f\r\n\t\"\\/é😀"]'),
        ('{"é": 1, "😀": 2, "\uffee": 3, "A": 4}', '{"A":4,"é":1,"😀":2,"\uffee":3}'),  # in the order of UTF-16
        ("[-0, -0.0, 0e3, 1.10, 1e-7, 0.000001, 12E5, 1e400]", "[0,0.0,0E+3,1.10,1E-7,0.000001,1.2E+6,1E+400]"),
        ('{"a": 1, "b": [], "a": {"a": 2, "a": 3}}', '{"a":{"a":3},"b":[]}'),
        (r'["\ud83d"]', '["?"]'),
        ("[NaN]", None),
        ("[1e99999999999]", None),
        ("[" + "1" * 1_001 + "]", None),
        ("[" * 3_000, None),
        ("['a']", None),
        ('["\t"]', None),
    ],
)
def test_documents_are_read_and_written_as_java_does(document, found):
    assert JsonQuery().of(document) == found


def test_whole_columns_are_answered():
    query = JsonQuery(steps=("a", ANY), wrapper="UNCONDITIONAL").to_text()
    documents = pa.array(['{"a": [1]}', None, "{}"], pa.string())
    assert json_query(documents, pa.array([query] * 3)).to_pylist() == ["[[1]]", None, None]
    assert json_query(documents[:0], pa.array([], pa.string())).to_pylist() == []
