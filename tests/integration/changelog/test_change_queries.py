"""Queries over tables that change, on Spark, compared with DuckDB's answer on the tables after every batch."""

from __future__ import annotations

import pytest

from datasources import changelog
from datasources.errors import QueryError
from tests.support.forms import long
from tests.support.spark.changing_tables import TABLES, QueryRun, generated, require_equal

pytestmark = pytest.mark.spark

RANKED = "SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, id) AS n FROM t"
STATEMENTS = {
    "groups": "SELECT k, count(*), sum(v), min(v), max(d), count(v), sum(p), count(DISTINCT v) FROM t GROUP BY k",
    "join with a condition": "SELECT t.id, t.k, u.uid, u.w FROM t LEFT JOIN u ON t.k = u.k AND t.v < u.w",
    "top n": f"SELECT id, k, v FROM ({RANKED}) WHERE n <= 2",
    "one row joined": "SELECT t.id, x.c, y.c FROM (SELECT count(*) AS c, max(w) AS m FROM u WHERE w > 3) x JOIN t "
    "ON x.c < 2 OR t.v > x.m LEFT JOIN (SELECT count(*) AS c FROM u HAVING count(*) < 5) y ON y.c > t.v",
    "except all": "SELECT k FROM t EXCEPT ALL SELECT k FROM u",
}
ADDITIONAL = {
    "aggregate of aggregates": "SELECT c, count(*) FROM (SELECT k, count(*) AS c FROM t GROUP BY k) GROUP BY c",
    "exists": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.w > t.v)",
    "scalar subquery": "SELECT id FROM t WHERE v > (SELECT avg(w) FROM u)",
    "scalar subquery over no rows": "SELECT id, (SELECT count(*) + 1 FROM u WHERE w > 100) FROM t "
    "WHERE (SELECT count(*) FROM u WHERE w > 3) < 2",
    "top n with a subquery": f"SELECT id, n FROM ({RANKED}) WHERE n <= 3 AND n <= (SELECT count(*) FROM u WHERE w > 2)",
    "limit": "SELECT id, v FROM t ORDER BY v DESC NULLS LAST, id LIMIT 3 OFFSET 1",
    "projection": "SELECT id, v * 2 FROM t WHERE v > 0",
    "count": "SELECT count(*) FROM t",
    "having": "SELECT k, count(DISTINCT v), count(DISTINCT p) FROM t GROUP BY k HAVING count(*) > 1",
    "filter": "SELECT k, count(*) FILTER (WHERE v > 0), sum(v) FILTER (WHERE d < 1) FROM t GROUP BY k",
    "doubles": "SELECT min(d), max(d), count(d) FROM t",
    "groups of doubles": "SELECT d, count(*), count(DISTINCT d) FROM t GROUP BY d",
    "join of doubles": "SELECT a.id, b.id FROM t a JOIN t b ON a.d = b.d",
    "distinct counts": "SELECT count(DISTINCT c), count(DISTINCT 1) FROM "
    "(SELECT k, count(*) AS c FROM t GROUP BY k) GROUP BY c % 2",
    "count of each row": "SELECT id, (SELECT count(*) FROM u WHERE u.k = t.k AND u.w > 2) FROM t",
    "distinct": "SELECT DISTINCT k, v FROM t",
    "row of an aggregate": "SELECT t.id, x.c FROM t, (SELECT count(*) AS c FROM u WHERE w > 100) x WHERE x.c = 0",
    "row with having": "SELECT t.id, x.c FROM t, (SELECT count(*) AS c FROM u HAVING count(*) < 3) x",
    "subquery with having": "SELECT id, (SELECT count(*) FROM u HAVING count(*) < 3) FROM t",
    "in an aggregate": "SELECT id FROM t WHERE v IN (SELECT count(*) FROM u WHERE w > 3)",
    "not in an aggregate": "SELECT id FROM t WHERE v NOT IN (SELECT max(w) FROM u)",
    "in an aggregate or": "SELECT id FROM t WHERE v IN (SELECT count(*) FROM u) OR k = 'a'",
    "right join of a row": "SELECT t.id, x.c FROM (SELECT count(*) AS c FROM u) x RIGHT JOIN t ON t.v = x.c",
    "two rows": "SELECT a.c, b.c, t.id FROM (SELECT count(*) AS c FROM u) a, (SELECT sum(w) AS c FROM u) b, t",
    "inner join": "SELECT t.id, t.k, u.uid, u.name FROM t JOIN u ON t.k = u.k",
    "self join": "SELECT a.id, b.id FROM t a JOIN t b ON a.k = b.k AND a.v < b.v",
    "full join": "SELECT t.id, u.uid FROM t FULL JOIN u ON t.id = u.uid",
    "full join with a condition": "SELECT t.id, u.uid FROM t FULL JOIN u ON t.id = u.uid AND t.v > u.w",
    "right join": "SELECT t.v, u.uid FROM t RIGHT JOIN u ON t.k = u.k",
    "cross join": "SELECT t.id, u.uid FROM t, u WHERE t.v + u.w = 3",
    "not exists": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "not in": "SELECT id FROM t WHERE v NOT IN (SELECT w FROM u)",
    "in or": "SELECT id FROM t WHERE k IN (SELECT k FROM u WHERE w > 0) OR v = 1",
    "rank as a column": "SELECT id, rank() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST) FROM t",
    "top n with its rank": f"SELECT id, k, n FROM ({RANKED}) WHERE n <= 2",
    "second row": f"SELECT id, k FROM ({RANKED}) WHERE n = 2",
    "dense rank": "SELECT id FROM (SELECT id, dense_rank() OVER (ORDER BY v NULLS LAST) AS r FROM t) WHERE r < 3",
    "union all": "SELECT k FROM t UNION ALL SELECT k FROM u",
    "union": "SELECT k, v FROM t UNION SELECT k, w FROM u",
    "intersect": "SELECT k FROM t INTERSECT SELECT k FROM u",
    "intersect all": "SELECT k FROM t INTERSECT ALL SELECT k FROM u",
    "except": "SELECT k FROM t EXCEPT SELECT k FROM u",
    "groups above an average": "SELECT k, c FROM (SELECT k, count(*) AS c FROM t GROUP BY k) "
    "WHERE c > (SELECT avg(c) FROM (SELECT count(*) AS c FROM t GROUP BY k))",
    "grouping sets": "SELECT k, v, count(*) FROM t GROUP BY GROUPING SETS ((k), (v), ())",
    "cube": "SELECT k, v % 2, grouping(k), sum(v) FROM t GROUP BY CUBE (k, v % 2)",
    "with": "WITH g AS (SELECT k, max(v) AS m FROM t GROUP BY k) SELECT t.id FROM t JOIN g ON t.k = g.k AND t.v = g.m",
    "last row": "SELECT k, id FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY seen DESC NULLS LAST, id) AS n "
    "FROM t) WHERE n = 1",
    "a join of aggregates": "SELECT a.k, a.c, b.s FROM (SELECT k, count(*) AS c FROM t GROUP BY k) a "
    "LEFT JOIN (SELECT k, sum(w) AS s FROM u GROUP BY k) b ON a.k = b.k",
    "top n of a join": "SELECT id, uid FROM (SELECT t.id, u.uid, row_number() OVER (PARTITION BY u.k ORDER BY t.v DESC "
    "NULLS LAST, t.id, u.uid) AS n FROM t JOIN u ON t.k = u.k) WHERE n <= 2",
    "two rows of nothing": "SELECT a.c, b.c, t.id FROM (SELECT count(*) AS c FROM u WHERE w > 100) a, "
    "(SELECT sum(w) AS c FROM u WHERE w > 100) b, t",
    "condition of a join with a subquery": "SELECT t.id, u.uid FROM t JOIN u ON t.k = u.k "
    "WHERE t.v = u.w OR t.v > (SELECT avg(w) FROM u)",
    "limit in a limit": "SELECT c FROM (SELECT id AS c FROM t ORDER BY id LIMIT 6 OFFSET 1) ORDER BY c LIMIT 3 OFFSET 2",
    "offset of a limit": "SELECT c FROM (SELECT id AS c FROM t ORDER BY id LIMIT 5) ORDER BY c OFFSET 2",
    "order by another column": "SELECT id FROM t ORDER BY v NULLS LAST, id DESC LIMIT 3",
    "order by a subquery": "SELECT id FROM t ORDER BY (SELECT max(w) FROM u) - v NULLS FIRST, id LIMIT 3",
    "exists an aggregate": "SELECT id, NOT EXISTS (SELECT max(w) FROM u WHERE w > 100) FROM t",
    "hints": "SELECT /*+ REPARTITION(3) */ id FROM (SELECT id, k FROM t DISTRIBUTE BY k) x WHERE k > 'a'",
    "value of a limit": "SELECT id, (SELECT v FROM t ORDER BY id LIMIT 1) FROM t WHERE v > (SELECT v FROM t ORDER BY id LIMIT 1)",
    "two ranks": "SELECT id, row_number() OVER (PARTITION BY k ORDER BY id), rank() OVER (PARTITION BY v ORDER BY id) FROM t",
    "subquery beside an aggregate": "SELECT k, (SELECT max(w) FROM u) + count(*) FROM t GROUP BY k",
    "subquery behind an aggregate": "SELECT k, (SELECT count(*) FROM u WHERE u.k = x.k) FROM "
    "(SELECT k, count(*) FROM t GROUP BY k) x",
    "aggregates of nothing known": "SELECT k, max(NULL), count(NULL) FROM t GROUP BY k",
    "count of pairs": "SELECT count(*) FROM t, u",
    "count of an outer join": "SELECT count(*) FROM t FULL JOIN u ON t.id = u.uid AND t.v < u.w",
    "where false": "SELECT k FROM t WHERE FALSE UNION ALL SELECT k FROM u",
    "in constants or": "SELECT id FROM t WHERE k IN (SELECT x FROM (VALUES ('a'), ('b')) AS c(x)) OR v = 1",
    "lateral": "SELECT t.id, l.c FROM t, LATERAL (SELECT count(*) AS c FROM u WHERE u.k = t.k AND u.w > t.v) l",
    "constants": "SELECT t.id, c.x FROM t JOIN (VALUES ('a', 1), ('b', 2)) AS c(k, x) ON t.k = c.k",
}

TYPED = (
    "(SELECT *, CAST(seen AS TIMESTAMP) AS z, CAST(seen AS DATE) AS day, make_dt_interval(v) AS i, CAST(v AS TINYINT) AS y, "
    "CAST(d AS FLOAT) AS f, encode(k, 'utf-8') AS b, v > 0 AS o, struct(v) AS s FROM t) AS typed"
)
OF_TYPES = {
    "aggregates": "SELECT k, "
    + ", ".join(
        f"max({c}), min({c}), any_value({c}), count({c}), count(DISTINCT {c}), max_by({c}, id), size(array_agg({c}))"
        for c in ("seen", "z", "day", "i", "y", "f", "b", "o", "s")
    )
    + f" FROM {TYPED} GROUP BY k",
    "groups": f"SELECT z, day, i, y, f, b, o, s, count(*) FROM {TYPED} GROUP BY z, day, i, y, f, b, o, s",
    "ranks": f"SELECT id, z, s, n FROM (SELECT id, z, s, row_number() OVER (PARTITION BY s, day ORDER BY z, i, y, f, b, o, id) "
    f"AS n FROM {TYPED}) AS ranked WHERE n <= 2",
}
RECOMPUTED = {
    "by expressions": "SELECT k, round(stddev(v), 6), round(var_pop(p), 6), round(corr(v, id) * 2, 6), "
    "round(covar_samp(id, v), 6), round(regr_slope(v, id), 6), round(skewness(v), 6), round(kurtosis(v), 6), bit_and(v), "
    "bit_or(v) FILTER (WHERE v > 0), bit_xor(v), max_by(id, struct(v, id)), min_by(struct(k, p), struct(p, id)), "
    "sum(v), round(stddev_pop(DISTINCT v), 6), count(*) FROM t GROUP BY k",
    "by methods": "SELECT k, percentile(v, 0.3), median(p), percentile(v, array(0.1, 0.9), 2) FILTER (WHERE v > -3), "
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY id DESC), percentile_disc(0.25) WITHIN GROUP (ORDER BY v), "
    "percentile_approx(v, array(0.1, 0.5), 100), mode(v, true), approx_count_distinct(v), approx_count_distinct(d), "
    "histogram_numeric(DISTINCT v, 20), count_min_sketch(v, 0.5D, 0.5D, 1), "
    "hll_sketch_estimate(hll_sketch_agg(DISTINCT k)), max(v) FROM t GROUP BY k",
    "without groups": "SELECT round(stddev(v), 6), median(d), max_by(k, id), approx_count_distinct(k) FROM t",
    "in a condition": "SELECT id, (SELECT median(w) FROM u WHERE u.k = t.k) FROM t "
    "WHERE v >= (SELECT percentile(w, 0.5) FROM u WHERE w > 2)",
    "of nothing": "SELECT id, (SELECT hll_sketch_estimate(hll_sketch_agg(w)) FROM u WHERE w > 100), x.* FROM t, "
    "(SELECT stddev(w), approx_top_k(w), histogram_numeric(w, 3), collect_set(w), regr_count(w, uid) FROM u WHERE w > 4) AS x",
    "of times": "SELECT k, sum(make_dt_interval(v)), avg(make_dt_interval(v)), "
    "max_by(CAST('20000-12-31 23:59:59' AS TIMESTAMP), id) > TIMESTAMP '2020-01-01', "
    "max_by(array(CAST('20000-12-31 23:59:59' AS TIMESTAMP)), id)[0] > TIMESTAMP '2020-01-01', "
    "max(struct(CAST('20000-12-31' AS DATE), id)).id FROM t GROUP BY k",
    "several distinct": "SELECT k, count(DISTINCT v), count(DISTINCT p), max_by(map('v', v), id)['v'], "
    "max_by(k COLLATE UTF8_LCASE, id) FROM t GROUP BY k",
    "of aggregates": "SELECT median(c), max_by(k, struct(c, k)) FROM "
    "(SELECT k, count(*) AS c, median(v) AS m FROM t GROUP BY k HAVING stddev_pop(v) > 0.5) WHERE m IS NOT NULL",
}

LONG = ("one row joined", "join with a condition")


@pytest.fixture
def run(spark, tmp_path):
    def runs(seed: int, *, batches: int = 5, inserts_only: bool = False) -> QueryRun:
        tables = {
            name: generated(kind, seed * 100 + at, batches, inserts_only=inserts_only)
            for at, (name, kind) in enumerate(TABLES.items())
        }
        return QueryRun(spark, tmp_path, tables, changelog.query)

    return runs


@pytest.mark.parametrize("name", [*(name for name in STATEMENTS if name not in LONG), *long(*LONG)])
def test_changes_lead_to_the_answer_on_the_tables_after_every_batch(run, name):
    query = run(seed=sorted(STATEMENTS).index(name))
    require_equal(query.changes(STATEMENTS[name]), query.truths(STATEMENTS[name]))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*ADDITIONAL, *STATEMENTS])
def test_changes_lead_to_the_answer_on_generated_tables(run, name, seed):
    statement = (ADDITIONAL | STATEMENTS)[name]
    query = run(seed=1_000 + seed, batches=7)
    require_equal(query.changes(statement), query.truths(statement))


@pytest.mark.parametrize("name", RECOMPUTED)
def test_aggregates_that_are_computed_anew_give_sparks_answer(run, name):
    query = run(seed=41 + len(name))
    require_equal(query.changes(RECOMPUTED[name]), query.spark_truths(RECOMPUTED[name]))


@pytest.mark.parametrize("name", OF_TYPES)
def test_values_of_every_type_give_sparks_answer(run, name):
    query = run(seed=77)
    changes = query.changes(OF_TYPES[name])
    require_equal(changes, query.spark_truths(OF_TYPES[name].replace("any_value", "min")))  # Spark's is any of them


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"x": "stddev(v)"}, {"x": "var_pop(v)"}),
        ({"x": "percentile(v, 0.1)"}, {"x": "percentile(v, 0.9)"}),
        ({"x": "sum(v)"}, {"x": "sum(v * 2)"}),
    ],
)
def test_a_restart_with_another_aggregate_is_refused(run, first, second):
    query = run(seed=5)
    query.query = lambda aggregates, t, u: changelog.aggregate(t, ["k"], aggregates)  # noqa: ARG005
    query.changes(first)
    query.extend()
    with pytest.raises(Exception, match=r"TIDEMARK_OFFSET\].*statement was .* and is "):
        query.changes(second)
    query.changes(first)


def test_a_restart_with_another_order_is_refused(run):
    query = run(seed=5)
    query.query = lambda order, t, u: changelog.top(t, ["k"], order, 2)  # noqa: ARG005
    query.changes("v % 3")
    query.extend()
    with pytest.raises(Exception, match=r"TIDEMARK_OFFSET\].*statement was .* and is "):
        query.changes("v % 5")


def test_rows_that_are_only_added_need_no_row_kind(run):
    query = run(seed=7, inserts_only=True)
    query.query = lambda text, **tables: changelog.query(text, **{n: t.drop("row_kind") for n, t in tables.items()})
    statement = "SELECT DISTINCT t.id, u.uid FROM t JOIN u ON t.k = u.k WHERE t.v > 2"
    require_equal(query.changes(statement), query.truths(statement), has_kinds=False)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("SELECT id FROM t ORDER BY id", "ORDER BY without LIMIT"),
        ("SELECT id, rand() FROM t", "which has another value each time"),
        ("SELECT id, current_timestamp() FROM t", "the current time"),
        ("SELECT id, sum(v) OVER (PARTITION BY k) FROM t", "window functions other than"),
        ("SELECT id, lag(v) OVER (ORDER BY id) FROM t", "window functions other than"),
        ("SELECT id, (SELECT w FROM u WHERE u.uid = 1) FROM t", "more than one row"),
        ("SELECT id, (SELECT w FROM u WHERE u.uid = t.id) FROM t", "more than one row"),
        (
            "SELECT a.id FROM (SELECT id, struct(v) AS s FROM t) a JOIN (SELECT struct(w) AS s FROM u) b ON a.s = b.s",
            "keys have different types",
        ),
        ("SELECT id FROM t ORDER BY rand() LIMIT 3", "which has another value each time"),
        (
            "SELECT t.id, (SELECT max(c) FROM (SELECT count(*) AS c FROM u WHERE w > 9)) FROM t",
            "an aggregate without GROUP BY in this place",
        ),
        (
            "SELECT id FROM t WHERE v IN (SELECT count(*) FROM u UNION ALL SELECT w FROM u)",
            "an aggregate without GROUP BY in this place",
        ),
        ("SELECT sum(v + (SELECT count(*) FROM u)) FROM t", "a subquery in this place"),
        ("SELECT 'x', 1 UNION ALL SELECT k, v FROM t", "rows that do not change"),
        ("SELECT count(DISTINCT k COLLATE UTF8_LCASE) FROM t", "the argument of count.*has the collation UTF8_LCASE"),
        (
            "SELECT id, max(k COLLATE UTF8_LCASE) FROM t GROUP BY id",
            "the argument of max.*has the collation UTF8_LCASE",
        ),
        ("SELECT k FROM t ORDER BY k COLLATE UTF8_LCASE LIMIT 2", "in a ranking has the collation UTF8_LCASE"),
        ("SELECT id FROM t ORDER BY struct(v) LIMIT 2", r"ORDER BY struct\(t.v\).*Order by the values in it"),
        ("SELECT max(make_ym_interval(v)) FROM t", "YearMonthIntervalType.*Cast the column"),
        ("SELECT k, max_by(parse_json('1'), id) FROM t GROUP BY k", "max_by.* takes VARIANT.*cast it"),
        ("SELECT * FROM (SELECT k, v FROM t) PIVOT (max(v) FOR k IN ('a', 'b'))", "cannot have PIVOT.*FILTER"),
        ("SELECT k, max_by(array(), id) FROM t GROUP BY k", "null type.*Cast the column"),
        ("SELECT x FROM (SELECT k COLLATE UTF8_LCASE AS x FROM t) GROUP BY x", r"lower\(.* COLLATE UTF8_BINARY\)"),
        ("SELECT k, bitmap_construct_agg(id) FROM t GROUP BY k", r"the aggregate bitmap_construct_agg"),
        ("SELECT id AS row_kind FROM t", "give it another name"),
    ],
)
def test_what_cannot_be_kept_up_to_date_is_refused_with_the_reason(run, statement, reason):
    query = run(seed=1, batches=1)
    with pytest.raises(QueryError, match=reason):
        changelog.query(statement, **query.streams())
