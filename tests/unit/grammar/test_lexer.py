"""Tokens, strings, and the places of errors."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.lexer import TokenKind, meaningful, tokenize
from datasources.grammar.source_text import Span, SqlText
from datasources.grammar.string_literals import string_value, unusual_escape
from tests.support.sql.sql_literals import LITERALS

CUT = {
    "SELECT a": "W W",
    "it''s": "W S W",
    "'it''s' r'a\\' \"x\"\"y\" X'1F'": "S S S W S",
    "`a``b`.c": "Q . W",
    "1 1.5 1.5e-3 1e9 10L 5S 2.5BD 5. 1a 1_0": "N N N N N N N N W W",
    "a.1.b": "W . N . W",
    "-- a\nb --c": "C W C",
    "a/**/b/* x /* y */ z */c": "W C W C W",
    "-- goes \\\n on\nb": "C W",
    "t /*+ OPTIONS('k'='v') */": "W H",
    "a>=b<=>c->d::e=>f||g<>h!=i==j>>k": "W >= W <=> W -> W :: W => W || W <> W != W == W > > W",
    "a-b $x {{y}} @z #": "W - W $ W { { W } } @ W #",
    "é 😀 ⅷ": "W 😀 W",
    "a\u00a0b\u2003c\x0bd": "W W W W",
    "": "",
}
LETTERS = {
    TokenKind.WORD: "W",
    TokenKind.QUOTED: "Q",
    TokenKind.STRING: "S",
    TokenKind.NUMBER: "N",
    TokenKind.COMMENT: "C",
    TokenKind.HINT: "H",
}


@pytest.mark.parametrize(("text", "cut"), CUT.items())
def test_a_text_is_cut_as_spark_cuts_it(text, cut):
    tokens = tokenize(SqlText(text))
    assert " ".join(LETTERS.get(each.kind, each.text) for each in tokens[:-1]) == cut
    assert tokens[-1].kind is TokenKind.END
    assert tokens[-1].span == Span(len(text), len(text))
    assert all(text[each.start : each.end] == each.text for each in tokens)


@pytest.mark.parametrize(("text", "value"), {**LITERALS, r"'\UFFFFFFFF'": "?"}.items())
def test_a_string_has_the_value_that_spark_reads(text, value):
    (token, _) = tokenize(SqlText(text))
    assert token.value == value


@pytest.mark.parametrize(
    ("text", "escape"),
    [(r"'a\d'", r"\d"), (r"'\\d'", None), (r"r'\d'", None), (r"'\n\'\%'", None), (r"'a''b\ '", "\\ ")],
)
def test_an_escape_that_spark_drops_is_found(text, escape):
    assert unusual_escape(text) == escape


def test_a_raw_string_has_no_escapes():
    assert string_value(r"r'a\n'") == r"a\n"


def test_words_and_names():
    select, name, end = tokenize(SqlText("Select `a``b`"))
    assert (select.word, select.value, name.word, name.value) == ("SELECT", "Select", "", "a`b")
    assert end.shown == "the end of the statement"


def test_comments_and_hints_can_be_left_out():
    tokens = meaningful(tokenize(SqlText("a /*+ h */ -- c\n b")))
    assert [each.text for each in tokens] == ["a", "b", ""]


def test_a_comment_goes_on_behind_a_backslash_that_ends_the_line_as_in_spark():
    assert [each.text for each in tokenize(SqlText("-- a\\\n b\nc"))] == ["-- a\\\n b", "c", ""]
    assert [each.text for each in tokenize(SqlText("-- a\\\r\n b"))] == ["-- a\\", "b", ""]


OPEN_STRING = (
    "this string is not closed. "
    "End it, or look for a quote that is missing before it; a quote inside a string is written twice: ''."
)
TYPOGRAPHIC = (
    "is a typographic quote, as word processors make them. Use straight quotes: 'text' for a string, `name` for a name."
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 'b", f"line 1, column 3: {OPEN_STRING}\n  a 'b\n    ^"),
        ("a `b", "line 1, column 3: this quoted name is not closed. End it with a backquote.\n  a `b\n    ^"),
        ("a\n\t/* b", "line 2, column 2: this comment is not closed. End it with */.\n  \t/* b\n  \t^^"),
        ("/* /* */", "line 1, column 1: this comment is not closed. End it with */.\n  /* /* */\n  ^^"),
        ("SELECT “a”", f"line 1, column 8: “ {TYPOGRAPHIC}\n  SELECT “a”\n         ^"),
    ],
)
def test_a_text_that_cannot_be_tokenized_is_an_error_at_its_span(text, message):
    with pytest.raises(SqlError) as error:
        tokenize(SqlText(text))
    assert error.value.message == message


def test_typographic_quotes_may_stand_in_strings_names_and_comments():
    assert len(tokenize(SqlText("'‘a’' `“b”` -- „c“"))) == 4  # noqa: RUF001 - they are what is tested


def test_an_error_names_the_file_the_line_and_the_column():
    source = SqlText("SELECT a,\n\tb", name="orders.sql", first_line=7, first_column=5)
    assert (
        source.error(Span(7, 8), "no 'a'").message == "orders.sql, line 7, column 12: no 'a'.\n  SELECT a,\n         ^"
    )
    assert source.error(Span(11, 12), "no", "Stop.").message == "orders.sql, line 8, column 2: no. Stop.\n  \tb\n  \t^"


def test_a_span_of_several_lines_is_underlined_to_the_end_of_the_first():
    assert SqlText("ab\ncd").error(Span(1, 5), "no").message == "line 1, column 2: no.\n  ab\n   ^"


def test_a_long_line_is_shown_around_the_span():
    message = SqlText("a" * 1_000 + "b" + "c" * 1_000).error(Span(1_000, 1_001), "no").message
    _, line, marker = message.splitlines()
    assert line[marker.index("^")] == "b"
    assert len(line) == 202


def test_a_part_knows_where_it_stood():
    part = SqlText("a;\n  bc; d", name="x.sql", first_line=3).part(Span(5, 7))
    assert part == SqlText("bc", name="x.sql", first_line=4, first_column=3)
    assert part.line_and_column(1) == (4, 4)
