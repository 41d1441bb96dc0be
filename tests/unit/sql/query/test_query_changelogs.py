"""TO_CHANGELOG and FROM_CHANGELOG, and what the planner is told about how a statement reads its tables."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query.block.relation import ROW_KIND_COLUMN, RelationColumn
from datasources.sql.query.rewrite_query import rewrite_query
from datasources.sql.query.scan.changelog_calls import EventsRequest
from datasources.sql.statements.catalog_objects import ViewDefinition
from tests.support.sql.sql_relations import FakeRelations, TableShape, table

KIND = RelationColumn(name=ROW_KIND_COLUMN, type_name="string")
TABLES = {
    "orders": TableShape((*table("id INT, v INT").columns, KIND)),
    "plain": table("id INT, v INT"),
    "named": TableShape((*table("op STRING, v INT").columns, KIND)),
    "rates": table(
        "k INT, ts TIMESTAMP_NTZ", rowtime="ts", connector="upsert-kafka", is_changelog=True, primary_key=("k",)
    ),
    "events": table("k INT, ts TIMESTAMP_NTZ", rowtime="ts"),
}
VIEWS = {"view_of_orders": ViewDefinition(name="view_of_orders", query="SELECT id FROM orders")}


def rewritten(text: str) -> tuple[str, FakeRelations]:
    relations = FakeRelations(tables=TABLES, views=VIEWS)
    return rewrite_query(SqlText(text), relations).text, relations


def reads(text: str) -> dict[str, tuple[bool, bool, bool]]:
    """Return for each table whether its rows, its versions and its changes are read."""
    _, relations = rewritten(text)
    return {r.use.name: (r.reads_rows, r.reads_versions, r.use.is_changelog) for r in relations.reads}


def test_changes_are_rows_with_an_operation_in_front():
    text, relations = rewritten("SELECT * FROM TO_CHANGELOG(input => TABLE orders) AS c WHERE op = 'DELETE'")
    (step,) = relations.steps
    assert text == f"SELECT * FROM {step.view} AS c WHERE op = 'DELETE'"
    assert step.text.startswith("SELECT CASE `__tidemark_row_kind` WHEN '+I' THEN 'INSERT' WHEN '-U' THEN")
    assert " AS `op`, `id`, `v` FROM t_orders WHERE" in step.text


def test_rows_with_operations_are_read_as_the_table_that_they_describe():
    text, relations = rewritten(
        "SELECT id FROM FROM_CHANGELOG(input => TABLE plain PARTITION BY id, op => DESCRIPTOR(kind), "
        "op_mapping => MAP['c, r', 'INSERT', 'u', 'UPDATE_AFTER']) AS p JOIN orders USING (id)"
    )
    assert text == "SELECT id FROM t_plain AS p JOIN t_orders AS orders USING (id)"
    kinds = (("c", "+I"), ("r", "+I"), ("u", "+U"))
    assert {each.use.name: each.use.events for each in relations.reads} == {
        "plain": EventsRequest(operation="kind", kinds=kinds, key=("id",)),
        "orders": None,
    }


def test_changes_with_the_rows_that_they_replace_need_no_key():
    _, relations = rewritten("SELECT * FROM FROM_CHANGELOG(TABLE plain PARTITION BY id)")
    (read,) = relations.reads
    assert read.use.events is not None
    assert read.use.events.operation == "op"
    assert read.use.events.key == ()
    assert dict(read.use.events.kinds)["UPDATE_BEFORE"] == "-U"


def test_the_rows_of_a_table_that_only_grows_are_insertions():
    _, relations = rewritten("SELECT * FROM TO_CHANGELOG(TABLE plain)")
    assert relations.steps[0].text == "SELECT 'INSERT' AS `op`, `id`, `v` FROM t_plain"


def test_operations_that_are_not_mapped_are_left_out():
    _, relations = rewritten(
        "SELECT * FROM TO_CHANGELOG(input => TABLE orders, op => DESCRIPTOR(what), "
        "op_mapping => MAP['INSERT, UPDATE_AFTER', 'c', 'DELETE', 'd'])"
    )
    assert relations.steps[0].text == (
        "SELECT CASE `__tidemark_row_kind` WHEN '+I' THEN 'c' WHEN '+U' THEN 'c' WHEN '-D' THEN 'd' END AS `what`, "
        "`id`, `v` FROM t_orders WHERE `__tidemark_row_kind` IN ('+I', '+U', '-D')"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TO_CHANGELOG()", "does not name what it reads"),
        ("FROM_CHANGELOG()", "does not name what it reads"),
        ("FROM_CHANGELOG(input => TABLE view_of_orders)", "this is none"),
        ("FROM_CHANGELOG(input => (SELECT * FROM orders))", "this is none"),
        ("FROM_CHANGELOG(input => TABLE plain, op => 'x')", "op names the column"),
        ("FROM_CHANGELOG(input => TABLE plain, skip => 'x')", "no argument SKIP"),
        ("FROM_CHANGELOG(input => TABLE plain, op_mapping => MAP['c', 'TRUNCATE'])", "'TRUNCATE' is none of INSERT, "),
        ("FROM_CHANGELOG(input => TABLE plain, op_mapping => MAP['c, c', 'INSERT'])", "'c' is mapped twice"),
        ("FROM_CHANGELOG(input => TABLE plain, op_mapping => MAP['u', 'UPDATE_AFTER'])", "has no key"),
        ("FROM_CHANGELOG(input => TABLE plain PARTITION BY v + 1)", "takes columns"),
        ("FROM_CHANGELOG(TABLE plain), plain", "reads 'plain' by FROM_CHANGELOG, and also in another way"),
        ("TO_CHANGELOG(input => TABLE view_of_orders)", "this is none"),
        ("TO_CHANGELOG(input => (SELECT * FROM orders))", "this is none"),
        ("TO_CHANGELOG(input => TABLE named)", "has a column 'op'"),
        ("TO_CHANGELOG(input => TABLE orders, op => 'x')", "op names the column"),
        ("TO_CHANGELOG(input => TABLE orders, mapping => MAP['INSERT', 'c'])", "no argument MAPPING"),
        ("TO_CHANGELOG(input => TABLE orders, op_mapping => MAP['INSERTED', 'c'])", "'INSERTED' is none of INSERT"),
        ("TO_CHANGELOG(input => TABLE orders, op_mapping => MAP['INSERT', 'c', 'INSERT', 'd'])", "is mapped twice"),
        ("TO_CHANGELOG(input => TABLE orders, op_mapping => MAP['INSERT'])", "op_mapping is a map"),
    ],
)
def test_a_wrong_call_names_what_is_wrong(text, reason):
    with pytest.raises(SqlError, match=reason):
        rewritten(f"SELECT * FROM {text}")


def test_the_planner_learns_how_each_table_is_read():
    assert reads("SELECT * FROM orders") == {"orders": (True, False, False)}
    assert reads("SELECT * FROM TO_CHANGELOG(TABLE orders)") == {"orders": (False, False, True)}
    assert reads("SELECT id FROM view_of_orders") == {"orders": (True, False, False)}
    assert reads("SELECT 1 FROM TO_CHANGELOG(TABLE orders) c JOIN orders o ON c.id = o.id")["orders"] == (
        True,
        False,
        True,
    )
    joined = "SELECT e.k FROM events e JOIN rates FOR SYSTEM_TIME AS OF e.ts AS r ON e.k = r.k"
    assert reads(joined) == {"events": (True, False, False), "rates": (False, True, False)}


def test_a_name_is_a_table_where_no_call_follows():
    text, relations = rewritten("SELECT to_changelog.id FROM orders AS to_changelog")
    assert text == "SELECT to_changelog.id FROM t_orders AS to_changelog"
    assert relations.steps == []
