"""Options of Flink before 1.11, with the key that each has today."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.sql.definitions.legacy_options import refuse_legacy_options
from tests.support.sql.sql_catalog import created


def refusal(options: str) -> str:
    statement = created(f"CREATE TABLE t (a INT) WITH ({options})")
    with pytest.raises(SqlError) as error:
        refuse_legacy_options(statement.table.options, source=statement.source, spans=statement.option_spans)
    return error.value.message


def test_a_table_of_files_names_its_new_keys():
    message = refusal("'connector.type' = 'filesystem', 'connector.path' = 'file:///a', 'format.type' = 'csv'")
    assert message.splitlines()[0] == (
        "line 1, column 30: 'connector.type' is an option of Flink before 1.11. Today: 'connector.type' is 'connector' = "
        "'filesystem'; 'connector.path' is 'path'; 'format.type' is 'format' = 'csv'."
    )


def test_a_topic_names_its_new_keys():
    message = refusal(
        "'connector.type' = 'kafka', 'connector.version' = 'universal', 'connector.topic' = 't', "
        "'connector.properties.bootstrap.servers' = 'b', 'connector.startup-mode' = 'earliest-offset', "
        "'update-mode' = 'append', 'format.type' = 'json', 'format.fail-on-missing-field' = 'true', "
        "'format.derive-schema' = 'true', 'connector.other' = 'x'"
    )
    for part in (
        "'connector.version' is left out",
        "'connector.topic' is 'topic'",
        "'connector.properties.bootstrap.servers' is 'properties.bootstrap.servers'",
        "'connector.startup-mode' is 'scan.startup.mode'",
        "'update-mode' is left out: a PRIMARY KEY says which rows are updated",
        "'format.fail-on-missing-field' is 'json.fail-on-missing-field'",
        "'format.derive-schema' is left out: the columns are the schema",
        "'connector.other' has no successor",
    ):
        assert part in message


def test_no_value_is_shown_but_those_of_types():
    assert "hunter2" not in refusal("'connector.type' = 'jdbc', 'connector.password' = 'hunter2'").splitlines()[0]


def test_options_of_today_pass():
    statement = created(
        "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'format' = 'json', 'format.on-error' = 'skip')"
    )
    refuse_legacy_options(statement.table.options, source=statement.source, spans=statement.option_spans)
