"""What resolving does beside what the golden pairs show."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql.resolve.table_resolver import resolve
from datasources.sql.statements.catalog_objects import TableDefinition
from datasources.sql.types.time_kind import TimeKind
from tests.support.sql.sql_catalog import KAFKA_METADATA, KAFKA_TIME, TypeTable, created, resolved, table

FIVE_BEHIND = {"ts - INTERVAL '5' SECOND": "TIMESTAMP_NTZ"}


def resolve_with(definition: TableDefinition, types: TypeTable, **settings):
    return resolve(
        definition,
        **{
            "source": None,
            "metadata_types": KAFKA_METADATA,
            "types": types,
            "source_watermark": KAFKA_TIME,
            **settings,
        },
    )


def test_all_types_are_asked_in_one_question_with_the_declared_types_of_the_columns_that_count():
    types = TypeTable(
        {
            "ts + INTERVAL '1' HOUR": "TIMESTAMP_NTZ",
            "p + 1": "BIGINT",
            "CAST(__tidemark_cast_0 AS BIGINT)": "BIGINT",
            **FIVE_BEHIND,
        }
    )
    resolve_with(
        table(
            "CREATE TABLE t (other INT, Ts TIMESTAMP(3), p BIGINT METADATA FROM 'partition', pt AS PROCTIME(), d AS ts + INTERVAL '1' HOUR, e AS p + 1, "
            "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
        ),
        types,
    )
    assert types.asked == [
        {
            "column d": "ts + INTERVAL '1' HOUR",
            "column e": "p + 1",
            "watermark 0": "ts - INTERVAL '5' SECOND",
            "__tidemark_cast_0": "CAST(__tidemark_cast_0 AS BIGINT)",
        }
    ]
    assert types.columns == {"Ts": "TIMESTAMP_NTZ", "p": "BIGINT", "__tidemark_cast_0": "INT"}


def test_an_expression_without_columns_is_asked_beside_one():
    """Else an aggregate would be a query of its own, which Spark accepts."""
    types = TypeTable({"count(1)": "BIGINT"})
    resolve_with(table("CREATE TABLE t (a INT, n AS count(1))"), types)
    assert types.columns == {"__tidemark_any": "INT"}


def test_nothing_is_asked_where_nothing_is_computed():
    types = TypeTable({})
    found = resolve_with(
        table(
            "CREATE TABLE t (a INT, pt AS PROCTIME(), rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK())"
        ),
        types,
    )
    assert types.asked == []
    assert [found.time_of(column) for column in found.columns] == [None, TimeKind.PROCTIME, TimeKind.ROWTIME]


def test_the_types_of_the_sources_own_columns_need_not_be_known():
    types = TypeTable({"hour((CAST(NULL AS TIMESTAMP)))": "INT"})
    found = resolve_with(table("CREATE TABLE t (rt AS SYSTEM_ROWTIME(), h AS hour(rt))"), types)
    assert [column.expression for column in found.columns] == ["_source_time", "hour((_source_time))"]
    assert list(types.asked[0].values()) == ["hour((CAST(NULL AS TIMESTAMP)))"]


def test_options_are_those_of_the_definition():
    options = {"connector": "kafka", "password": "${env:PW}"}
    assert resolved("CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'password' = '${env:PW}')").options == options


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "CREATE TABLE orders (ts STRING, WATERMARK FOR ts AS ts)",
            "table 'orders', WATERMARK FOR ts: 'ts' is STRING: a time attribute is TIMESTAMP or TIMESTAMP_LTZ. Add a column `rowtime AS TO_TIMESTAMP(ts)` and declare the watermark for it.",
        ),
        (
            "CREATE TABLE orders (a INT, b AS a +\n  c)",
            "table 'orders', column 'b', line 2, column 3: there is no column 'c'. Columns: a, b.\n    c\n    ^",
        ),
        (
            "CREATE TABLE orders (a INT, b AS f(a))",
            "table 'orders', column 'b': Spark refuses the expression: no type for 'f(a)'.",
        ),
        (
            "CREATE TABLE orders (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - rand())",
            (
                "table 'orders', WATERMARK FOR ts, line 1, column 6: a watermark must be the same whenever a record is read again, and RAND() is not. "
                "Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.\n  ts - rand()\n       ^^^^^^"
            ),
        ),
        (
            "CREATE TABLE orders (_late INT)",
            "table 'orders', column '_late': '_late' is the name of a column that Tidemark adds. Choose another one.",
        ),
        (
            "CREATE TABLE orders (a INT, PRIMARY KEY (b) NOT ENFORCED)",
            "table 'orders', PRIMARY KEY: there is no column 'b'. Columns: a.",
        ),
    ],
)
def test_an_error_about_a_table_of_the_catalog_names_the_table_and_the_clause(statement, message):
    with pytest.raises(SqlError) as caught:
        resolved(statement, has_positions=False)
    assert caught.value.message == message


def test_places_of_another_statement_are_not_shown():
    """The text at an expression's place is another one: the expression is shown by itself."""
    definition = table("CREATE TABLE t (a INT, b AS a + c)")
    other = created("CREATE TABLE other (xxxxxxxx INT, yyyyyyyy STRING)").source
    with pytest.raises(SqlError, match=r"table 't', column 'b', line 1, column 5: there is no column 'c'"):
        resolve_with(definition, TypeTable({}), source=other)


def test_a_function_of_the_session_that_differs_is_no_part_of_a_watermark():
    definition = table("CREATE TABLE t (ts TIMESTAMP(3), d AS jitter(ts), WATERMARK FOR ts AS d)")
    types = TypeTable({"jitter(ts)": "TIMESTAMP_NTZ", "(jitter(ts))": "TIMESTAMP_NTZ"})
    assert resolve_with(definition, types).watermarks[0].expression == "(jitter(ts))"
    with pytest.raises(
        SqlError, match=r"must be the same whenever a record is read again, and JITTER\(\) in 'd' is not"
    ):
        resolve_with(definition, types, non_deterministic={"jitter"})


def test_columns_may_refer_to_one_another_thirty_deep():
    columns = ["c0 INT", *(f"c{n} AS c{n - 1}" for n in range(1, 31))]
    definition = table(f"CREATE TABLE t ({', '.join(columns)})")
    deepest = "(" * 29 + "c0" + ")" * 29
    found = resolve_with(definition, TypeTable({"(" * n + "c0" + ")" * n: "INT" for n in range(30)}))
    assert found.columns[30].expression == deepest


def test_columns_that_refer_to_later_ones_more_than_thirty_deep_are_refused():
    columns = [*(f"c{n} AS c{n + 1}" for n in range(50)), "c50 INT"]
    with pytest.raises(
        SqlError, match="table 't', column 'c30': computed columns refer to one another more than 30 deep"
    ):
        resolve_with(table(f"CREATE TABLE t ({', '.join(columns)})"), TypeTable({}))


def test_a_column_that_doubles_with_every_reference_is_refused_before_it_fills_the_memory():
    columns = ["c0 INT", *(f"c{n} AS c{n - 1} + c{n - 1}" for n in range(1, 60))]
    with pytest.raises(
        SqlError, match="with its computed columns put in, the expression is longer than 100000 characters"
    ):
        resolve_with(table(f"CREATE TABLE t ({', '.join(columns)})"), TypeTable({}))


def test_a_watermark_of_a_nested_column_is_carried_by_a_column_with_a_joined_name():
    (watermark,) = resolved(
        "CREATE TABLE t (a ROW<b ROW<c TIMESTAMP(3)>>, WATERMARK FOR a.b.c AS a.b.c)", {"a.b.c": "TIMESTAMP_NTZ"}
    ).watermarks
    assert watermark.column == "a_b_c"


def test_a_second_watermark_for_a_column_is_refused():
    definition = table("CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)")
    twice = TableDefinition(name="t", columns=definition.columns, watermarks=definition.watermarks * 2)
    with pytest.raises(SqlError, match="table 't', WATERMARK FOR ts: 'ts' has a watermark already"):
        resolve_with(twice, TypeTable({}))


def test_a_column_twice_is_refused_also_in_another_case():
    definition = table("CREATE TABLE t (ts INT)")
    twice = TableDefinition(name="t", columns=(*definition.columns, *table("CREATE TABLE t (TS STRING)").columns))
    with pytest.raises(
        SqlError,
        match=r"table 't', column 'TS': there is a column 'ts' already \(case does not count\). Rename one of them.",
    ):
        resolve_with(twice, TypeTable({}))


def test_a_column_of_the_key_twice_is_refused():
    definition = table("CREATE TABLE t (a INT, PRIMARY KEY (a) NOT ENFORCED)")
    key = definition.primary_key
    assert key is not None
    twice = TableDefinition(name="t", columns=definition.columns, primary_key=type(key)(columns=("a", "A")))
    with pytest.raises(SqlError, match="column 'A' is in the key twice"):
        resolve_with(twice, TypeTable({}))
