"""Lists of names in `scan.columns` and `scan.metadata`."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.spark.options.name_lists import parse_metadata, parse_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a", (("a",),)),
        ("a, b,c", (("a",), ("b",), ("c",))),
        (" `order time` , `a,b`, `tick``s` ", (("order time",), ("a,b",), ("tick`s",))),
        ("a.b, günter, `a.b`", (("a", "b"), ("günter",), ("a.b",))),
        ("a.`b.c`.d, `x y`.`z,`", (("a", "b.c", "d"), ("x y", "z,"))),
        ("", ()),
        ("  ", ()),
    ],
)
def test_names_are_separated_by_commas_and_unusual_ones_quoted_and_dots_lead_into_structs(text, paths):
    assert parse_paths(text, option="scan.columns") == paths


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("partition", {"partition": "partition"}),
        ("ingested FROM timestamp, part from partition", {"ingested": "timestamp", "part": "partition"}),
        ("`source time` FROM value.source.timestamp", {"source time": "value.source.timestamp"}),
        ("h FROM `header-list`, from FROM offset", {"h": "header-list", "from": "offset"}),
        ("", {}),
    ],
)
def test_metadata_columns_are_names_with_or_without_a_key(text, columns):
    found = parse_metadata(text, option="scan.metadata")
    assert list(found.items()) == list(columns.items())


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_paths, "a,,b", "option 'o': 'a,,b' is not a column: leave out the comma that has no name beside it."),
        (parse_paths, "a,", "option 'o': 'a,' is not a column: leave out the comma that has no name beside it."),
        (
            parse_paths,
            "a b",
            (
                "option 'o': 'a b' is not a column: write names with commas between them, unusual ones in backticks; a dot "
                "leads into a STRUCT."
            ),
        ),
        (
            parse_paths,
            "a.",
            (
                "option 'o': 'a.' is not a column: write names with commas between them, unusual ones in backticks; a dot "
                "leads into a STRUCT."
            ),
        ),
        (parse_paths, "a.b, A.B", "option 'o' names 'A.B' twice: name each column once."),
        (parse_paths, "a, `b", "option 'o': '`b' is not a column: close the backtick."),
        (parse_paths, "a, b, A", "option 'o' names 'A' twice: name each column once."),
        (parse_metadata, "a FROM", "option 'o': 'a FROM' is not a column: write 'name', or 'name FROM key'."),
        (parse_metadata, "a OF b", "option 'o': 'a OF b' is not a column: write 'name', or 'name FROM key'."),
        (parse_metadata, "a FROM b c", "option 'o': 'a FROM b c' is not a column: write 'name', or 'name FROM key'."),
        (parse_metadata, "a FROM x, A FROM y", "option 'o' names 'A' twice: name each column once."),
    ],
)
def test_what_is_no_list_is_refused_with_what_to_write(parse, text, message):
    with pytest.raises(OptionError) as caught:
        parse(text, option="o")
    assert caught.value.message == message
