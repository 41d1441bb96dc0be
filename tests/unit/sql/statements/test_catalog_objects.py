"""What every catalog does, in memory and in a directory."""

from __future__ import annotations

import re

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import Span, SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.catalog import CatalogEntry, open_catalog
from datasources.sql.statements.catalog_objects import (
    FunctionDefinition,
    PhysicalColumn,
    TableDefinition,
    ViewDefinition,
)
from datasources.sql.statements.statements import ObjectKind
from datasources.sql.text.error_location import Site
from tests.support.sql.sql_catalog import created, table

ORDERS = TableDefinition(
    name="Orders", columns=(PhysicalColumn(name="id", type=SqlType("BIGINT")),), options={"connector": "kafka"}
)
BIG = ViewDefinition(name="big", query="SELECT * FROM orders")
FLAG = FunctionDefinition(name="flag", path="jobs.udf.flag")
TEMPORARY = TableDefinition(name="orders", options={"connector": "rate"}, is_temporary=True)
TABLE, VIEW, FUNCTION = ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.FUNCTION


@pytest.fixture(params=["memory", "directory"])
def catalog(request, tmp_path):
    return open_catalog(tmp_path / "catalog" if request.param == "directory" else None)


def test_what_was_created_is_found_whatever_the_case_of_its_name(catalog):
    assert [catalog.create(each) for each in (ORDERS, BIG, FLAG)] == [True, True, True]
    assert catalog.find("orders") == catalog.find("ORDERS") == catalog.get(TABLE, "oRDERS") == ORDERS
    assert catalog.find("BIG") == catalog.get(VIEW, "Big") == BIG
    assert catalog.function("FLAG") == catalog.get(FUNCTION, "Flag") == FLAG
    assert (catalog.find("flag"), catalog.find("other"), catalog.function("orders")) == (None, None, None)


def test_spans_are_not_stored(catalog):
    written = created(
        "CREATE TABLE t (a INT, b AS a, o BIGINT METADATA, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED)"
    ).table
    catalog.create(written)
    kept = catalog.find("t")
    assert kept == written
    assert all(column.span is not None for column in written.columns)
    assert [column.span for column in kept.columns] == [None] * 4
    assert (kept.columns[1].expression_span, kept.primary_key.span) == (None, None)
    assert (kept.watermarks[0].span, kept.watermarks[0].rowtime_span, kept.watermarks[0].expression_span) == (
        None,
        None,
        None,
    )


def test_an_unchanged_object_is_returned_as_the_same_instance(catalog):
    catalog.create(ORDERS)
    found = catalog.find("orders")
    assert catalog.find("ORDERS") is found
    catalog.replace(found, TableDefinition(name="orders"))
    assert catalog.find("orders") == TableDefinition(name="orders")


def test_the_objects_of_a_kind_are_listed_by_name(catalog):
    for each in (ORDERS, BIG, FLAG, table("CREATE TABLE a (x INT)")):
        catalog.create(each)
    assert catalog.entries(TABLE) == (CatalogEntry(name="a", kind=TABLE), CatalogEntry(name="Orders", kind=TABLE))
    assert catalog.entries(VIEW) == (CatalogEntry(name="big", kind=VIEW),)
    assert catalog.entries(FUNCTION) == (CatalogEntry(name="flag", kind=FUNCTION),)


@pytest.mark.parametrize(
    "second", [ORDERS, TableDefinition(name="ORDERS"), ViewDefinition(name="orders", query="SELECT 1")]
)
def test_a_name_is_in_use_by_a_table_or_view_in_any_case(catalog, second):
    catalog.create(ORDERS)
    message = "there is a table 'Orders' already. Choose another name, write IF NOT EXISTS, or drop it first: DROP TABLE Orders."
    with pytest.raises(SqlError, match=re.escape(message)):
        catalog.create(second)
    assert catalog.find("orders") == ORDERS


def test_a_function_may_have_the_name_of_a_table(catalog):
    catalog.create(ORDERS)
    assert catalog.create(FunctionDefinition(name="orders", path="a.b"))
    with pytest.raises(SqlError, match=re.escape("there is a function 'orders' already")):
        catalog.create(FunctionDefinition(name="Orders", path="a.c"))


def test_if_not_exists_leaves_what_is_there(catalog):
    catalog.create(ORDERS)
    assert catalog.create(TableDefinition(name="orders"), if_not_exists=True) is False
    assert catalog.find("orders") == ORDERS
    assert catalog.create(TableDefinition(name="other"), if_not_exists=True) is True


def test_or_replace_replaces_an_object_of_the_same_kind(catalog):
    catalog.create(BIG)
    newer = ViewDefinition(name="BIG", query="SELECT 2")
    assert catalog.create(newer, or_replace=True) is True
    assert catalog.find("big") == newer
    with pytest.raises(SqlError, match="there is a view 'BIG' already"):
        catalog.create(TableDefinition(name="big"), or_replace=True)


def test_a_temporary_object_hides_a_permanent_one_until_it_is_dropped(catalog):
    catalog.create(ORDERS)
    catalog.create(TEMPORARY)
    assert catalog.find("orders") == TEMPORARY
    assert catalog.entries(TABLE) == (CatalogEntry(name="orders", kind=TABLE, is_temporary=True),)
    with pytest.raises(
        SqlError, match=re.escape("'orders' is a temporary table. Drop it first: DROP TEMPORARY TABLE orders.")
    ):
        catalog.drop(TABLE, "orders")
    assert catalog.drop(TABLE, "ORDERS", is_temporary=True) is True
    assert catalog.find("orders") == ORDERS


def test_a_permanent_object_may_be_created_behind_a_temporary_one(catalog):
    catalog.create(TEMPORARY)
    catalog.create(ORDERS)
    with pytest.raises(SqlError, match="there is a temporary table 'orders' already"):
        catalog.create(TEMPORARY)
    catalog.drop(TABLE, "orders", is_temporary=True)
    assert catalog.find("orders") == ORDERS


def test_what_was_dropped_is_gone(catalog):
    catalog.create(ORDERS)
    assert catalog.drop(TABLE, "orders") is True
    assert (catalog.find("orders"), catalog.entries(TABLE), catalog.exists(TABLE, "orders")) == (None, (), False)
    assert catalog.drop(TABLE, "orders", if_exists=True) is False
    assert catalog.create(ORDERS) is True


def test_existence_is_a_question_of_kind_and_of_what_hides(catalog):
    catalog.create(ORDERS)
    assert (catalog.exists(TABLE, "ORDERS"), catalog.exists(VIEW, "orders"), catalog.exists(FUNCTION, "orders")) == (
        True,
        False,
        False,
    )
    catalog.create(ViewDefinition(name="orders", query="SELECT 1", is_temporary=True))
    assert (catalog.exists(TABLE, "orders"), catalog.exists(VIEW, "orders")) == (False, True)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (TABLE, "ordrs", "the catalog: there is no table 'ordrs'. Did you mean 'orders'?"),
        (VIEW, "biggg", "the catalog: there is no view 'biggg'. Did you mean 'big'?"),
        (FUNCTION, "zzzz", "the catalog: there is no function 'zzzz'. SHOW FUNCTIONS lists those that exist."),
        (TABLE, "BIG", "the catalog: 'big' is a view, not a table."),
        (VIEW, "orders", "the catalog: 'Orders' is a table, not a view."),
    ],
)
def test_a_name_that_is_unknown_or_of_another_kind_is_an_error(catalog, kind, name, message):
    for each in (ORDERS, BIG, FLAG):
        catalog.create(each)
    for refused in (catalog.get, catalog.drop):
        with pytest.raises(SqlError) as caught:
            refused(kind, name)
        assert caught.value.message == message


def test_a_permanent_object_is_not_dropped_as_a_temporary_one(catalog):
    catalog.create(ORDERS)
    with pytest.raises(
        SqlError, match=re.escape("there is no temporary table 'orders'. DROP TABLE drops a permanent one.")
    ):
        catalog.drop(TABLE, "orders", is_temporary=True)
    assert catalog.drop(TABLE, "orders", is_temporary=True, if_exists=True) is False
    assert catalog.find("orders") == ORDERS


def test_an_error_underlines_the_name_in_its_statement(catalog):
    source = SqlText("DROP TABLE ordrs")
    catalog.create(ORDERS)
    with pytest.raises(SqlError) as caught:
        catalog.drop(TABLE, "ordrs", at=Site(clause="DROP TABLE", source=source, span=Span(11, 16)))
    assert (
        caught.value.message
        == "line 1, column 12: there is no table 'ordrs'. Did you mean 'orders'?\n  DROP TABLE ordrs\n             ^^^^^"
    )


def test_a_table_gets_another_name(catalog):
    catalog.create(ORDERS)
    catalog.create(BIG)
    catalog.rename("ORDERS", "Sales")
    assert catalog.find("orders") is None
    assert catalog.find("sales") == TableDefinition(name="Sales", columns=ORDERS.columns, options=ORDERS.options)
    with pytest.raises(SqlError, match="there is a view 'big' already"):
        catalog.rename("sales", "BIG")
    with pytest.raises(SqlError, match="there is no table 'orders'"):
        catalog.rename("orders", "x")
    catalog.rename("sales", "SALES")
    assert catalog.find("Sales").name == "SALES"


def test_a_temporary_table_gets_another_name_and_stays_temporary(catalog):
    catalog.create(ORDERS)
    catalog.create(TEMPORARY)
    catalog.rename("orders", "other")
    assert (catalog.find("orders"), catalog.find("other").is_temporary) == (ORDERS, True)


def test_an_altered_table_replaces_only_what_it_was_made_from(catalog):
    catalog.create(ORDERS)
    first, second = TableDefinition(name="Orders"), TableDefinition(name="Orders", comment="second")
    catalog.replace(ORDERS, first)
    with pytest.raises(
        SqlError, match=re.escape("'Orders' was changed or dropped by someone else meanwhile. Run the statement again.")
    ):
        catalog.replace(ORDERS, second)
    assert catalog.find("orders") == first
    catalog.drop(TABLE, "orders")
    with pytest.raises(SqlError, match="was changed or dropped by someone else meanwhile"):
        catalog.replace(first, second)


def test_objects_given_to_a_catalog_are_not_changed_with_it(catalog):
    options = {"connector": "kafka"}
    catalog.create(TableDefinition(name="t", options=options))
    options["connector"] = "other"
    assert catalog.find("t").options == {"connector": "kafka"}
