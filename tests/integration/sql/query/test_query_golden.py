"""Every rewrite of the query layer does what its golden pairs say, and Spark can read what comes out."""

from __future__ import annotations

import pytest

from tests.golden.sql.query.golden_query import answer, prepare, read_pairs
from tests.support.project import ROOT

FILES = sorted((ROOT / "tests/golden/sql/query").glob("*.sql"))
UNTOUCHED = {
    "current_watermark": 2,
    "group_windows": 2,
    "hints": 2,
    "outer_interval_joins": 4,
    "over": 2,
    "processing_time": 2,
    "spellings": 2,
    "tables": 3,
    "temporal_join": 2,
    "time_attributes": 2,
    "time_rounding": 2,
    "views": 2,
    "watermark_clause": 2,
    "window_functions": 2,
    "window_join": 2,
    "window_top_n": 3,
}
"""Rule -> how many of its pairs show where it does not fire."""


@pytest.mark.spark
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_input_is_rewritten_as_its_pair_expects(spark, path):
    prepare(spark)
    pairs = read_pairs(path)
    made = {}
    answers = [(pair.source, answer(spark, pair, made)) for pair in pairs]
    assert answers == [(pair.source, pair.expected) for pair in pairs]


def test_every_rule_has_pairs_enough():
    assert [path.stem for path in FILES] == sorted(UNTOUCHED)
    pairs = {path.stem: read_pairs(path) for path in FILES}
    assert min(len(found) for found in pairs.values()) >= 8
    assert sum(len(found) for found in pairs.values()) >= 150
    assert all(pair.reason for found in pairs.values() for pair in found)


def test_no_input_stands_twice_in_a_file():
    for path in FILES:
        sources = [(pair.source, tuple(pair.directives.items())) for pair in read_pairs(path)]
        assert len(sources) == len(set(sources)), path.stem
