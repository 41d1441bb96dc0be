"""Queries that were damaged at random are rewritten or refused with an error of ours, never anything else."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query import rewrite_query
from tests.golden.sql.query.golden_query import TABLES, VIEWS, read_pairs
from tests.support.project import ROOT
from tests.support.sql.sql_relations import FakeRelations

FOLDER = ROOT / "tests" / "golden" / "sql" / "query"
PIECE = re.compile(r"\s+|\w+|'[^']*'|[^\w\s]")


def mutants(seed: int, count: int) -> Iterator[str]:
    """Inputs of golden pairs with one to three pieces taken out, doubled, or put in from another input."""
    rng = random.Random(seed)
    whole = [PIECE.findall(pair.source) for path in sorted(FOLDER.glob("*.sql")) for pair in read_pairs(path)]
    for _ in range(count):
        pieces = list(rng.choice(whole))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(pieces) + 1)
            other = rng.choice(whole)
            begin = rng.randrange(len(other))
            taken = rng.choice((0, 0, 1, 1, 2, 4))
            pieces[at : at + taken] = other[begin : begin + rng.choice((0, 1, 1, 2, 12))]
        yield "".join(pieces)


@pytest.mark.parametrize(
    ("seed", "count"), [(1, 40), pytest.param(2, 10_000, marks=[pytest.mark.slow, pytest.mark.full])]
)
def test_a_damaged_query_is_rewritten_or_refused(seed, count):
    rng = random.Random(seed)
    for text in mutants(seed, count):
        relations = FakeRelations(
            tables=TABLES, views=VIEWS, is_exact=rng.random() < 0.3, is_streaming=rng.random() < 0.8
        )
        with suppress(SqlError):
            assert rewrite_query(SqlText(text), relations).text
