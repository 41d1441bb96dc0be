"""Where the items of a list end."""

from __future__ import annotations

import pytest

from datasources.grammar.source_text import SqlText
from datasources.sql.text.word_cursor import Words


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, f(b, c), [d, e]", ["a", "f(b, c)", "[d, e]"]),
        ("CASE i WHEN 7, 0 THEN 1 END, b", ["CASE i WHEN 7, 0 THEN 1 END", "b"]),
        (
            "CASE WHEN a THEN CASE b WHEN 1, 2 THEN 3 END END, c",
            ["CASE WHEN a THEN CASE b WHEN 1, 2 THEN 3 END END", "c"],
        ),
        ("CASE w.end WHEN 1, 2 THEN 3 END, c", ["CASE w.end WHEN 1, 2 THEN 3 END", "c"]),
        ("end, t.case, start", ["end", "t.case", "start"]),
        ("case, b", ["case", "b"]),
    ],
)
def test_commas_in_brackets_and_in_case_are_not_between_items(text, items):
    words = Words.of(SqlText(text))
    assert [words.text(each) for each in words.split(words.all)] == items
