"""What a table is to a join as of a time: key, times, changes, history; and the names by which others wait for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.sql.planner.connectors import Connector, connector_of
from datasources.sql.planner.temporal.temporal_plan import LoadGateNames
from datasources.sql.planner.temporal_tables import (
    CHANGELOG_METADATA,
    ROW_KIND,
    SEQUENCE,
    changelog_columns,
    traits_of,
    with_metadata,
)
from datasources.sql.query.block.temporal_request import TableTraits
from datasources.sql.resolve.resolved_table import ResolvedColumn, ResolvedTable, ResolvedWatermark


class NoSession:
    """A session in which nothing is registered."""


def connector(name: str) -> Connector:
    return connector_of(NoSession(), name)  # type: ignore[arg-type]


def table(**options: str) -> ResolvedTable:
    nested = ResolvedWatermark(
        path=("e", "ts"), spark_type="TIMESTAMP", rowtime="e.ts", expression="e.ts", written="e.ts", named="e.ts"
    )
    return ResolvedTable(
        name="t",
        columns=(
            ResolvedColumn(name="k", spark_type="INT"),
            ResolvedColumn(name="e", spark_type="STRUCT<ts: TIMESTAMP>"),
            ResolvedColumn(name="pt", spark_type="TIMESTAMP", proctime=True),
        ),
        watermarks=(nested,),
        primary_key=("k",),
        options=options,
    )


def test_key_and_times_are_those_of_the_definition():
    traits = traits_of(table(), connector("scripted"), {})
    assert traits == TableTraits(connector="scripted", primary_key=("k",), rowtimes=("e_ts",), proctimes=("pt",))


@pytest.mark.parametrize(
    ("name", "options", "hints", "is_changelog"),
    [
        ("kafka", {"format": "json"}, {}, False),
        ("kafka", {"format": "debezium-json"}, {}, True),
        ("kafka", {"Value.Format": "debezium-json"}, {}, True),
        ("kafka", {"format": "json"}, {"scan.upsert": "true"}, True),
        ("upsert-kafka", {}, {}, True),
        ("mysql-cdc", {}, {}, True),
        ("scripted", {}, {}, False),
        ("parquet", {"format": "debezium-json"}, {}, False),
    ],
)
def test_connector_and_format_determine_whether_rows_change(name, options, hints, is_changelog):
    assert traits_of(table(**options), connector(name), hints).is_changelog is is_changelog


@pytest.mark.parametrize(("name", "is_changelog"), [("scripted", True), ("parquet", True), ("kafka", False)])
def test_so_is_one_by_its_own_column_if_the_connector_has_no_such_metadata(name, is_changelog):
    plain = table()
    own = replace(plain, columns=(*plain.columns, ResolvedColumn(name="Row_Kind", spark_type="STRING")))
    assert traits_of(own, connector(name), {}).is_changelog is is_changelog


def test_changes_come_from_connector_metadata_or_columns_of_the_table():
    assert changelog_columns(["k", ROW_KIND, SEQUENCE, "row_kind"]) == (ROW_KIND, SEQUENCE)
    assert changelog_columns(["Row_Kind", "k"]) == ("Row_Kind", None)
    assert changelog_columns(["_seq", ROW_KIND]) == (ROW_KIND, "_seq")


@pytest.mark.parametrize(
    ("name", "has_history", "can_wait"),
    [("mysql-cdc", False, True), ("upsert-kafka", True, True), ("parquet", True, False)],
)
def test_history_and_waiting_are_the_connectors(name, has_history, can_wait):
    traits = traits_of(table(), connector(name), {})
    assert (traits.has_history, traits.can_wait) == (has_history, can_wait)


@pytest.mark.parametrize(
    ("name", "keys"),
    [("mysql-cdc", {ROW_KIND: "row_kind", SEQUENCE: "_seq"}), ("kafka", {ROW_KIND: "row_kind"}), ("scripted", {})],
)
def test_what_rows_stand_for_is_read_as_far_as_the_connector_knows(name, keys):
    known = with_metadata(table(), connector(name), CHANGELOG_METADATA)
    assert {each.name: each.key for each in known.metadata} == keys
    assert [column.name for column in known.columns] == ["k", "e", "pt", *keys]
    assert not any(column.is_physical for column in known.columns[3:])


def test_a_table_that_is_joined_twice_is_waited_for_by_two_names():
    names = LoadGateNames()
    assert [names.new(each) for each in ("rates", "a, b", "Rates", "rates")] == ["rates", "a b", "Rates-2", "rates-3"]
