"""The small parts of the query layer: edits, intervals, hints, filters, rounding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasources.durations import interval_literal, spark_duration
from datasources.errors import SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.query.block.edits import Edits
from datasources.sql.query.block.table_filter import table_filter
from datasources.sql.query.scan.intervals import interval_us
from datasources.sql.query.scan.scanner import scan
from datasources.sql.query.windows.rounding import ceiling, floor
from datasources.sql.text.query_tree import Block
from datasources.sql.text.word_cursor import Words

TEXT = "SELECT a FROM b"


def rendered(*made: tuple[int, int, str]) -> str:
    edits = Edits()
    for start, end, new in made:
        if start == end:
            edits.insert(start, new)
        else:
            edits.replace(Span(start, end), new)
    return edits.render(TEXT, Span(0, len(TEXT)))


def test_a_text_without_edits_stays_as_it_is():
    assert rendered() == TEXT


def test_places_are_replaced_whatever_the_order_of_the_edits():
    assert rendered((14, 15, "c"), (7, 8, "x, y")) == "SELECT x, y FROM c"


def test_a_wider_edit_swallows_what_it_covers():
    assert rendered((7, 8, "x"), (7, 15, "1")) == "SELECT 1"


def test_what_was_inserted_at_the_edge_of_an_edit_stays():
    assert rendered((8, 8, " AS n"), (7, 7, "("), (7, 8, "x")) == "SELECT (x AS n FROM b"


def test_what_was_inserted_inside_of_an_edit_goes():
    assert rendered((10, 10, "!"), (9, 13, "FROM")) == TEXT


def test_insertions_at_one_position_keep_their_order():
    assert rendered((15, 15, " 1"), (15, 15, " 2")) == TEXT + " 1 2"


def test_a_removed_text_removes_one_blank():
    edits = Edits()
    edits.remove(TEXT, Span(9, 13))
    assert edits.render(TEXT, Span(0, len(TEXT))) == "SELECT a b"


def test_a_part_is_rendered_with_the_edits_inside_of_it():
    edits = Edits()
    edits.replace(Span(7, 8), "x")
    edits.replace(Span(14, 15), "y")
    assert edits.render(TEXT, Span(7, 13)) == "x FROM"


INTERVALS = [
    ("INTERVAL '10' SECOND", 10_000_000),
    ("INTERVAL 10 SECONDS", 10_000_000),
    ("INTERVAL '0.5' SECOND", 500_000),
    ("INTERVAL '.25' MINUTE", 15_000_000),
    ("INTERVAL '1' WEEK", 7 * 86_400_000_000),
    ("INTERVAL '-3' HOUR", -3 * 3_600_000_000),
    ("-INTERVAL '3' HOUR", -3 * 3_600_000_000),
    ("INTERVAL -'3' HOUR", -3 * 3_600_000_000),
    ("'5' MINUTES", 300_000_000),
    ("INTERVAL '1:30' MINUTE TO SECOND", 90_000_000),
    ("INTERVAL '1 02:03:04.5' DAY TO SECOND", 86_400_000_000 + 7_384_500_000),
    ("INTERVAL '7' MICROSECOND", 7),
    ("INTERVAL '0' DAY", 0),
]


@pytest.mark.parametrize(("text", "expected"), INTERVALS, ids=[text for text, _ in INTERVALS])
def test_a_constant_interval_is_read_in_microseconds(text, expected):
    words = Words.of(SqlText(text))
    assert interval_us(words, words.all, "the size") == expected


NO_INTERVALS = [
    "k",
    "INTERVAL k SECOND",
    "INTERVAL '5'",
    "INTERVAL '5' FORTNIGHT",
    "INTERVAL 'x' SECOND",
    "INTERVAL '0.0000001' SECOND",
    "INTERVAL '1:30' SECOND TO MINUTE",
    "INTERVAL '1' MINUTE TO SECOND",
    "INTERVAL '1' MONTH",
    "INTERVAL '1' YEARS",
    "INTERVAL '1-2' YEAR TO MONTH",
    "",
]


@pytest.mark.parametrize("text", NO_INTERVALS)
def test_what_is_no_constant_of_fixed_length_is_refused(text):
    words = Words.of(SqlText(text))
    with pytest.raises(SqlError, match=r"the size (is no constant interval|has months)"):
        interval_us(words, words.all, "the size")


@given(st.integers(-(10**15), 10**15))
def test_a_literal_of_a_length_is_read_back_as_that_length(us):
    words = Words.of(SqlText(interval_literal(us)))
    assert interval_us(words, words.all, "the size") == us


@pytest.mark.parametrize(
    ("us", "expected"),
    [
        (10_000_000, "10 seconds"),
        (60_000_000, "1 minute"),
        (90_000_000, "90 seconds"),
        (250_000, "250 milliseconds"),
        (86_400_000_000, "1 day"),
        (1_001, "1001 microseconds"),
    ],
)
def test_a_length_is_named_in_its_largest_unit(us, expected):
    assert spark_duration(us) == expected


def test_times_with_a_zone_are_rounded_in_the_sessions_zone():
    assert floor("l", "WEEK", "timestamp") == "date_trunc('WEEK', l)"


def test_times_without_a_zone_never_pass_through_the_sessions_zone():
    for unit in ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"):
        assert "date_trunc" not in ceiling("n", unit, "timestamp_ntz")


FILTERS = [
    ("k = 1", "k = 1"),
    ("t.k = 1 AND price > 2.5", "(k = 1) AND (price > 2.5)"),
    ("k BETWEEN 1 AND 3 AND item LIKE 'a%'", "(k BETWEEN 1 AND 3) AND (item LIKE 'a%')"),
    ("k = 1 OR item IS NULL", "k = 1 OR item IS NULL"),
    ("k = 1 AND upper(item) = 'A'", "k = 1"),
    ("k = 1 AND ts > TIMESTAMP '2024-01-01'", "k = 1"),
    ("k IN (1, 2)", "k IN (1, 2)"),
    ("k IN (SELECT k FROM u)", None),
    ("u.k = 1", None),
    ("t.a.b = 1", None),
    ("CURRENT_DATE = k", None),
    ("TRUE", None),
    (
        "CASE WHEN k = 1 AND price > 1 THEN item = 'a' ELSE FALSE END AND k > 0",
        "(CASE WHEN k = 1 AND price > 1 THEN item = 'a' ELSE FALSE END) AND (k > 0)",
    ),
    ("a[0] = 1", None),
]


@pytest.mark.parametrize(("where", "expected"), FILTERS, ids=[text for text, _ in FILTERS])
def test_a_filter_holds_what_mentions_only_columns_and_constants(where, expected):
    words, query = scan(SqlText(f"SELECT * FROM x AS t WHERE {where}"))
    block = query.terms[0]
    assert isinstance(block, Block)
    assert table_filter(words, block, block.sources[0]) == expected
