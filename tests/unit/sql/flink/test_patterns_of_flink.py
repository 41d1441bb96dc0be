"""LIKE, SIMILAR TO and the groups of regular expressions."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql.flink.patterns import regex_groups
from datasources.sql.flink.typed_value import Refused
from tests.support.flink.translation import translated


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("s LIKE 'a%'", "s LIKE 'a%'"),
        ("s LIKE 'a!%' ESCAPE '!'", "s LIKE 'a!%' ESCAPE '!'"),
        ("s LIKE 'a%' ESCAPE ''", "s LIKE 'a%'"),
        ("s SIMILAR TO 'a%_.'", "s RLIKE '\\\\A(?:a(?s:.*)..)\\\\z'"),
        ("s SIMILAR TO '[[:ALPHA:]]+'", "s RLIKE '\\\\A(?:[\\\\p{Alpha}]+)\\\\z'"),
    ],
)
def test_patterns(expression: str, text: str) -> None:
    assert translated(expression)[0] == text


@pytest.mark.parametrize("expression", ["s LIKE 'a!b' ESCAPE '!'", "s LIKE 'a!' ESCAPE '!'", "s SIMILAR TO '[a'"])
def test_malformed_patterns_are_refused(expression: str) -> None:
    with pytest.raises(SqlError):
        translated(expression)


@pytest.mark.parametrize(
    ("pattern", "missing"),
    [
        ("a(b)c", [False]),
        ("a(b)?c", [True]),
        ("(a)|(b)", [True, True]),
        ("(a|b)", [False]),
        ("(?:(a)|b)(c)", [True, False]),
        ("(a(b)*)", [False, True]),
        (r"\((a)[(](?<x>b)\Q(\E", [False, False]),
        ("(?=x)(?<!y)z", []),
    ],
)
def test_groups_that_a_match_may_be_without(pattern: str, missing: list[bool]) -> None:
    assert [each.can_be_missing for each in regex_groups(pattern)] == missing


@pytest.mark.parametrize("pattern", ["(", ")", "[a", "(a))"])
def test_brackets_have_to_match(pattern: str) -> None:
    with pytest.raises(Refused):
        regex_groups(pattern)
