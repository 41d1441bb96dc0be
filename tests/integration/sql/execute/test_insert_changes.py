"""INSERT INTO a table that takes changes: what is refused when it is planned, before any server is asked."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import Scripts

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("operator_queries")]

SINK = "'connector' = 'jdbc', 'url' = 'jdbc:mysql://nowhere.invalid/db', 'table-name' = 't', 'username' = 'u'"


@pytest.fixture
def t(spark, tmp_path) -> TableEnvironment:
    scripts = Scripts(tmp_path / "scripts", schema="k STRING, j STRING, v INT")
    scripts.append("0", {"k": "a", "j": "b", "v": 1})
    environment = TableEnvironment(spark)
    environment.sql(
        "CREATE TABLE events (k STRING, j STRING, v INT) "
        f"WITH ('connector' = 'scripted', 'path' = '{scripts.directory}')"
    )
    return environment


REFUSED = {
    "no key of the table": (
        "k STRING, n BIGINT",
        "INSERT INTO target SELECT k, sum(v) FROM events GROUP BY k",
        r"column 13: table 'target' \(jdbc\) has no PRIMARY KEY.*PRIMARY KEY \(column, ...\) NOT ENFORCED",
    ),
    "a key that is not selected": (
        "n BIGINT, PRIMARY KEY (n) NOT ENFORCED",
        "INSERT INTO target SELECT sum(v) FROM events GROUP BY k",
        r"column 20: the rows of this query change, and it has no key that is known.*GROUP BY the key",
    ),
    "a key that the target does not have": (
        "k STRING, j STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "INSERT INTO target SELECT k, j, sum(v) FROM events GROUP BY k, j",
        r"one row per \(k, j\), and 'target' has the PRIMARY KEY \(k\).*Let the PRIMARY KEY contain j, or",
    ),
    "a key in other columns": (
        "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "INSERT INTO target (n, k) SELECT sum(v), j FROM events GROUP BY j, k",
        r"no key that is known",
    ),
    "a key without a value": (
        "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "INSERT INTO target (n) SELECT sum(v) FROM events",
        r"does not write the column 'k' of the PRIMARY KEY of 'target'",
    ),
    "another type": (
        "k STRING, n INT, PRIMARY KEY (k) NOT ENFORCED",
        "INSERT INTO target SELECT k, sum(v) FROM events GROUP BY k",
        r"column 'n' of table 'target' is INT, and the query gives 'sum\(v\)', which is BIGINT",
    ),
}


def test_a_table_of_iceberg_needs_a_key_too(t):
    t.sql("CREATE TABLE target (k STRING, v INT) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake')")
    with pytest.raises(SqlError, match=r"table 'target' \(iceberg\) has no PRIMARY KEY, by which"):
        t.sql("INSERT INTO target SELECT k, v FROM events")


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_not_be_kept_equal_is_refused(t, name):
    columns, statement, message = REFUSED[name]
    t.sql(f"CREATE TABLE target ({columns}) WITH ({SINK})")
    with pytest.raises(SqlError, match=rf"(?s)line 1, .*{message}"):
        t.sql(statement)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("'urk' = 'x'", r"unknown option 'urk' for jdbc. Did you mean 'url'"),
        ("'dbtable' = 'x'", r"option 'dbtable' is of Spark's JDBC format: write 'table-name'"),
        ("'hostname' = 'x'", r"option 'hostname' is a part of 'url'"),
    ],
)
def test_an_option_that_is_none_of_the_sink_is_an_error_at_the_target(t, change, message):
    t.sql(f"CREATE TABLE target (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({SINK}, {change})")
    with pytest.raises(SqlError, match=rf"line 1, column 13: table 'target': {message}"):
        t.sql("INSERT INTO target SELECT k, sum(v) FROM events GROUP BY k")


def test_an_insert_is_explained_as_the_changes_that_it_writes(t):
    t.sql(f"CREATE TABLE target (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({SINK})")
    plan = str(t.sql("EXPLAIN INSERT INTO target SELECT k, sum(v) FROM events GROUP BY k"))
    assert "== Sink ==\ntarget (jdbc): upserts and deletes by (k)" in plan
    assert "changelogMode=[I,UB,UA,D]" in plan
