"""Readers that deliver only what a query needs: the rows are those of readers that deliver everything."""

from __future__ import annotations

from collections import Counter

import pytest

from datasources.sql import TableEnvironment
from tests.support.sql.growing_table import run_over_all, source_options_of
from tests.support.sql.nested_relations import COLUMNS, generated_records, generated_statement
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

PUSHDOWN = "table.exec.source.projection-pushdown"
DEFAULT_BATCHES, ALL_BATCHES = 20, 400
DEFAULT_STREAMS, ALL_STREAMS = 3, 60
LOST_BY_SPARK = {382}
"""Statements whose columns Spark's optimizer does not find any more, whatever is pushed down: structs made of structs."""


def seeds(default, count):
    return [each if each < default else pytest.param(each, marks=pytest.mark.full) for each in range(count)]


def environment(spark, directory, views=(), **settings):
    t = TableEnvironment(spark, settings=settings)
    t.sql(scripted_table("n", COLUMNS, directory / "n", **{"scan.max-rows-per-batch": "30"}))
    for view in views:
        t.sql(view)
    return t


def add(directory, seed, count=80):
    rows = list(generated_records(seed, count))
    for split in range(2):
        write_records(directory / "n", f"s-{split}", rows[split::2])


def batch_rows(spark, directory, statement, pushed):
    settings = {PUSHDOWN: pushed, "execution.runtime-mode": "batch"}
    frame = environment(spark, directory, statement.views, **settings).sql(statement.text)
    return Counter(map(str, frame.collect())), frame.schema


@pytest.mark.parametrize("block", seeds(DEFAULT_BATCHES // 20, ALL_BATCHES // 20))
def test_a_batch_gives_the_rows_that_it_gives_of_whole_tables(spark, tmp_path, block):
    add(tmp_path, 0)
    answered = 0
    for seed in range(block * 20, (block + 1) * 20):
        statement = generated_statement(seed)
        found, schema = batch_rows(spark, tmp_path, statement, "true")
        expected, whole = batch_rows(spark, tmp_path, statement, "false")
        assert found == expected, statement
        assert schema == whole, statement
        answered += bool(found)
    assert answered > 10


def stream_rows(spark, directory, statement, pushed, checkpoint):
    frame = environment(spark, directory, statement.views, **{PUSHDOWN: pushed}).sql(statement.text)
    return run_over_all(frame, directory / checkpoint)[0]


@pytest.mark.parametrize("seed", seeds(DEFAULT_STREAMS, ALL_STREAMS))
def test_a_stream_goes_on_with_and_without_push_down(spark, tmp_path, seed):
    statement = next(
        found
        for each in range(seed * 10, seed * 10 + 10)
        if each not in LOST_BY_SPARK and (found := generated_statement(1_000 + each)).is_of_stream and found.views
    )
    totals = {order: Counter() for order in (("true", "false"), ("false", "true"), ("false", "false"))}
    for step in range(2):
        add(tmp_path, step)
        for order, total in totals.items():
            total.update(stream_rows(spark, tmp_path, statement, order[step], "-".join(order)))
    expected = totals.pop(("false", "false"))
    for order, found in totals.items():
        assert found == expected, (order, statement)


def scan(spark, directory, views, statement):
    """Return the columns and the condition of the scan of a statement."""
    options = source_options_of(environment(spark, directory, views).sql(statement))
    return [(each.get("scan.columns", "").replace("`", ""), each.get("scan.filter")) for each in options]


RENAMED = "CREATE VIEW w AS SELECT id, a AS s, b.Y AS y, ts, named_struct('m', b.x, 'n', k) AS made FROM n WHERE v = 1"


@pytest.mark.parametrize(
    ("statement", "columns", "condition"),
    [
        ("SELECT s.z.p FROM w", "v, a.z.p", "v = 1"),
        ("SELECT s.z.`r.s`.d, y FROM w", "v, a.z.r.s.d, b.Y", "v = 1"),
        ("SELECT s.z FROM w WHERE s.x > 1", "v, a.x, a.z.p, a.z.q, a.z.r.s.c, a.z.r.s.d", "(v = 1) AND ((a.`x` > 1))"),
        ("SELECT made.m FROM w WHERE made.n = 'k'", "k, v, b.x", "v = 1"),
        ("SELECT id FROM w WHERE s IS NULL", "id, v, a.x, a.y, a.z.p, a.z.q, a.z.r.s.c, a.z.r.s.d", None),
        ("SELECT r.id FROM w AS l JOIN w AS r ON l.id = r.id WHERE rand() > 2", "id, v", "(v = 1)"),
        ("SELECT 1 AS one FROM w", "v", "v = 1"),
    ],
)
def test_a_source_delivers_what_is_needed_through_a_view(spark, tmp_path, statement, columns, condition):
    add(tmp_path, 0, count=2)
    for found, pushed in scan(spark, tmp_path, [RENAMED], statement):
        assert found == columns
        assert condition is None or pushed == condition


def test_a_with_that_is_used_once_is_as_a_view(spark, tmp_path):
    add(tmp_path, 0, count=2)
    statement = f"WITH w AS ({RENAMED.removeprefix('CREATE VIEW w AS ')}) SELECT s.z.p AS p FROM w WHERE y = 'a'"
    assert scan(spark, tmp_path, [], statement) == [("v, a.z.p, b.Y", "(v = 1) AND ((b.`Y` = 'a'))")]
    twice = statement.replace("FROM w", "FROM w JOIN (SELECT id AS other FROM w) ON id = other")
    assert len(scan(spark, tmp_path, [], twice)) == 1  # as before: a checkpoint has one source


JOINED = "SELECT l.k, r.b.x FROM n AS l {} r ON l.id = r.a.x AND l.v = 1 WHERE r.k = 'k' AND 6 % l.v = 0 AND l.v <> r.v"


@pytest.mark.parametrize(
    ("join", "condition"),
    [
        ("JOIN n AS", "(v = 1) OR (k = 'k')"),
        ("JOIN (SELECT * FROM n WHERE id > 0) AS", "(v = 1) OR ((id > 0) AND (k = 'k'))"),
        ("LEFT JOIN n AS", None),
    ],
)
def test_conditions_about_a_side_of_an_inner_join_choose_rows_of_its_source(spark, tmp_path, join, condition):
    add(tmp_path, 0, count=2)
    for _, found in scan(spark, tmp_path, [], JOINED.format(join)):
        assert (found or "").replace("(", "").replace(")", "") == (condition or "").replace("(", "").replace(")", "")


def test_explain_shows_what_is_delivered(spark, tmp_path):
    add(tmp_path, 0, count=2)
    shown = str(environment(spark, tmp_path, [RENAMED]).sql("EXPLAIN SELECT s.z, made.m FROM w WHERE s.x > 1"))
    table = shown[shown.index("== Table") : shown.index("== Spark")]
    assert "Calc(select=[k, v, a, b])\n" in table
    assert "fields=[k, v, a.x, a.z, b.x], filter=[(v = 1) AND ((a.`x` > 1))], watermark=[ts - INTERVAL" in table
