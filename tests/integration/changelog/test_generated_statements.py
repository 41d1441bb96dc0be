"""Generated statements over tables that change, compared with DuckDB's answer on the tables after every batch.

Operators run in memory, which is fast enough for hundreds of statements; the exhaustive run has some as streams too. A
statement is found again by its seed: `generated_statement(seed)`.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from datasources import changelog
from datasources.errors import QueryError
from tests.support.forms import full
from tests.support.spark.change_query_run import ChangeQueryRun
from tests.support.spark.changing_tables import TABLES, QueryRun, generated, require_equal
from tests.support.spark.generated_statements import generated_statement

pytestmark = pytest.mark.spark

SEEDS_PER_TEST = 10
MAX_REFUSED = 0.3


def tables_of(seed):
    """The tables, and the names of those that only grow: one in six."""
    rng = random.Random(seed)
    growing = [name for name in TABLES if rng.random() < 1 / 6]
    tables = {
        name: generated(kind, rng.randrange(1_000_000), batches=5, inserts_only=name in growing)
        for name, kind in TABLES.items()
    }
    return tables, growing


def require_answers(spark, seed):
    statement = generated_statement(seed)
    tables, growing = tables_of(seed)
    run = ChangeQueryRun(spark, tables, growing)
    batches, truths = run.changes(statement), QueryRun(spark, None, tables, None).truths(statement)
    require_equal(batches, truths, has_kinds=not run.shape.is_insert_only)
    for truth in truths if run.shape.key is not None else ():
        keys = Counter(tuple(row[at] for at in run.shape.key) for row in truth.elements())
        assert [key for key, rows in keys.items() if rows > 1] == [], f"{run.shape.key} is no key"


@pytest.mark.parametrize("first", [0, *full(*range(SEEDS_PER_TEST, 40 * SEEDS_PER_TEST, SEEDS_PER_TEST))])
def test_changes_of_generated_statements_lead_to_the_answer(spark, first):
    refused = {}
    for seed in range(first, first + SEEDS_PER_TEST):
        try:
            require_answers(spark, seed)
        except QueryError as error:
            refused[seed] = error.message
        except Exception as error:
            error.add_note(f"seed {seed}: {generated_statement(seed)}")
            raise
    assert len(refused) <= MAX_REFUSED * SEEDS_PER_TEST, refused


def query_of(growing):
    def query(text, **streams):
        return changelog.query(text, **{n: s.drop("row_kind") if n in growing else s for n, s in streams.items()})

    return query


@pytest.mark.parametrize("first", full(*range(1_000, 1_120, SEEDS_PER_TEST)))
def test_changes_of_a_generated_statement_lead_to_the_answer_as_streams(spark, tmp_path, first):
    """The first statement of each ten that is not refused."""
    for seed in range(first, first + SEEDS_PER_TEST):
        statement, (tables, growing) = generated_statement(seed), tables_of(seed)
        run = QueryRun(spark, tmp_path / str(seed), tables, query_of(growing))
        try:
            frame = run.query(statement, **run.streams())
        except QueryError:
            continue
        require_equal(run.changes(statement), run.truths(statement), has_kinds="row_kind" in frame.columns)
        return
    raise AssertionError(f"all statements from {first} are refused")
