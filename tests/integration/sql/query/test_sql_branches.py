"""One relation used twice in a statement, in generated combinations: what a batch over the same rows gives.

A combination is two aggregations, what they read, and what puts them together. Forms that a stream of Spark's has not
(EXCEPT, INTERSECT, sub-queries in conditions, LEFT SEMI of results) are refused with an error; so they are left out here.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any, Final

import pytest

from tests.integration.sql.query.test_spark_branches import STEPS, append, environment, run
from tests.support.forms import full_cases, long_cases
from tests.support.spark.scripted_stream import Scripts, seconds

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

WINDOW: Final = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
BOUNDS: Final = "window_start AS s, window_end AS e"
COUNTS: Final = f"SELECT k, {BOUNDS}, count(*) AS n FROM {WINDOW} GROUP BY k, window_start, window_end"
AGGREGATES: Final = {
    "counts": COUNTS,
    "totals": f"SELECT 'all' AS k, {BOUNDS}, count(*) AS n FROM {WINDOW} GROUP BY window_start, window_end",
    "having": f"{COUNTS} HAVING count(*) > 1",
    "rollup": f"SELECT k, {BOUNDS}, count(*) AS n FROM {WINDOW} GROUP BY window_start, window_end, ROLLUP (k)",
    "distinct": f"SELECT DISTINCT k, {BOUNDS}, 1 AS n FROM {WINDOW}",
    "hops": COUNTS.replace("TUMBLE", "HOP").replace("INTERVAL '10'", "INTERVAL '5' SECOND, INTERVAL '10'"),
    "growing": COUNTS.replace("TUMBLE", "CUMULATE").replace("INTERVAL '10'", "INTERVAL '5' SECOND, INTERVAL '10'"),
    "group windows": "SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS s, TUMBLE_END(ts, INTERVAL '10' SECOND) AS e, "
    "count(*) AS n FROM {} GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)",
    "best": f"SELECT k, s, e, n FROM (SELECT k, {BOUNDS}, INT(v) AS n, ROW_NUMBER() OVER (PARTITION BY window_start, "
    f"window_end ORDER BY INT(v) DESC, k) AS rank FROM {WINDOW}) WHERE rank <= 1",
    "of counts": f"SELECT max(k) AS k, s, e, max(n) AS n FROM ({COUNTS}) GROUP BY s, e",
    "windows of windows": f"SELECT 'all' AS k, {BOUNDS}, max(n) AS n FROM TABLE(TUMBLE(TABLE (SELECT k, window_time AS rt, "
    "count(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end, "
    "window_time), DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
}
ON: Final = "l.s = r.s AND l.e = r.e"
BOTH: Final = "l.k, l.s, l.n, r.n AS other"
TOGETHER: Final = {
    "JOIN": f"SELECT {BOTH} FROM ({{l}}) l JOIN ({{r}}) r ON {ON}",
    "JOIN by n": f"SELECT {BOTH} FROM ({{l}}) l JOIN ({{r}}) r ON {ON} AND l.n >= r.n",
    "JOIN by k": f"SELECT {BOTH} FROM ({{l}}) l JOIN ({{r}}) r ON {ON} AND l.k <=> r.k",
    "JOIN by the end": f"SELECT {BOTH} FROM ({{l}}) l JOIN ({{r}}) r ON l.e = r.e",
    "JOIN in WHERE": f"SELECT {BOTH} FROM ({{l}}) l, ({{r}}) r WHERE {ON}",
    "JOIN USING": "SELECT l.k, s, l.n, r.n AS other FROM ({l}) l JOIN ({r}) r USING (s, e)",
    "LEFT JOIN": f"SELECT {BOTH} FROM ({{l}}) l LEFT JOIN ({{r}}) r ON {ON} AND l.n > r.n",
    "RIGHT JOIN": f"SELECT r.k, r.s, l.n, r.n AS other FROM ({{l}}) l RIGHT JOIN ({{r}}) r ON {ON} AND l.n > r.n",
    "FULL JOIN": "SELECT coalesce(l.k, r.k) AS k, coalesce(l.s, r.s) AS s, l.n, r.n AS other "
    f"FROM ({{l}}) l FULL JOIN ({{r}}) r ON {ON} AND l.n > r.n",
    "three times": f"SELECT {BOTH}, x.n AS third FROM ({{l}}) l JOIN ({{r}}) r ON {ON} AND l.n >= r.n "
    "JOIN ({l}) x ON x.s = l.s AND x.e = l.e AND x.k <=> l.k",
    "UNION ALL": "SELECT k, s, n FROM ({l}) UNION ALL SELECT k, s, n FROM ({r})",
    "of UNION ALL": "SELECT max(k) AS k, s, sum(n) AS n FROM (SELECT * FROM ({l}) UNION ALL SELECT * FROM ({r})) GROUP BY s, e",
    "of JOIN": f"SELECT max(l.k) AS k, l.s, sum(l.n) AS n FROM ({{l}}) l JOIN ({{r}}) r ON {ON} GROUP BY l.s, l.e",
}
RELATIONS: Final = ("t", "rows_view", "(SELECT ts, k, v FROM rows_view WHERE k <> 'q')")
ALL: Final = list(itertools.product(AGGREGATES, AGGREGATES, TOGETHER))
RANDOM: Final = random.Random(17)
CASES: Final = [
    ("counts", "best", "JOIN by n"),
    *long_cases(("rollup", "hops", "of UNION ALL")),
    *full_cases(*RANDOM.sample(ALL, 40)),
]


def statement(left: str, right: str, how: str) -> str:
    """Return the combination; what the branches read is drawn by its name, a CTE now and then."""
    drawn = random.Random(f"{left} {right} {how}")
    one, other = drawn.choice(RELATIONS), drawn.choice(RELATIONS)
    begin = ""
    if drawn.random() < 0.3:
        begin, one, other = f"WITH c AS (SELECT * FROM {one}) ", "c", "c"
    return begin + TOGETHER[how].format(l=AGGREGATES[left].format(one), r=AGGREGATES[right].format(other))


@pytest.mark.parametrize(("left", "right", "how"), CASES)
def test_two_aggregations_of_a_relation_give_what_a_batch_gives(spark: Any, tmp_path: Any, left, right, how):
    scripts, in_time = Scripts(tmp_path / "scripts"), Scripts(tmp_path / "in-time")
    append(in_time, [row for step in STEPS for row in step])
    text, batch = statement(left, right, how), environment(spark, in_time.directory)
    batch.sql("SET 'execution.runtime-mode' = 'batch'")
    expected = Counter((row[0], seconds(row[1]), *row[2:]) for row in batch.sql(text).collect())
    assert run(environment(spark, scripts.directory).sql(text), scripts) == expected
