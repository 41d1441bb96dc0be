"""Whatever the text: a statement, or an error of ours that points into it. Never another exception, never a hang."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.parse import parse_statement
from datasources.sql.statements.statements import PassThrough, Query, Statement
from datasources.sql.text.script import split_script
from tests.support.project import ROOT
from tests.support.sql.sql_mutants import DEEP, SPARK_STATEMENTS, mutants
from tests.support.sql.sql_statements import cases_of
from tests.support.work import calls_of

GOLDEN = ROOT / "tests" / "golden" / "sql" / "statements"
OWN = tuple(
    case.text
    for file in sorted(GOLDEN.glob("*.sql"))
    for case in cases_of(file)
    if not case.expected.startswith(("error", "[Spark's]", "[query]"))
)
MAX_CALLS = 40  # for a character; the dearest of these texts takes 21, and looking back takes thousands


def read(text: str) -> Statement | SqlError:
    """Read a text; anything but a statement or an error of ours ends the test."""
    try:
        return parse_statement(SqlText(text, name="script.sql"))
    except SqlError as error:
        return error


def outcome_of(text: str) -> str:
    """Read a text and name what came out."""
    read_as = read(text)
    if isinstance(read_as, SqlError):
        assert read_as.message.startswith("script.sql, line ")
        assert read_as.message.endswith("^")
        return "error"
    assert read_as.source.text in text
    return type(read_as).__name__


def pieces_of(script: str) -> list[str]:
    """Cut a script; the empty list if it cannot be cut."""
    try:
        return [each.text for each in split_script(SqlText(script))]
    except SqlError:
        return []


def test_ten_thousand_mutants_give_a_statement_or_an_error_of_ours():
    found = Counter(outcome_of(text) for text in mutants(OWN, seed=5, count=5_000))
    assert found["error"] > 1_000
    assert sum(found.values()) - found["error"] - found["PassThrough"] > 1_000

    found = Counter(outcome_of(text) for text in mutants((*OWN, *SPARK_STATEMENTS * 20), seed=6, count=5_000))
    assert found[PassThrough.__name__] > 500
    assert found[Query.__name__] > 500


@pytest.mark.full
def test_two_hundred_thousand_mutants_give_a_statement_or_an_error_of_ours():
    found = Counter(outcome_of(text) for text in mutants((*OWN, *SPARK_STATEMENTS * 5), seed=7, count=200_000))
    assert min(found["error"], found["CreateTable"], found["PassThrough"]) > 1_000


@pytest.mark.parametrize("text", DEEP, ids=lambda text: f"{text[:24]}...")
def test_long_and_deep_texts_are_read_with_work_in_proportion_to_their_length(text):
    assert calls_of(lambda: outcome_of(text)) < MAX_CALLS * len(text)


def test_a_script_of_mutants_is_cut_into_pieces_of_itself_or_refused():
    pairs = [f"{one};\n{other};" for one, other in pairwise(OWN)]
    cut = 0
    for script in mutants(pairs, seed=8, count=500):
        at = 0
        for piece in pieces_of(script):
            at = script.index(piece, at) + len(piece)
            cut += 1
    assert cut > 500
