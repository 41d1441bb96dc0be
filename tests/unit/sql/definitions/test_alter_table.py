"""ALTER TABLE beside what the golden pairs show."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.definitions.alter_table import alter
from datasources.sql.parse import parse_statement
from datasources.sql.statements.statements import AlterTable
from tests.support.sql.sql_catalog import resolved, table

TABLE = table(
    "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'x')"
)


def action_of(text: str):
    statement = parse_statement(SqlText(text))
    assert isinstance(statement, AlterTable)
    return statement.action


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "ALTER TABLE t ADD WATERMARK FOR ts AS ts",
            "ALTER TABLE t ADD WATERMARK: table 't' has a watermark for 'ts' already. Use MODIFY WATERMARK to change it.",
        ),
        (
            "ALTER TABLE t DROP WATERMARK FOR a",
            "ALTER TABLE t DROP WATERMARK: table 't' has no watermark for 'a', only one for 'ts'.",
        ),
        (
            "ALTER TABLE t ADD (A INT)",
            "ALTER TABLE t ADD: table 't' has a column 'A' already (case does not count). Choose another name.",
        ),
        ("ALTER TABLE t RESET ('topc')", "ALTER TABLE t RESET: table 't' has no option 'topc'. Did you mean 'topic'?"),
    ],
)
def test_without_the_statement_an_error_names_the_table_and_the_action(statement, message):
    with pytest.raises(SqlError) as caught:
        alter(TABLE, action_of(statement))
    assert caught.value.message == message


def test_the_table_itself_stays_as_it_was():
    for text in (
        "ALTER TABLE t SET ('topic' = 'y')",
        "ALTER TABLE t RESET ('topic')",
        "ALTER TABLE t DROP WATERMARK",
        "ALTER TABLE t ADD b INT",
    ):
        assert alter(TABLE, action_of(text)) != TABLE
    assert (
        table(
            "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'x')"
        )
        == TABLE
    )


def test_an_added_watermark_that_cannot_be_is_found_when_the_table_is_resolved():
    with pytest.raises(
        SqlError, match="line 1, column 49: 'b' is STRING: a time attribute is TIMESTAMP or TIMESTAMP_LTZ"
    ):
        resolved("CREATE TABLE t (a INT, b STRING, WATERMARK FOR  b AS b)")


def test_an_action_that_is_wrong_keeps_its_own_error():
    action = action_of("ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')")
    assert action.error is None
    reason = SqlError("its own")
    wrong = type(action)(span=action.span, error=reason)
    with pytest.raises(SqlError) as caught:
        alter(TABLE, wrong)
    assert caught.value is reason
