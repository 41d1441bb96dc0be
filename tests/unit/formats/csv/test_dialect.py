"""The options of CSV: Flink's names and defaults, and what contradicts another one."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.formats.csv.dialect import Dialect, dialect_of


def test_the_defaults_are_flinks():
    assert dialect_of({}, "csv") == Dialect(
        delimiter=",", quote='"', escape=None, has_comments=False, element_delimiter=";", null_literal=None
    )


@pytest.mark.parametrize(
    ("text", "character"), [("\t", "\t"), ("\\t", "\t"), ("\\u0001", "\x01"), ("\\\\", "\\"), ("\\", "\\"), ("|", "|")]
)
def test_the_delimiter_may_be_written_as_in_java(text, character):
    assert dialect_of({"field-delimiter": text}, "csv").delimiter == character


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"field-delimiter": "::"}, "'csv.field-delimiter' = '::': it is one character"),
        ({"field-delimiter": ""}, "'csv.field-delimiter' = '': it is one character"),
        ({"field-delimiter": "\\n"}, "'csv.field-delimiter' = '.n': it is one character"),
        ({"quote-character": "\n"}, "'csv.quote-character' = '\n': it is one character, and no end of a line"),
        ({"escape-character": "\U0001f600"}, "'csv.escape-character'"),
        ({"quote-character": "'", "disable-quote-character": True}, "contradict each other"),
        ({"quote-character": ","}, "one character for two"),
        ({"escape-character": '"'}, "one character for two"),
        ({"array-element-delimiter": ""}, "'csv.array-element-delimiter' is empty"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, why):
    with pytest.raises(OptionError, match=why):
        dialect_of(options, "csv")


def test_a_character_of_quotes_is_free_where_there_are_none():
    assert dialect_of({"field-delimiter": '"', "disable-quote-character": True}, "csv").quote is None
