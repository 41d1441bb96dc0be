"""SHOW CREATE beside what the golden pairs show."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.definitions.option_secrets import refuse_masked
from datasources.sql.definitions.show_create import show_create
from datasources.sql.parse import parse_statement
from datasources.sql.statements.catalog_objects import FunctionDefinition, TableDefinition, ViewDefinition
from tests.support.sql.sql_catalog import created, table


def test_a_statement_that_was_copied_with_a_masked_secret_is_refused_at_its_option():
    shown = show_create(table("CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'kafka.ssl.key.pem' = 'abc')"))
    again = created(shown)
    with pytest.raises(
        SqlError,
        match=r"line \d, column \d: option 'kafka.ssl.key.pem' = '\*{6}' is shown instead of a secret",
    ):
        refuse_masked(again.table.options, source=again.source, spans=again.option_spans)


def test_showing_changes_nothing():
    options = {"connector": "kafka", "password": "hunter2"}
    definition = TableDefinition(name="t", options=options)
    assert "hunter2" not in show_create(definition)
    assert definition.options == {"connector": "kafka", "password": "hunter2"}


@pytest.mark.parametrize(
    "definition",
    [
        TableDefinition(name="t"),
        ViewDefinition(name="v", query="SELECT a -- all\nFROM t", columns=("x y",), comment="it's"),
        FunctionDefinition(name="f", path="jobs.udf.f", is_temporary=True),
    ],
)
def test_an_object_of_each_kind_reads_back(definition):
    statement = parse_statement(SqlText(show_create(definition)))
    assert definition in (getattr(statement, name, None) for name in ("table", "view", "function"))
